# SPDX-License-Identifier: GPL-2.0-only
"""What the engine says to wrong input, and that the next run in the same process is right."""

import ctypes
import re
import signal

import numpy as np
import pytest
from oracle_network import GBPS, MS_PS, leaf_spine, one_flow, run_tables, star

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
ROCE = ("ns3::RoceTransport", {})
# 4096 + 62 + 16 + 20 = 4194 B, two links of 80 ps/B and 1 us.
RIGHT_PS = 2 * (4194 * 80 + 10**6)


def good():
    """Return the arguments of a run that works: hosts 0..2 around switch 1000, flow 0 -> 1."""
    network = star(3, RATE, 10**6)
    return {
        "nodes": network.nodes_table(),
        "links": network.links_table(),
        "flows": one_flow(0, 1, 4096).table(),
        "transports": [ROCE],
        "forwarding": "ns3::EcmpHash",
        "queue": ("ns3::RedEcn", {}),
        "pfc": {},
        "drops": (),
        "seed": 1,
        "stop_ps": 10 * MS_PS,
    }


def put(table, column, row, value):
    def change(arguments):
        arguments[table][column][row] = value

    return change


def repeat_first_row(table):
    def change(arguments):
        columns = arguments[table]
        arguments[table] = {name: np.append(v, v[0]) for name, v in columns.items()}

    return change


def drop_row(table, row):
    def change(arguments):
        arguments[table] = {name: np.delete(v, row) for name, v in arguments[table].items()}

    return change


def without(table, column):
    return lambda arguments: arguments[table].pop(column)


def set_to(**changes):
    return lambda arguments: arguments.update(changes)


def two_paths(arguments):
    network = leaf_spine(2, 1, 2, RATE, 10**6)
    arguments.update(nodes=network.nodes_table(), links=network.links_table(), forwarding=None)


def two_islands(arguments):
    network = star(2, RATE, 10**6)
    network.hosts.append(7)
    network.switches.append((1001, 1))
    network.link(7, 1001, RATE, 10**6)
    arguments.update(nodes=network.nodes_table(), links=network.links_table())
    arguments["flows"]["dst"][0] = 7


def roce(**attributes):
    return set_to(transports=[("ns3::RoceTransport", attributes)])


CASES = {
    # who and where, what is wrong, what is allowed
    "node twice": (repeat_first_row("nodes"), "nodes: node 0 is listed twice"),
    "tier below the hosts": (
        put("nodes", "tier", 3, -1),
        "nodes: node 1000: tier is -1, not 0 to 4294967295",
    ),
    "link twice": (
        repeat_first_row("links"),
        "links: 0-1000 (parallel 0) is listed twice",
    ),
    "flow twice": (repeat_first_row("flows"), "flows: flow 0 is listed twice"),
    "link to an unknown node": (
        put("links", "node_b", 1, 77),
        "links: 1-77 (parallel 0): there is no node 77 in nodes",
    ),
    "link to itself": (put("links", "node_b", 1, 1), "joins a node to itself"),
    "link between hosts": (put("links", "node_b", 1, 2), "links: 1-2 (parallel 0) joins two hosts"),
    "flow to an unknown node": (
        put("flows", "dst", 0, 55),
        "flows: flow 0: there is no node 55 in nodes",
    ),
    "flow to a switch": (
        put("flows", "dst", 0, 1000),
        "flows: flow 0: node 1000 is a switch, not a host",
    ),
    "flow to itself": (put("flows", "dst", 0, 0), "flows: flow 0 goes from host 0 to itself"),
    "no bytes": (put("flows", "bytes", 0, -1), "flows: flow 0: bytes is -1, not >= 0"),
    "start before the beginning": (
        put("flows", "start_ps", 0, -5),
        "flows: flow 0: start_ps is -5, not >= 0",
    ),
    "no such transport": (
        put("flows", "transport", 0, 1),
        "flows: flow 0: transport is 1, but there are 1 transports, counted from 0",
    ),
    "no path": (two_islands, "flows: flow 0: no path from host 0 to host 7"),
    "host without a link": (drop_row("links", 1), "links: host 1 has no link"),
    "negative rate": (put("links", "rate_bps", 0, -1), "0-1000 (parallel 0): rate_bps is -1"),
    "zero rate": (put("links", "rate_bps", 0, 0), "rate_bps is 0, not > 0"),
    "negative delay": (put("links", "delay_ps", 0, -1), "delay_ps is -1, not > 0"),
    "loss above one": (put("links", "loss_ratio", 0, 1.5), "loss_ratio is 1.5, not in [0, 1)"),
    "loss is not a number": (put("links", "loss_ratio", 0, float("nan")), "loss_ratio is nan"),
    "no nodes": (set_to(nodes={}), "nodes: the table is empty"),
    "missing column": (without("links", "rate_bps"), "table links lacks column rate_bps"),
    "several paths, no policy": (
        two_paths,
        "forwarding: a switch has several paths to a destination, so a forwarding policy is needed",
    ),
    "unknown attribute": (
        roce(Gian=1),
        "ns3::RoceTransport has no attribute 'Gian'. It has MtuBytes, HeaderBytes",
    ),
    "attribute out of range": (roce(MtuBytes=0), "ns3::RoceTransport: MtuBytes cannot be '0'"),
    "negative window": (
        roce(WindowBytes=-1),
        "ns3::RoceTransport: WindowBytes cannot be '-1'",
    ),
    "negative threshold": (set_to(pfc={"XoffBytes": -5}), "ns3::Pfc: XoffBytes cannot be '-5'"),
    "attribute of another kind": (roce(Rto="soon"), "ns3::RoceTransport: Rto cannot be 'soon'"),
    "attribute not in the list": (
        roce(Recovery="Maybe"),
        "ns3::RoceTransport: Recovery cannot be 'Maybe'; allowed is",
    ),
    "no such type": (set_to(forwarding="ns3::EcmpHsh"), "'ns3::EcmpHsh'"),
    "type of another role": (
        set_to(forwarding="ns3::DropTail"),
        "ns3::DropTail cannot be used as forwarding",
    ),
    "not a transport": (set_to(transports=[("ns3::Pfc", {})]), "ns3::Pfc is not a transport"),
    "abstract": (
        set_to(forwarding="ns3::FabricForwardingPolicy"),
        "no module in ns3-modules registers a TypeId 'ns3::FabricForwardingPolicy'",
    ),
    "no such entropy": (
        roce(PathSelector="ns3::Nothing"),
        "ns3::RoceTransport: PathSelector cannot be 'ns3::Nothing'; allowed is"
        " ns3::fabric::PathSelector",
    ),
    "entropy of another kind": (
        roce(PathSelector="ns3::Pfc"),
        "ns3::RoceTransport: PathSelector cannot be 'ns3::Pfc'; allowed is"
        " ns3::fabric::PathSelector",
    ),
    "thresholds crossed": (
        set_to(queue=("ns3::RedEcn", {"KminBytes": 2, "KmaxBytes": 1})),
        "ns3::RedEcn: KminBytes is 2, more than KmaxBytes, 1",
    ),
    "resume above pause": (
        set_to(pfc={"XoffBytes": 10, "XonOffsetBytes": 11}),
        "ns3::Pfc: XonOffsetBytes is 11, more than XoffBytes, 10",
    ),
    "headroom larger than the buffer": (
        set_to(buffer_bytes=100_000),
        "of 3 ports, its buffer has 100000; raise switch.buffer or lower XoffBytes",
    ),
    "drop on no link": (
        set_to(drops=[(0, 1, 1)]),
        "drops: there is no link from node 0 to node 1 (parallel 0)",
    ),
    "drop of frame zero": (set_to(drops=[(0, 1000, 0)]), "drops: ordinal is 0, not > 0"),
    "negative option": (
        set_to(processing_delay_ps=-1),
        "ns3::Switch: ProcessingDelayPs cannot be '-1'; allowed is uint64_t"
        " 0:18446744073709551615 (From",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_input_is_said_and_the_next_run_is_right(case, capfd):
    change, message = CASES[case]
    arguments = good()
    change(arguments)
    with pytest.raises(PyorchError, match=re.escape(message)) as caught:
        run_tables(**arguments)
    assert "\n" not in str(caught.value), "one clear line"
    assert capfd.readouterr().err == "", "and nothing beside it"

    assert run_tables(**good()).fct_ps() == RIGHT_PS


def test_a_mistake_leaves_no_handler_of_crashes_behind():
    # ns-3 puts one of its own in force while it says what is wrong, and does not come back here.
    run_tables(**good())  # the engine is loaded, which sets handlers too
    handler = ctypes.CDLL(None).signal
    handler.restype = ctypes.c_void_p
    before = handler(signal.SIGSEGV, None)  # SIG_DFL
    try:
        with pytest.raises(PyorchError):
            run_tables(**good() | {"buffer_bytes": 100_000})
    finally:
        after = handler(signal.SIGSEGV, ctypes.c_void_p(before))
    assert after is None


def test_flows_that_do_not_end_are_left_open_and_not_an_error():
    arguments = good()
    arguments["stop_ps"] = RIGHT_PS - 1
    got = run_tables(**arguments)
    assert (got.flow(0)["receiver_end_ps"], got["summary"]["flows_done"][0]) == (-1, 0)
    arguments["stop_ps"] = RIGHT_PS
    assert run_tables(**arguments).fct_ps() == RIGHT_PS


def test_a_loss_ratio_in_whole_numbers_is_not_ignored():
    arguments = good()
    arguments["links"]["loss_ratio"] = np.array([1, 1, 1])
    with pytest.raises(PyorchError, match=re.escape("loss_ratio is 1, not in [0, 1)")):
        run_tables(**arguments)


def test_a_rate_in_real_numbers_is_said_to_be_one():
    arguments = good()
    arguments["links"]["rate_bps"] = arguments["links"]["rate_bps"].astype(float)
    with pytest.raises(PyorchError, match="links.*rate_bps.*whole"):
        run_tables(**arguments)


def test_tables_without_rows_are_no_mistake():
    # Random loads may draw no message, and random failures none before the end.
    none = np.zeros(0, dtype=np.int64)
    arguments = good()
    arguments["flows"] = dict.fromkeys(arguments["flows"], none)
    arguments["drops"] = ()

    got = run_tables(**arguments)

    assert got["summary"]["flows_total"].tolist() == [0]
    assert got["ports"]["sent_frames"].sum() == 0
