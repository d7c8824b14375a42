# SPDX-License-Identifier: GPL-2.0-only
"""What is said before a run: buffers that are too small, and what skipping may decide."""

import numpy as np
import pytest

from pyorch.simulate.fabric import Fabric
from pyorch.simulate.warnings import small_buffers

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
