# SPDX-License-Identifier: GPL-2.0-only
"""What is said before a run: small buffers, plug-ins that spoil each other, what skips decide."""

import numpy as np
import pytest

from pyorch.simulate.fabric import Fabric
from pyorch.simulate.warnings import (
    few_entropies,
    kept_limits,
    late_marks,
    overtaking,
    small_buffers,
)

# Hosts 0 and 1 behind switches 2 and 3: 20 Gb/s at hosts, 5 Gb/s and 30 ms between the switches.
LINKS = {
    "node_a": np.array([0, 2, 3]),
    "node_b": np.array([2, 3, 1]),
    "rate_bps": np.array([20, 5, 20]) * 10**9,
    "delay_ps": np.array([0, 30 * 10**9, 0]),
}
FLOWS = {"flow": np.array([7]), "src": np.array([0]), "dst": np.array([1])}
NONE, ONE = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
BDP_BYTES = 37_500_000  # 5 Gb/s times 60 ms


def lines(size, connections=1):
    """Return what is said of a transport whose two buffers are of one size."""
    given = {"SendBufferBytes": str(size), "ReceiveBufferBytes": str(BDP_BYTES)}
    given["Connections"] = str(connections)
    return list(small_buffers({"links": LINKS, "flows": FLOWS}, [("ns3::TcpTransport", given)]))


def test_both_numbers_are_named():
    (line,) = lines(131_072)
    for word in ("SendBufferBytes is 131072", "37500000 bytes", "flow 7"):
        assert word in line


@pytest.mark.parametrize("connections", [1, 4])
def test_nothing_is_said_from_the_product_on(connections):
    assert lines(BDP_BYTES // connections, connections) == []
    assert len(lines(BDP_BYTES // connections - 1, connections)) == 1


def test_transports_without_buffers_or_flows_are_passed_over():
    tables = {"links": LINKS, "flows": FLOWS}
    assert list(small_buffers(tables, [("ns3::RoceTransport", {})])) == []
    unused = ("ns3::TcpTransport", {"SendBufferBytes": "1"})
    assert list(small_buffers(tables, [("ns3::RoceTransport", {}), unused])) == []


def test_hosts_that_no_path_joins_are_left_to_the_engine():
    apart = {name: column[:1] for name, column in LINKS.items()}
    given = {"SendBufferBytes": "1", "ReceiveBufferBytes": "1"}
    tables = {"links": apart, "flows": FLOWS}
    assert list(small_buffers(tables, [("ns3::TcpTransport", given)])) == []


# Two leaves, 10 and 11, below eight spines.
TREE = {
    "nodes": {
        "node": np.array([0, 1, 10, 11, *range(20, 28)]),
        "is_switch": np.array([0, 0, *[1] * 10]),
        "tier": np.array([0, 0, 1, 1, *[2] * 8]),
    },
    "links": {
        "node_a": np.array([0, 1, *[10] * 8, *range(20, 28)]),
        "node_b": np.array([10, 11, *range(20, 28), *[11] * 8]),
    },
}


@pytest.mark.parametrize(
    ("selector", "forwarding", "said"),
    [
        ("ns3::ScoredEntropy", "ns3::EcmpHash", "as many entropies as there are paths"),
        ("ns3::PermutedEntropy[Paths=0]", "ns3::WeightedHash", "as many entropies as there are"),
        ("ns3::RepsEntropy[RingEntries=4|Paths=16]", "ns3::EcmpHash", "16 entropies"),
        ("ns3::RepsEntropy[RingEntries=4|Paths=17]", "ns3::EcmpHash", ""),
        ("ns3::PermutedEntropy[Paths=256]", "ns3::EcmpHash", ""),
        ("ns3::ScoredEntropy", "ns3::EntropyModulo", ""),
        ("ns3::FlowEntropy", "ns3::EcmpHash", ""),
        ("ns3::RandomEntropy", "ns3::EcmpHash", ""),
    ],
)
def test_entropies_that_a_hash_does_not_spread_are_told(selector, forwarding, said):
    given = [("ns3::SprayTransport", {"PathSelector": selector})]
    found = list(few_entropies(TREE, given, [forwarding]))

    assert [said in line and "over 8 uplinks" in line for line in found] == [True] * bool(said)
    star = {"nodes": {name: column[:3] for name, column in TREE["nodes"].items()},
            "links": {name: column[:1] for name, column in TREE["links"].items()}}  # fmt: skip
    assert list(few_entropies(star, given, [forwarding])) == []


@pytest.mark.parametrize(
    ("table", "column", "transport", "told"),
    [
        ("link_events", ONE, "ns3::SprayTransport", ["links change"]),
        ("link_events", NONE, "ns3::SprayTransport", []),
        ("dependencies", ONE, "ns3::RoceTransport", ["messages on single paths"]),
        ("dependencies", ONE, "ns3::SprayTransport", []),
    ],
)
@pytest.mark.parametrize("skips", [True, False])
def test_a_small_difference_that_decides_is_told(table, column, transport, told, skips):
    fabric = Fabric(seed=1)
    fabric.transport(transport, {})
    fabric.table(table, {"flow": column})
    if skips:
        fabric.engine = {"skip_ppm": 10_000}

    lines = fabric.warnings()

    assert len(lines) == (len(told) if skips else 0)
    assert all(word in line for word, line in zip(told, lines, strict=False))


SPRAY, HASH = ("forwarding", 0, "ns3::RandomSpray", {}), ("forwarding", 0, "ns3::EcmpHash", {})


@pytest.mark.parametrize(
    ("roles", "given", "told"),
    [
        ([SPRAY], {}, "Recovery=GoBackN"),
        ([HASH], {"PathSelector": "ns3::RandomEntropy[Paths=8]"}, "ns3::RandomEntropy lets"),
        ([SPRAY], {"Recovery": "SelectiveRepeat"}, "ReorderPackets=1"),
        ([SPRAY], {"Recovery": "SelectiveRepeat", "ReorderPackets": "64"}, ""),
        ([HASH], {}, ""),
        ([HASH], {"PathSelector": "ns3::FlowletEntropy[Gap=1us]"}, ""),
    ],
)
def test_spraying_under_what_takes_overtaken_packets_for_lost_is_told(roles, given, told):
    lines = list(overtaking(roles, [("ns3::SprayTransport", {}), ("ns3::RoceTransport", given)]))
    assert len(lines) == bool(told)
    assert all(told in line for line in lines)


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("kmin", "control", "alpha", "told"),
    [
        (100_001, "ns3::Dcqcn", "0", True),
        (100_000, "ns3::Dcqcn", "0", False),
        (400_000, "ns3::Hpcc", "0", False),  # reads no marks
        (400_000, "ns3::Dcqcn", "0.5", False),  # what stops a sender is not known before
    ],
)
def test_a_queue_that_pauses_before_it_marks_is_told(kmin, control, alpha, told):
    roles = [
        ("queue", 0, "ns3::RedEcn", {"KminBytes": str(kmin)}),
        ("flow_control", 0, "ns3::Pfc", {"XoffBytes": "100000", "Alpha": alpha}),
    ]
    lines = list(late_marks(roles, [("ns3::RoceTransport", {"CongestionControl": control})]))
    assert ["pauses before it marks" in line for line in lines] == [True] * told


@pytest.mark.parametrize(
    ("ends", "rate", "given", "told"),
    [
        ((2, 3), 1, {"KminBytes": "5000"}, ["KminBytes stay as many bytes"]),
        ((3, 2), 1, {"KminBytes": "5000"}, ["KminBytes stay as many bytes"]),
        ((2, 3), 1, {"KminBytes": "5000", "ReferenceRateBps": "7"}, []),
        ((2, 3), 5, {"KminBytes": "5000"}, []),  # as it began
        ((2, 3), 0, {"KminBytes": "5000"}, []),  # a cut
        ((0, 2), 1, {}, ["a link of host 0 gets slower"]),
    ],
)
def test_what_keeps_its_size_on_a_link_that_gets_slower_is_told(ends, rate, given, told):
    nodes = {"node": np.arange(4), "is_switch": np.array([0, 0, 1, 1])}
    events = {"node_a": ends[:1], "node_b": ends[1:], "rate_bps": [rate * 10**9]}
    events = {name: np.array(column) for name, column in events.items()}
    tables = {"nodes": nodes, "links": LINKS, "link_events": events}
    lines = list(kept_limits(tables, [("queue", 0, "ns3::RedEcn", given)]))
    assert len(lines) == len(told)
    assert all(word in line for word, line in zip(told, lines, strict=True))
