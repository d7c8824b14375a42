# SPDX-License-Identifier: GPL-2.0-only
"""Fat trees against the closed forms of the literature, connectivity and max flow."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import clos, dumbbell, fat_tree

LINK = Link(rate_bps=10**11, delay_ps=500_000)


def params(module=fat_tree, **given_):
    return module.Params.model_validate(given_, context={"link": LINK})


def graph(tables):
    """Return an undirected graph; the capacity of an edge is the number of its links."""
    result = nx.Graph()
    result.add_nodes_from(tables["nodes"]["node"].tolist())
    ends = zip(tables["links"]["node_a"].tolist(), tables["links"]["node_b"].tolist(), strict=True)
    for a, b in ends:
        more = result.edges[a, b]["capacity"] if result.has_edge(a, b) else 0
        result.add_edge(a, b, capacity=more + 1)
    return result


def check_counts(tables, counts):
    """Hold every count against the tables: nodes, links, and ports as degrees of switches."""
    is_switch = tables["nodes"]["is_switch"] == 1
    ends = np.concatenate([tables["links"]["node_a"], tables["links"]["node_b"]])
    degree = np.bincount(ends, minlength=len(is_switch))
    is_access = ~is_switch[tables["links"]["node_a"]]
    assert counts["hosts"] == (~is_switch).sum() and counts["switches"] == is_switch.sum()
    assert counts["cables"] == len(tables["links"]["node_a"])
    assert counts["ports"] == degree[is_switch].sum()
    assert (counts["access_links"], counts["fabric_links"]) == (is_access.sum(), (~is_access).sum())


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("tiers", [2, 3, 4])
@pytest.mark.parametrize("radix", [4, 6, 8, 10, 12, 14, 16])
def test_counts_are_those_of_the_textbook(radix, tiers, planes):
    # With half = k/2: 2 half^n hosts; 2 half^(n-1) switches in each tier but the top, which has
    # half^(n-1); n half^n 2 cables, as every tier's links carry all hosts without oversubscription.
    # Source: Al-Fares et al., SIGCOMM 2008 for n = 3: k^3/4 hosts, 5 k^2/4 switches.
    half = radix // 2
    given_ = params(tiers=tiers, radix=radix, planes=planes)
    counts = fat_tree.counts(given_)

    assert counts["hosts"] == 2 * half**tiers
    assert counts["switches"] == (2 * tiers - 1) * half ** (tiers - 1) * planes
    assert counts["cables"] == tiers * 2 * half**tiers * planes
    assert counts["ports"] == counts["switches"] * radix
    if tiers == 3:
        assert counts["hosts"] == radix**3 // 4
        assert counts["switches"] == 5 * radix**2 // 4 * planes
    if counts["cables"] < 150_000:
        check_counts(fat_tree.tables(given_, LINK), counts)


SHAPES = st.fixed_dictionaries(
    {
        "tiers": st.integers(2, 4), "radix": st.sampled_from([4, 8, 12]),
        "planes": st.integers(1, 3), "data": st.randoms(use_true_random=False),
    }
)  # fmt: skip


@settings(max_examples=40)
@given(SHAPES)
def test_every_fat_tree_has_its_counts_and_is_what_it_says(shape):
    half, draw = shape["radix"] // 2, shape["data"]
    tiers, planes = shape["tiers"], shape["planes"]
    ratios = [draw.choice([r for r in range(1, half + 1) if half % r == 0])
              for _ in range(tiers - 1)]  # fmt: skip
    parallel = [draw.choice([p for p in range(1, half // r + 1) if half // r % p == 0])
                for r in ratios]  # fmt: skip
    parallel = [p if half % p == 0 else 1 for p in parallel]
    pods = draw.randint(1, shape["radix"] // parallel[-1])
    given_ = params(tiers=tiers, radix=shape["radix"], planes=planes, pods=pods,
                    oversubscription=ratios, parallel=parallel)  # fmt: skip
    tables = fat_tree.tables(given_, LINK)
    nodes, links = tables["nodes"], tables["links"]

    check_counts(tables, fat_tree.counts(given_))
    assert (nodes["node"] == np.arange(len(nodes["node"]))).all()
    ends = np.column_stack([links[key] for key in ("node_a", "node_b", "parallel")])
    assert len(np.unique(ends, axis=0)) == len(ends)
    # A link joins neighbouring tiers of one plane; nobody has more ports than there are.
    up = nodes["tier"][links["node_b"]] - nodes["tier"][links["node_a"]]
    assert (up == 1).all()
    inner = links["node_a"] >= fat_tree.counts(given_)["hosts"]
    plane = nodes["plane"]
    assert (plane[links["node_a"]] == plane[links["node_b"]])[inner].all()
    degree = np.bincount(ends[:, :2].ravel(), minlength=len(plane))
    assert degree[nodes["is_switch"] == 1].max() <= shape["radix"]
    assert (degree[nodes["is_switch"] == 0] == planes).all()
    assert nx.is_connected(graph(tables))
    # Each switch below the top has half / r ports up.
    lower = np.bincount(links["node_a"], minlength=len(plane))
    for tier in range(1, tiers):
        assert set(lower[nodes["tier"] == tier]) == {half // ratios[tier - 1]}


@pytest.mark.parametrize(
    "numbers",
    [
        {"tiers": 2, "radix": 8}, {"tiers": 2, "radix": 8, "oversubscription": [4]},
        {"tiers": 3, "radix": 4}, {"tiers": 3, "radix": 8, "oversubscription": [2, 1]},
        {"tiers": 3, "radix": 8, "oversubscription": [1, 2], "parallel": [2, 2]},
        {"tiers": 3, "radix": 8, "oversubscription": [2, 2], "planes": 2},
        {"tiers": 4, "radix": 4}, {"tiers": 4, "radix": 4, "oversubscription": [1, 2, 1]},
    ],
    ids=str,
)  # fmt: skip
def test_the_bisection_is_the_hosts_of_one_half_over_the_oversubscription(numbers):
    # Oracle: max flow from the hosts of one half of the pods to those of the other; all links are
    # alike. Every tier divides by its ratio on the way up, and planes multiply.
    given_ = params(**numbers)
    tables, hosts = fat_tree.tables(given_, LINK), fat_tree.counts(given_)["hosts"]
    net = graph(tables)
    for host in range(hosts):
        net.add_edge("left" if host < hosts // 2 else "right", host, capacity=10**6)

    ratio = np.prod(numbers.get("oversubscription", [1]))
    expected = hosts // 2 * numbers.get("planes", 1) / ratio
    assert nx.maximum_flow_value(net, "left", "right") == expected


def test_the_smallest_of_three_tiers_by_hand():
    # Radix 2: one host per edge, one aggregation per pod, two pods, one core. Hosts 0, 1; edges
    # 2, 3; aggregations 4, 5; core 6.
    tables = fat_tree.tables(params(tiers=3, radix=2), LINK)

    ends = list(zip(tables["links"]["node_a"], tables["links"]["node_b"], strict=True))
    assert ends == [(0, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6)]
    assert tables["nodes"]["tier"].tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_links_above_the_edge_may_be_of_another_kind():
    tables = fat_tree.tables(
        params(tiers=3, radix=2, uplink_rate=["200 Gb/s", "400 Gb/s"], uplink_delay="1 us"), LINK
    )

    assert (
        tables["links"]["rate_bps"].tolist() == [10**11] * 2 + [2 * 10**11] * 2 + [4 * 10**11] * 2
    )
    assert tables["links"]["delay_ps"].tolist() == [500_000] * 2 + [10**6] * 4


@pytest.mark.parametrize(
    ("numbers", "key", "message"),
    [
        ({"tiers": 3, "radix": 7}, "radix", "7 is odd.*Write an even number, for example 8"),
        ({"tiers": 3, "radix": 8, "oversubscription": [2]}, "oversubscription",
         "a list of 1; 3 tiers need one entry for each tier but the top, edge first: 2"),
        ({"tiers": 2, "radix": 8, "oversubscription": [3]}, "oversubscription",
         "3 in tier 1: 4 ports down over 3 is no whole number of ports up. Allowed are 1, 2, 4"),
        ({"tiers": 2, "radix": 8, "parallel": [3]}, "parallel",
         "3 in tier 1: 4 ports up .* Allowed: 1, 2, 4"),
        ({"tiers": 2, "radix": 8, "pods": 9}, "pods", "9 pods do not fit: .* at most 8"),
        ({"tiers": 4, "radix": 64}, "radix", "have 2097152 hosts; at most 1048576"),
    ],
)  # fmt: skip
def test_what_is_no_fat_tree_is_refused_with_what_is_allowed(numbers, key, message):
    with pytest.raises(FieldError, match=message) as caught:
        params(**numbers)
    assert caught.value.field == key


@pytest.mark.parametrize("tiers", [2, 3, 4])
@pytest.mark.parametrize("planes", [1, 2])
def test_a_clos_of_alike_switches_is_the_fat_tree(tiers, planes):
    # Oracle: the fat tree of radix 4, two hosts, parents and children of a switch, four at the top.
    alike = params(clos, children=[2] * (tiers - 1) + [4], parents=[2] * (tiers - 1), planes=planes)
    tree = params(tiers=tiers, radix=4, planes=planes)

    assert clos.counts(alike) == fat_tree.counts(tree)
    ours, theirs = clos.tables(alike, LINK), fat_tree.tables(tree, LINK)
    for table in ("nodes", "links"):
        for name, column in theirs[table].items():
            assert (ours[table][name] == column).all(), name


def test_a_clos_has_numbers_of_its_own_for_each_tier():
    given_ = params(clos, children=[16, 3, 2], parents=[5, 2], parallel=[1, 4],
                    uplink_rate="800 Gb/s", uplink_delay="1 us")  # fmt: skip
    counts, tables = clos.counts(given_), clos.tables(given_, LINK)

    assert (counts["hosts"], counts["switches"]) == (96, 6 + 2 * 5 + 5 * 2)
    assert counts["fabric_links"] == 6 * 5 + 10 * 2 * 4
    check_counts(tables, counts)
    links = tables["links"]
    is_up = links["node_a"] >= 96
    assert set(links["rate_bps"][is_up]) == {800 * 10**9}
    assert set(links["rate_bps"][~is_up]) == {10**11}
    assert set(links["delay_ps"][is_up]) == {10**6}
    single = params(clos, children=[7])
    assert (clos.counts(single)["switches"], clos.counts(single)["cables"]) == (1, 7)


@pytest.mark.parametrize(
    ("numbers", "key", "message"),
    [
        ({"children": [2, 2]}, "parents", "a list of 0; 2 tiers need one .* the top: 1"),
        ({"children": [2], "parents": [2]}, "parents", "a list of 1; 1 tiers .* the top: 0"),
        ({"children": [2, 2], "parents": [2], "parallel": [1, 1]}, "parallel", "a list of 2"),
        ({"children": [2**20, 2**20], "parents": [1]}, "children", "at most .* Lower"),
    ],
)  # fmt: skip
def test_what_is_no_clos_is_refused_with_what_is_allowed(numbers, key, message):
    with pytest.raises(FieldError, match=message) as caught:
        params(clos, **numbers)
    assert caught.value.field == key


@settings(max_examples=30)
@given(left=st.integers(1, 5), right=st.integers(1, 5), parallel=st.integers(1, 4))
def test_a_dumbbell_has_its_counts_and_its_bottleneck(left, right, parallel):
    given_ = params(dumbbell, left=left, right=right, parallel=parallel,
                    bottleneck_rate="25 Gb/s")  # fmt: skip
    tables = dumbbell.tables(given_, LINK)

    check_counts(tables, dumbbell.counts(given_))
    assert (
        tables["links"]["rate_bps"].tolist() == [10**11] * (left + right) + [25 * 10**9] * parallel
    )
    net = graph(tables)
    for host in range(left + right):
        net.add_edge("left" if host < left else "right", host, capacity=1)
    assert nx.maximum_flow_value(net, "left", "right") == min(left, right, parallel)
