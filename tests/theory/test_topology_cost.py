# SPDX-License-Identifier: GPL-2.0-only
"""Counts of a folded Clos against graphs that are built switch by switch."""

import itertools
import re

import networkx as nx
import numpy as np
import pytest

from pyorch.errors import TheoryError
from pyorch.spec.resolved import Link
from pyorch.theory import topology_cost
from pyorch.theory.topology_cost import Clos
from pyorch.topology import fat_tree, leaf_spine


def folded_clos(radix, tiers):
    """Build one plane: half of each switch's ports face up, except in the top tier.

    A switch of tier l is named by where it stands below the upper tiers (digits a) and which of
    the equivalent ones it is (digits b); neighbours differ in the digit that the link chooses.
    """
    half = radix // 2
    below = [half] * (tiers - 1) + [radix]  # children of a switch of each tier
    graph = nx.Graph()

    def switches(tier):
        a = itertools.product(*(range(n) for n in below[tier:]))
        b = list(itertools.product(range(half), repeat=tier - 1))
        return ((tier, up, down) for up in a for down in b)

    for tier in range(1, tiers):
        for _, a, b in switches(tier):
            for choice in range(half):
                graph.add_edge((tier, a, b), (tier + 1, a[1:], (*b, choice)))
    hosts = 0
    for switch in list(switches(1)):
        for _ in range(below[0]):
            graph.add_edge(("host", hosts), switch)
            hosts += 1
    return graph, hosts


def is_switch(node):
    return node[0] != "host"


@pytest.mark.parametrize("radix", [4, 6, 8, 10, 12, 14, 16])
@pytest.mark.parametrize("tiers", [2, 3, 4])
def test_capacity_chips_and_cables_of_a_built_graph(radix, tiers):
    graph, hosts = folded_clos(radix, tiers)
    switches = [node for node in graph if is_switch(node)]
    between = sum(is_switch(a) and is_switch(b) for a, b in graph.edges)
    assert all(graph.degree[node] == radix for node in switches), "every port is used"
    assert nx.is_connected(graph)

    clos = Clos(hosts, radix)

    assert topology_cost.capacity(radix, tiers) == hosts
    assert clos.tiers == tiers
    assert clos.chips == clos.whole_chips == len(switches)
    assert clos.cables == between
    # One host more does not fit.
    assert topology_cost.smallest_tiers(radix, hosts + 1) == tiers + 1


@pytest.mark.parametrize("radix", [4, 8, 16])
@pytest.mark.parametrize("planes", [1, 2, 3, 4])
def test_the_leaf_spine_that_pyorch_builds_has_the_counted_chips_and_cables(radix, planes):
    # A chip of `radix` ports has radix * planes ports at the rate of one plane.
    ports = radix * planes
    numbers = {"leaves": ports, "hosts_per_leaf": ports // 2, "spines": ports // 2,
               "planes": planes}  # fmt: skip
    link = Link(rate_bps=10**11, delay_ps=1)
    params = leaf_spine.Params.model_validate(numbers, context={"link": link})
    tables = leaf_spine.tables(params, link)
    switches = tables["nodes"]["is_switch"] == 1
    id_is_switch = np.zeros(len(switches), bool)
    id_is_switch[tables["nodes"]["node"]] = switches
    links = tables["links"]
    between = (id_is_switch[links["node_a"]] & id_is_switch[links["node_b"]]).sum()

    clos = Clos(int((~switches).sum()), radix, planes)

    assert clos.tiers == 2
    assert clos.chips == clos.whole_chips == switches.sum()
    assert clos.boxes == switches.sum() / planes
    # The links of all planes share a cable.
    assert clos.cables == between / planes
    assert clos.hosts_per_leaf == ports // 2


@pytest.mark.parametrize(
    ("radix", "tiers"), [(4, 2), (4, 3), (4, 4), (6, 3), (8, 2), (8, 3), (10, 2), (12, 2), (16, 2)]
)
@pytest.mark.parametrize("planes", [1, 2, 4])
def test_the_fat_tree_that_pyorch_builds_has_the_counted_chips_and_cables(radix, tiers, planes):
    # `radix` counts ports at the rate of one plane; a chip has radix / planes at the NIC's rate.
    link = Link(rate_bps=10**11, delay_ps=1)
    given = {"tiers": tiers, "radix": radix, "planes": planes}
    params = fat_tree.Params.model_validate(given, context={"link": link})
    tables = fat_tree.tables(params, link)
    switches = tables["nodes"]["is_switch"] == 1
    id_is_switch = np.zeros(int(tables["nodes"]["node"].max()) + 1, bool)
    id_is_switch[tables["nodes"]["node"]] = switches
    links = tables["links"]
    between = (id_is_switch[links["node_a"]] & id_is_switch[links["node_b"]]).sum()
    hosts = int((~switches).sum())

    clos = Clos(hosts, radix / planes, planes)

    assert topology_cost.capacity(radix, tiers) == hosts
    assert clos.tiers == tiers
    assert clos.chips == pytest.approx(switches.sum())
    assert clos.cables == between / planes  # the links of all planes share one


@pytest.mark.parametrize("planes", [2, 4])
@pytest.mark.parametrize("rails", [1, 4])
def test_planes_and_rails_are_copies(planes, rails):
    # Hosts of one rail fill one Clos of the plane's radix, in every plane.
    graph, hosts = folded_clos(4 * planes, 3)
    switches = sum(is_switch(node) for node in graph)

    clos = Clos(hosts * rails, 4, planes, rails)

    assert clos.chips == clos.whole_chips == planes * rails * switches


@pytest.mark.parametrize("hosts", [1, 7, 129, 1000, 8191])
def test_whole_switches_are_enough_for_every_tier_and_not_one_too_many(hosts):
    clos = Clos(hosts, 16)
    lower = -(-hosts // 8)
    if clos.tiers == 1:
        assert clos.whole_chips == 1
        return
    # Every lower tier has an uplink for each host; the top has as many ports, 16 on a chip.
    top = clos.whole_chips - (clos.tiers - 1) * lower
    assert 16 * top >= 8 * lower > 16 * (top - 1)


def test_fewest_rails_is_the_boundary():
    # 256 ports in two tiers connect 2 * 128^2 = 32768 hosts.
    assert topology_cost.fewest_rails(32768 * 24, 256, 2) == 24
    assert topology_cost.fewest_rails(32768 * 24 + 1, 256, 2) == 25


def test_power_is_of_chips_and_both_ends_of_cables():
    clos = Clos(128, 16)  # 24 chips, 128 cables

    assert topology_cost.network_w(clos, 500, 10) == 24 * 500 + 2 * 128 * 10


@pytest.mark.parametrize(
    ("clos", "message"),
    [
        (Clos(10, 2), "a switch of 2 ports builds no Clos; the radix is 4 or more."),
        (Clos(0, 16), "0 hosts need no network; hosts is 1 or more."),
    ],
)
def test_what_is_no_network_is_refused(clos, message):
    with pytest.raises(TheoryError, match=re.escape(message)):
        _ = clos.tiers
