# SPDX-License-Identifier: GPL-2.0-only
"""Max-min shares against hand-computed cases, a slow twin, and an independent Monte Carlo."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.errors import TheoryError
from pyorch.spec.resolved import Link
from pyorch.theory import ecmp, paths
from pyorch.topology import leaf_spine
from pyorch.workload import permutation

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)
#: Tail, p99, median and mean FCT over optimal by an independent program, 20 seeds each.
CURVES = Path(__file__).parents[1] / "data" / "ecmp_curves.csv"


def rates(routes, capacity):
    return ecmp.max_min_rates(np.array(routes), np.array(capacity)).tolist()


def test_n_equal_flows_on_one_link_share_it_equally():
    assert rates([[0]] * 8, [80]) == [10.0] * 8


def test_the_parking_lot_by_hand():
    # One flow over links 0, 1, 2 and one on each: every link is halved.
    assert rates([[0, 1, 2], [0, -1, -1], [1, -1, -1], [2, -1, -1]], [2, 2, 2]) == [1.0] * 4


def test_what_a_bottleneck_leaves_is_used_elsewhere():
    # Link 0 (rate 3) is shared by a, b, c: 1 each. Link 1 (rate 10) has a and d: d gets 9.
    assert rates([[0, 1], [0, -1], [0, -1], [1, -1]], [3, 10]) == [1.0, 1.0, 1.0, 9.0]


def slow_max_min(routes, capacity):
    """Fill one bottleneck after the other in exact fractions, flow by flow."""
    result, left = {}, [Fraction(c) for c in capacity]
    waiting = {flow: [link for link in route if link >= 0] for flow, route in enumerate(routes)}
    while waiting:
        load = {}
        for route in waiting.values():
            for link in route:
                load[link] = load.get(link, 0) + 1
        tightest = min(load, key=lambda link: (left[link] / load[link], link))
        share = left[tightest] / load[tightest]
        for flow in [flow for flow, route in waiting.items() if tightest in route]:
            result[flow] = share
            for link in waiting.pop(flow):
                left[link] -= share
    return [float(result[flow]) for flow in range(len(routes))]


@settings(max_examples=200)
@given(
    routes=st.lists(
        st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True), min_size=1, max_size=20
    ),
    capacity=st.lists(st.integers(1, 50), min_size=8, max_size=8),
)
def test_any_network_agrees_with_the_slow_twin(routes, capacity):
    padded = [route + [-1] * (4 - len(route)) for route in routes]

    assert rates(padded, capacity) == pytest.approx(slow_max_min(routes, capacity), rel=1e-9)


def fct(routes, wire_bytes, start_ps, rate_bps):
    return ecmp.fluid_fct_ps(
        np.array(routes), np.array(wire_bytes), np.array(start_ps), np.array(rate_bps)
    )


def test_two_flows_that_start_together_take_twice_as_long():
    # 1000 B at 8 Gb/s last 1 us; two of them share the link for 2 us.
    assert fct([[0], [0]], [1000, 1000], [0, 0], [8 * 10**9]) == pytest.approx([2e6, 2e6])


def test_a_late_flow_shares_only_while_both_are_there():
    # a: 1000 B from 0; b: 1000 B from 0.5 us, 8 Gb/s. a has half left at 0.5 us, shares and
    # ends at 1.5 us; b then has half left, alone: it ends at 2 us, 1.5 us after its start.
    assert fct([[0], [0]], [1000, 1000], [0, 500_000], [8 * 10**9]) == pytest.approx([1.5e6] * 2)


def test_a_pause_between_two_flows_is_no_division_by_zero():
    got = fct([[0], [0]], [1000, 1000], [0, 5_000_000], [8 * 10**9])

    assert got == pytest.approx([1e6, 1e6])


def test_load_of_a_link_is_a_bound_that_equal_flows_reach():
    routes, wire = np.array([[0, 1], [0, 2], [0, 1]]), np.array([1000, 1000, 1000])
    load = ecmp.link_load_ps(routes, wire, np.array([8 * 10**9] * 3))

    assert load.tolist() == [3e6, 2e6, 1e6]
    assert fct(routes, wire, [0, 0, 0], [8 * 10**9] * 3).max() == pytest.approx(load.max())


def fabric(leaves, hosts_per_leaf, spines):
    given_ = {"leaves": leaves, "hosts_per_leaf": hosts_per_leaf, "spines": spines}
    params = leaf_spine.Params.model_validate(given_, context={"link": LINK})
    return leaf_spine.tables(params, LINK)


def multipliers(leaves, hosts_per_leaf, spines, seed):
    """FCT over optimal of a random permutation, over any leaves, with ideally random paths."""
    tables = fabric(leaves, hosts_per_leaf, spines)
    params = permutation.Params.model_validate({"message": "1 MB", "inter_leaf": False})
    flows = permutation.flows(params, tables["nodes"], tables["links"], seed)
    network = paths.Network(tables["nodes"], tables["links"])
    choose = paths.random_choice(np.random.default_rng([seed, 7]))
    routes = network.routes(flows["src"], flows["dst"], choose)
    alone_ps = flows["bytes"] * 8e12 / LINK.rate_bps
    return ecmp.fluid_fct_ps(routes, flows["bytes"], flows["start_ps"], network.rate_bps) / alone_ps


def reference():
    with CURVES.open() as file:
        return [row for row in csv.DictReader(file) if row["active_fraction"] == "1.0"]


@pytest.mark.parametrize("row", reference(), ids=lambda row: f"{row['hosts']}_hosts")
def test_the_distribution_agrees_with_an_independent_monte_carlo(row):
    # Both sides are means of 20 draws. Their difference has a standard deviation of
    # sqrt(2 / 20) s, with s over draws: a check at 4.4 of these fails by chance once in 1e5.
    # s is measured on our own draws. Quantiles sit on whole numbers: one draw in 20 a level away
    # has s = sqrt(0.05 x 0.95) = 0.22, which is the floor for them.
    hosts, per_leaf = int(row["hosts"]), int(row["hosts_per_leaf"])
    draws = [multipliers(hosts // per_leaf, per_leaf, per_leaf, seed) for seed in range(20)]
    for name, value in {
        "tail_over_optimal": [draw.max() for draw in draws],
        "p99_over_optimal": [np.quantile(draw, 0.99) for draw in draws],
        "median_over_optimal": [np.median(draw) for draw in draws],
        "mean_over_optimal": [draw.mean() for draw in draws],
    }.items():
        spread = max(np.std(value, ddof=1), 0.0 if name.startswith("mean") else 0.22)
        allowed = 4.4 * np.sqrt(2 / 20) * spread
        assert np.mean(value) == pytest.approx(float(row[name]), abs=allowed), name


def test_no_flow_beats_the_most_loaded_link_of_the_whole_fabric():
    tables = fabric(16, 8, 8)
    network = paths.Network(tables["nodes"], tables["links"])
    params = permutation.Params.model_validate({"message": "1 MB"})
    for seed in range(20):
        flows = permutation.flows(params, tables["nodes"], tables["links"], seed)
        choose = paths.random_choice(np.random.default_rng(seed))
        routes = network.routes(flows["src"], flows["dst"], choose)
        got = ecmp.fluid_fct_ps(routes, flows["bytes"], flows["start_ps"], network.rate_bps)
        load = ecmp.link_load_ps(routes, flows["bytes"], network.rate_bps).max()

        assert got.max() >= load * (1 - 1e-9)


def test_routes_take_four_links_and_the_member_that_was_chosen():
    tables = fabric(4, 2, 3)  # hosts 0-7, leaves 8-11, spines 12-14
    network = paths.Network(tables["nodes"], tables["links"])
    chosen = np.array([2, 0, 1])

    routes = network.routes(
        np.array([0, 1, 7]), np.array([6, 0, 3]), lambda hop, flows, n_members: chosen[flows]
    )

    visited = [[int(network.head[link]) for link in route if link >= 0] for route in routes]
    # 0 -> 6 by the third spine; 1 -> 0 stays below leaf 8; 7 -> 3 by the second spine.
    assert visited == [[8, 14, 11, 6], [8, 0], [11, 13, 9, 3]]


def recorded(*rows):
    columns = np.array(rows).T
    return dict(zip(("flow", "hop", "node", "peer", "parallel"), columns, strict=True))


def test_recorded_paths_become_the_same_routes_in_any_order():
    tables = fabric(4, 2, 3)
    network = paths.Network(tables["nodes"], tables["links"])
    # flow 9: host 0 - leaf 8 - host 1; flow 4: host 0 - 8 - spine 14 - leaf 11 - host 6
    rows = [(9, 0, 0, 8, 0), (9, 1, 8, 1, 0), (4, 3, 11, 6, 0), (4, 1, 8, 14, 0), (4, 0, 0, 8, 0),
            (4, 2, 14, 11, 0)]  # fmt: skip

    routes = network.recorded_routes(np.array([9, 4]), recorded(*rows))

    ends = [[(int(network.tail[x]), int(network.head[x])) for x in r if x >= 0] for r in routes]
    assert ends == [[(0, 8), (8, 1)], [(0, 8), (8, 14), (14, 11), (11, 6)]]


def test_a_recorded_link_that_is_not_there_is_refused():
    tables = fabric(4, 2, 3)
    network = paths.Network(tables["nodes"], tables["links"])
    with pytest.raises(TheoryError, match="the topology has no link from node 0 to 9"):
        network.recorded_routes(np.array([1]), recorded((1, 0, 0, 9, 0)))


def test_every_plane_of_a_multi_plane_fabric_is_a_path():
    given_ = {"leaves": 2, "hosts_per_leaf": 2, "spines": 2, "planes": 2}
    tables = leaf_spine.tables(
        leaf_spine.Params.model_validate(given_, context={"link": LINK}), LINK
    )
    network = paths.Network(tables["nodes"], tables["links"])
    taken = set()
    for seed in range(50):
        choose = paths.random_choice(np.random.default_rng(seed))
        route = network.routes(np.array([0]), np.array([3]), choose)[0]
        taken.add(tuple(int(node) for node in network.head[route]))

    # hosts 0-3; plane 0: leaves 4, 5, spines 6, 7; plane 1: leaves 8, 9, spines 10, 11
    assert taken == {(4, 6, 5, 3), (4, 7, 5, 3), (8, 10, 9, 3), (8, 11, 9, 3)}


def test_a_host_nobody_can_reach_is_named():
    nodes = {"node": np.arange(4), "is_switch": np.array([0, 0, 1, 1])}
    links = {"node_a": np.array([0, 1]), "node_b": np.array([2, 3]), "parallel": np.array([0, 0]),
             "rate_bps": np.array([1, 1]), "delay_ps": np.array([0, 0])}  # fmt: skip
    network = paths.Network(nodes, links)
    with pytest.raises(TheoryError, match="no path from node 2 to the target of flow row 0"):
        network.routes(np.array([0]), np.array([1]), lambda *_: 0)


def test_a_host_that_no_switch_has_is_named():
    # Hosts 0 and 1 are joined by a cable, so nothing comes to host 0 through switch 3.
    nodes = {"node": np.arange(4), "is_switch": np.array([0, 0, 0, 1])}
    links = {"node_a": np.array([0, 2]), "node_b": np.array([1, 3]), "parallel": np.array([0, 0]),
             "rate_bps": np.array([1, 1]), "delay_ps": np.array([0, 0])}  # fmt: skip
    network = paths.Network(nodes, links)
    with pytest.raises(TheoryError, match="no path from node 3 to the target of flow row 0"):
        network.routes(np.array([2]), np.array([0]), lambda *_: 0)


def test_a_sprayed_flow_has_no_fluid_value_of_its_own():
    tables = fabric(4, 2, 3)
    network = paths.Network(tables["nodes"], tables["links"])
    with pytest.raises(TheoryError, match="1 of 2 flows, flow 7 among them, keep to no single"):
        network.recorded_routes(np.array([1, 7]), recorded((1, 0, 0, 8, 0)))
