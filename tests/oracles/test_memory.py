# SPDX-License-Identifier: GPL-2.0-only
"""What a host takes of the engine's memory."""

import pytest
from oracle_network import GBPS, Flows, leaf_spine, run

pytestmark = pytest.mark.ns3

HOSTS_PER_LEAF = 16
PACKETS = 10
MTU_BYTES = 4096


def engine_bytes(leaves):
    """Return the size of the engine's arrays when each host sends ten packets to another leaf."""
    hosts = leaves * HOSTS_PER_LEAF
    flows = Flows()
    for host in range(hosts):
        flows.add(host, (host + HOSTS_PER_LEAF) % hosts, PACKETS * MTU_BYTES, 0, flow=host)
    network = leaf_spine(leaves, HOSTS_PER_LEAF, HOSTS_PER_LEAF, 800 * GBPS, 500_000)
    transport = ("ns3::RoceTransport", {"MtuBytes": MTU_BYTES})
    return int(run(network, flows, [transport]).tables["process"]["engine_memory_bytes"][0])


def test_a_host_takes_no_more_than_its_ports_and_frames():
    # A host adds four ports of 128 bytes, with at most 112 of counters, a node of 128 and 24 of a
    # host, a message of 128 and 4; its ten packets are frames of 32. Events of 16 are in lanes
    # that may have half as much room again: at most ten arrivals, and four ends of transmission
    # of data and four of acknowledgements. Starts of messages are put in order, after they waited
    # in chunks of 15 events and a link: 16 and 16 * 16 / 15. Of its leaf, with 32 ports, it adds a
    # sixteenth of a node and of the paths to 32 leaves: below 100 bytes. Twice as many hosts have
    # twice all that; what a run takes of any size drops out of the difference.
    few, many = engine_bytes(16), engine_bytes(32)
    per_host = (many - few) / (16 * HOSTS_PER_LEAF)
    events = PACKETS + 4 + 4
    at_most = 4 * (128 + 112) + 128 + 24 + 132 + PACKETS * 32 + 1.5 * 16 * events + 16 + 18 + 100
    assert 4 * 128 + PACKETS * 32 < per_host <= at_most


def test_columns_are_taken_once():
    from pyorch.simulate.fabric import Fabric, output_columns

    made = leaf_spine(2, 1, 1, 100 * GBPS, 500_000)
    fabric = Fabric(seed=1)
    for name in ("nodes", "links"):
        fabric.table(name, getattr(made, f"{name}_table")())
    flows = Flows()
    flows.add(0, 1, 1000, 0, flow=0)
    fabric.table("flows", flows.table())
    fabric.forwarding("ns3::EcmpHash")
    fabric.transport("ns3::RoceTransport", {})
    facade = fabric.build(fabric.load())
    facade.RunSlice(10**12, 60.0)
    facade.Finish()
    first, second = output_columns(facade), output_columns(facade)
    facade.__destruct__()
    assert first["flows"]["bytes"].tolist() == [1000]
    assert len(first["ports"]) > 20
    assert not any(second.values())  # the memory is free
