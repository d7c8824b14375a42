# SPDX-License-Identifier: GPL-2.0-only
"""Which cables flows between sites take: hand counts, and what holds for any network."""

import numpy as np
import pytest

from pyorch.errors import TheoryError
from pyorch.spec.resolved import Link
from pyorch.topology import multi_site
from pyorch.wan.paths import Assignment, Cables
from pyorch.wan.request import Request
from pyorch.wan.traffic import engineered

GBPS = 10**9
LINK = Link(rate_bps=100 * GBPS, delay_ps=500_000)
LEAF_SPINE = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2}


def network(haul, borders=1, sites=("a", "b", "c")):
    """Return cables: sites of 4 hosts; haul is (from, to, Gb/s, parallel)."""
    params = multi_site.Params.model_validate(
        {
            "sites": [{"name": name, "topology": LEAF_SPINE, "borders": borders} for name in sites],
            "long_haul": [
                {"between": [a, b], "rate": f"{rate} Gb/s", "delay": "10 ms", "parallel": n}
                for a, b, rate, n in haul
            ],
        },
        context={"link": LINK},
    )
    tables = multi_site.tables(params, LINK)
    known = [(name, borders) for name in sites]
    return Cables(tables["nodes"], tables["links"], known)


def request(haul, demands, **more):
    """Return a request: haul as for `network`, demands (from, to, Gb/s, weight)."""
    links = {}
    for a, b, rate, n in haul:
        links[a, b] = links.get((a, b), 0) + rate * n
    return Request.model_validate(
        {
            "sites": sorted({site for pair in links for site in pair}),
            "links": [
                {"between": list(pair), "rate": f"{rate} Gb/s", "delay": "10 ms"}
                for pair, rate in links.items()
            ],
            "demands": [
                {"name": f"d{i}", "from": a, "to": b, "demand": f"{rate} Gb/s", "weight": weight}
                for i, (a, b, rate, weight) in enumerate(demands)
            ],
            **more,
        }
    )


def test_flows_take_turns_on_parallel_cables_and_spines():
    """Two cables of 40 Gb/s, and two spines with a cable to each leaf: two of four flows on each.

    Hosts 0 to 3 are a, 4 to 7 b; leaves 8, 9 and 12, 13, spines 10, 11 and 14, 15; borders 16, 17.
    """
    assignment = Assignment(network([("a", "b", 40, 2)], sites=("a", "b")))
    paths = [assignment.take(host, host + 4, ("a", "b"), 10 * GBPS) for host in range(4)]

    for path in paths:
        assert [cable[0] for cable in path[1:]] == [cable[1] for cable in path[:-1]]
        assert len(path) == 7  # host, leaf, spine, border, border, spine, leaf, host
    haul = [path[3] for path in paths]
    assert sorted(haul) == [(16, 17, 0)] * 2 + [(16, 17, 1)] * 2
    for hop in (1, 2, 4, 5):
        loads = {cable: assignment.load_bps[cable] for path in paths for cable in [path[hop]]}
        assert max(loads.values()) <= 20 * GBPS


def test_a_path_leads_through_the_border_of_a_site_that_it_only_passes():
    cables = network([("a", "b", 40, 1), ("b", "c", 40, 1)])
    path = Assignment(cables).take(0, 8, ("a", "b", "c"), GBPS)

    passed = [cables.site_of[b] for _, b, _ in path]
    assert passed == ["a", "a", "a", "b", "c", "c", "c", "c"]


def test_the_slow_one_of_two_parallel_cables_gets_less():
    """Cables of 30 and 10 Gb/s between two sites, four flows: three on one, one on the other."""
    haul = [("a", "b", 30, 1), ("a", "b", 10, 1)]
    made = engineered(
        request(haul, [("a", "b", 40, 1)]), [4], network(haul, sites=("a", "b")), overhead=0.0
    )
    taken = [stream.path[3] for stream in made.streams]

    assert len(taken) == 16  # four sources, quanta of a fourth
    assert sum(cable[2] == 0 for cable in taken) == 12
    assert made.granted_bps == pytest.approx((40 * GBPS,))


def test_parity_is_reserved_on_top_of_the_rate():
    """A link of 90 Gb/s, a fourth of parity: 90 / 1.25 = 72 of data."""
    haul = [("a", "b", 90, 1)]
    cables = network(haul, sites=("a", "b"))
    made = engineered(request(haul, [("a", "b", 72, 1)]), [4], cables, overhead=0.25)
    assert made.granted_bps == pytest.approx((72 * GBPS,))
    assert made.cable_share[16, 17, 0] == pytest.approx(1.0)

    with pytest.raises(TheoryError, match="its 1 tunnels carry 72 Gbit/s without any other"):
        engineered(request(haul, [("a", "b", 80, 1)]), [4], cables, overhead=0.25)


def test_hosts_that_are_too_slow_for_a_demand_are_refused():
    haul = [("a", "b", 400, 1)]
    cables = network(haul, sites=("a", "b"))
    with pytest.raises(TheoryError, match="300 Gbit/s can never be granted: the links of its"):
        engineered(request(haul, [("a", "b", 300, 1)]), [2], cables)
    with pytest.raises(TheoryError, match="5 hosts, but site a has 4"):
        engineered(request(haul, [("a", "b", 300, 1)]), [5], cables)


@pytest.mark.parametrize("seed", range(20))
def test_no_cable_is_over_its_capacity_and_nobody_gets_more_than_he_asked_for(seed):
    random = np.random.default_rng(seed)
    haul = [
        (a, b, int(random.integers(10, 60)), int(random.integers(1, 4)))
        for a, b in (("a", "b"), ("b", "c"), ("a", "c"))
    ]
    borders, headroom = int(random.integers(1, 3)), float(random.choice([0.0, 0.1]))
    demands = []
    for _ in range(5):
        a, b = random.choice(list("abc"), 2, replace=False)
        most = min(rate * n for x, y, rate, n in haul if {x, y} == {a, b}) * (1 - headroom)
        demands.append((a, b, int(most), int(random.integers(1, 4))))
    cables = network(haul, borders)
    asked = request([(a, b, rate, n * borders**2) for a, b, rate, n in haul], demands,
                    headroom=headroom, quanta=int(random.choice([1, 2, 4])))  # fmt: skip
    made = engineered(asked, [4] * len(demands), cables)

    load = {}
    for stream in made.streams:
        rate = made.granted_bps[stream.demand] / (4 * asked.quanta)
        for cable in stream.path:
            load[cable] = load.get(cable, 0) + rate
    for cable, bps in load.items():
        assert bps <= cables.rates_bps[cable] * (1 - headroom) * (1 + 1e-9)
        assert made.cable_share[cable] == pytest.approx(bps / cables.rates_bps[cable])
    for granted, (_, _, most, _) in zip(made.granted_bps, demands, strict=True):
        assert granted <= most * GBPS * (1 + 1e-9)
    assert len(made.streams) == len(demands) * 4 * asked.quanta
