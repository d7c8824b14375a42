# SPDX-License-Identifier: GPL-2.0-only
"""A cyclic buffer dependency ends in a deadlock that is named; congestion alone does not."""

import pytest
from oracle_network import GBPS, MS_PS, NS_PS, Flows, Network

from pyorch.simulate.fabric import Fabric

pytestmark = pytest.mark.ns3

RING = 5
PFC = {"XoffBytes": 20_000, "XonOffsetBytes": 5_000}


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


def cycle_of(
    network: Network, flows: Flows, pfc: dict | None, stop_ps: int = 20 * MS_PS, link_events=None
):
    """Return the deadlock that the engine finds, flows done, end of the run [ps], packets."""
    fabric = Fabric(seed=1)
    fabric.table("nodes", network.nodes_table())
    fabric.table("links", network.links_table())
    fabric.table("flows", flows.table())
    if link_events is not None:
        fabric.table("link_events", link_events)
    if pfc is not None:
        fabric.flow_control("ns3::Pfc", pfc)
    fabric.transport("ns3::RoceTransport", {})
    facade = fabric.build(fabric.load())
    try:
        while not facade.RunSlice(stop_ps, 60.0):
            pass
        facade.Finish()
        cycle = [int(node) for node in facade.DeadlockCycle()]
        counts = (facade.FlowsDone(), facade.NowPs(), facade.DataPackets())
        return cycle, *(int(count) for count in counts)
    finally:
        facade.__destruct__()


def test_a_ring_with_small_buffers_deadlocks_and_the_cycle_is_named():
    cycle, done, end_ps, _ = cycle_of(*ring(RING), PFC)

    assert done < RING * 4
    # Retransmission timers would go on for ever; the next look at the network ends the run.
    assert end_ps <= MS_PS
    # By hand: the circle is the whole ring, and each waits for the next one on the way.
    assert sorted(cycle) == [100 + i for i in range(RING)]
    steps = {(b - a) % RING for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)}
    assert steps == {1}


def test_without_pfc_the_same_ring_finishes():
    assert cycle_of(*ring(RING), None, 200 * MS_PS)[:2] == ([], RING * 4)


def test_a_deadlock_that_a_later_cut_breaks_does_not_end_the_run():
    # The first ring link loses what it holds at 5 ms, and is back at once.
    events = {
        "time_ps": [5 * MS_PS, 5 * MS_PS + 1], "node_a": [100, 100], "node_b": [101, 101],
        "rate_bps": [0, 100 * GBPS],
    }  # fmt: skip
    *_, end_ps, packets = cycle_of(*ring(RING), PFC, 6 * MS_PS, events)
    *_, packets_without = cycle_of(*ring(RING), PFC)

    assert end_ps > 5 * MS_PS and packets > packets_without


def test_pauses_without_a_cycle_are_no_deadlock():
    # A line instead of a ring: paused all the time, but the last switch always drains. Looked at
    # in the middle of the run.
    network, flows = ring(RING)
    network.links = [link for link in network.links if link[:2] != (100 + RING - 1, 100)]
    flows.rows = [row for row in flows.rows if row[2] > row[1]]

    cycle, done, *_ = cycle_of(network, flows, PFC, MS_PS // 2)

    assert cycle == [] and done < len(flows.rows)
