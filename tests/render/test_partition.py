# SPDX-License-Identifier: GPL-2.0-only
"""Domains have equal shares of a network, whole switches with their hosts, and long borders."""

from itertools import pairwise

import numpy as np
import pytest

from pyorch import plugins
from pyorch.render.domains import domains
from pyorch.spec.resolved import Link

LINK = Link(rate_bps=100_000_000_000, delay_ps=500_000)


def tables(kind: str, **given) -> dict:
    module = plugins.load("pyorch.topology", kind)
    return module.tables(module.Params.model_validate(given, context={"link": LINK}), LINK)


NETWORKS = {
    "leaf_spine": {"leaves": 16, "hosts_per_leaf": 4, "spines": 8},
    "planes": {"leaves": 16, "hosts_per_leaf": 4, "spines": 8, "planes": 2},
    "fat_tree": {"radix": 8, "tiers": 3},
    "rails": {
        "devices": 8,
        "rail": {"type": "leaf_spine", "leaves": 8, "hosts_per_leaf": 2, "spines": 8},
        "scale_up": {"rate": "3.6 Tb/s", "delay": "500 ns"},
    },
}


def network(name: str) -> dict:
    return tables("leaf_spine" if name == "planes" else name, **NETWORKS[name])


def parted(net: dict, n: int, **waits) -> dict[int, int]:
    """Return the domain of each node."""
    found = domains(net["nodes"], net["links"], n, waits or None)
    return dict(zip(net["nodes"]["node"].tolist(), found.tolist(), strict=True))


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("name", NETWORKS)
def test_every_domain_has_an_equal_share_of_every_tier(name, n):
    # These have a power of two of equal switches in each tier, so shares are exact.
    net = network(name)
    of = parted(net, n)
    tiers = net["nodes"]["tier"]
    for tier in np.unique(tiers):
        counts = np.bincount([of[node] for node in net["nodes"]["node"][tiers == tier]])
        assert counts.tolist() == [int((tiers == tier).sum()) // n] * n, f"tier {tier}"


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("name", NETWORKS)
def test_no_domain_is_empty_and_hosts_stay_with_the_switch_of_their_first_link(name, n):
    net = network(name)
    of = parted(net, n)
    assert set(of.values()) == set(range(n))
    is_switch = dict(zip(net["nodes"]["node"], net["nodes"]["is_switch"], strict=True))
    ends = sorted(zip(net["links"]["node_a"], net["links"]["node_b"], strict=True))
    first = {}
    for a, b in ends:
        for host, switch in ((a, b), (b, a)):
            if not is_switch[host]:
                first.setdefault(host, switch)
    assert len(first) == sum(1 for node in is_switch if not is_switch[node])
    assert all(of[host] == of[switch] for host, switch in first.items())


@pytest.mark.parametrize("n", [3, 5, 7])
def test_shares_that_do_not_come_out_even_differ_by_one_switch(n):
    net = tables("leaf_spine", leaves=16, hosts_per_leaf=2, spines=8)
    of = parted(net, n)
    for tier in (1, 2):
        nodes = net["nodes"]["node"][net["nodes"]["tier"] == tier]
        counts = np.bincount([of[node] for node in nodes], minlength=n)
        assert counts.max() - counts.min() <= 1


def chain(delays_ps: list[int]) -> dict:
    """Return switches in a row, each with one host, joined by links of these delays."""
    n = len(delays_ps) + 1
    switches = [100 + i for i in range(n)]
    ends = [(i, 100 + i, 1000) for i in range(n)]
    ends += [(a, b, d) for (a, b), d in zip(pairwise(switches), delays_ps, strict=True)]
    a, b, delay_ps = (np.array(column) for column in zip(*ends, strict=True))
    return {
        "nodes": {
            "node": np.array([*range(n), *switches]),
            "is_switch": np.repeat([0, 1], n),
            "tier": np.repeat([0, 1], n),
        },
        "links": {"node_a": a, "node_b": b, "delay_ps": delay_ps},
    }


def test_a_domain_ends_on_long_links():
    # Switches 100-103, 104-107 by links of 1 us; 10 us between 101 and 102, 103 and 104, 105 and
    # 106. Four domains of two switches each then meet once in 10 us and not in 1 us.
    net = chain([1_000, 10_000, 1_000, 10_000, 1_000, 10_000, 1_000])
    assert [parted(net, 4)[100 + i] for i in range(8)] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_two_sites_are_cut_at_the_cable_between_them():
    net = chain([1_000, 1_000, 1_000, 5_000_000, 1_000, 1_000, 1_000])
    of = parted(net, 2)
    assert [of[100 + i] for i in range(8)] == [0] * 4 + [1] * 4


@pytest.mark.parametrize("by_task", [False, True])
def test_news_that_travels_fast_stays_in_one_domain(by_task):
    # By links alone hosts 0 to 3 and 4 to 7 part; news from host 3 to host 4 takes 1 ps, so these
    # two stay together, and the border is where messages need 1 ns.
    net = chain([1_000] * 7)
    assert parted(net, 2)[3] != parted(net, 2)[4]
    flows = {"flow": [0, 1], "src": [0, 4], "dst": [3, 7], "bytes": [1000, 1000]}
    tasks = {"task": np.array([2]), "node": np.array([4])}
    waits = {"flow": [2 if by_task else 1], "after": [0], "at_sender": [0], "delay_ps": [1]}
    of = parted(
        net, 2, tasks=tasks,
        flows={name: np.array(column) for name, column in flows.items()},
        dependencies={name: np.array(column) for name, column in waits.items()},
    )  # fmt: skip
    assert of[3] == of[4] and len(set(of.values())) == 2
