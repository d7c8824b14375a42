# SPDX-License-Identifier: GPL-2.0-only
"""A cyclic buffer dependency ends in a deadlock that is named; congestion alone does not."""

import pytest
from oracle_network import GBPS, MS_PS, NS_PS, Flows, Network

from pyorch.simulate.fabric import Fabric

pytestmark = pytest.mark.ns3

RING = 5


def ring(size: int) -> tuple[Network, Flows]:
    """Return switches 100.. in a ring, a host at each, each sending to the host two further on.

    Every ring link carries traffic that goes on to the next one: the buffers depend on each other
    in a circle. With five switches the way forward is the only shortest one.
    """
    network = Network(hosts=list(range(size)), switches=[(100 + i, 1) for i in range(size)])
    flows = Flows()
    for i in range(size):
        network.link(i, 100 + i, 100 * GBPS, 500 * NS_PS)
        network.link(100 + i, 100 + (i + 1) % size, 100 * GBPS, 500 * NS_PS)
        for _ in range(4):
            flows.add(i, (i + 2) % size, 4_000_000)
    return network, flows


def cycle_of(network: Network, flows: Flows, pfc: dict | None, stop_ps: int = 20 * MS_PS):
    """Return the deadlock that the engine finds at the end, and how many flows are done."""
    fabric = Fabric(seed=1)
    fabric.table("nodes", network.nodes_table())
    fabric.table("links", network.links_table())
    fabric.table("flows", flows.table())
    if pfc is not None:
        fabric.flow_control("ns3::Pfc", pfc)
    fabric.transport("ns3::RoceTransport", {})
    facade = fabric.build(fabric.load())
    try:
        while not facade.RunSlice(stop_ps, 60.0):
            pass
        facade.Finish()
        return [int(node) for node in facade.DeadlockCycle()], int(facade.FlowsDone())
    finally:
        facade.__destruct__()


def test_a_ring_with_small_buffers_deadlocks_and_the_cycle_is_named():
    cycle, done = cycle_of(*ring(RING), {"XoffBytes": 20_000, "XonOffsetBytes": 5_000})

    assert done < RING * 4
    # By hand: the circle is the whole ring, and each waits for the next one on the way.
    assert sorted(cycle) == [100 + i for i in range(RING)]
    steps = {(b - a) % RING for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)}
    assert steps == {1}


def test_without_pfc_the_same_ring_finishes():
    assert cycle_of(*ring(RING), None, 200 * MS_PS) == ([], RING * 4)


def test_pauses_without_a_cycle_are_no_deadlock():
    # A line instead of a ring: paused all the time, but the last switch always drains. Looked at
    # in the middle of the run.
    network, flows = ring(RING)
    network.links = [link for link in network.links if link[:2] != (100 + RING - 1, 100)]
    flows.rows = [row for row in flows.rows if row[2] > row[1]]

    cycle, done = cycle_of(
        network, flows, {"XoffBytes": 20_000, "XonOffsetBytes": 5_000}, MS_PS // 2
    )

    assert cycle == [] and done < len(flows.rows)
