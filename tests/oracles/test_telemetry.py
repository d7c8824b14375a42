# SPDX-License-Identifier: GPL-2.0-only
"""Samples and pause logs say what the closed forms say, and watching changes nothing."""

import numpy as np
import pandas as pd
import pytest
from oracle_network import GBPS, MS_PS, NEVER, US_PS, Flows, Network, leaf_spine, run, star

from pyorch.metrics import RunTables, pause_trees
from pyorch.spec.resolved import Link, Spec, Trace

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80  # 8 / (100 Gb/s)
MTU = 4096
FRAME = MTU + 62
FRAME_PS = (FRAME + 20) * BYTE_PS
DELAY_PS = 500_000
ROCE = ("ns3::RoceTransport", {"RethBytes": 0})
LINK = ["node", "peer", "parallel"]


def rows_of(got, table, node, peer):
    """Return the rows of one direction of a link, column by column."""
    columns = got[table]
    here = (columns["node"] == node) & (columns["peer"] == peer)
    return {name: values[here] for name, values in columns.items()}


def totals(columns, value, keys):
    """Return the sum of a column for each combination of keys, where it is not zero."""
    found: dict[tuple, int] = {}
    for *key, amount in zip(*(columns[k] for k in keys), columns[value], strict=True):
        key = tuple(int(part) for part in key)
        found[key] = found.get(key, 0) + int(amount)
    return {key: amount for key, amount in found.items() if amount}


def congested():
    """Return a leaf-spine with an incast through two tiers: queues, pauses on several links."""
    network = leaf_spine(3, 3, 2, RATE, DELAY_PS)
    flows = Flows()
    for src in range(1, 9):
        flows.add(src, 0, 40 * MTU, start_ps=src * 1000)
    flows.add(0, 8, 30 * MTU)
    return network, flows


def test_a_queue_grows_by_a_frame_per_frame_time():
    # Hosts 1 and 2 send to host 0 from time 0. At DELAY + k FRAME_PS two frames are in for the
    # k-th time and the k-th begins to leave: k wait.
    period = 3 * FRAME_PS + 7_777
    flows = Flows()
    for host in (1, 2):
        flows.add(host, 0, 60 * MTU)
    got = run(star(3, RATE, DELAY_PS), flows, [ROCE], sample_ps=period)
    samples = rows_of(got, "port_samples", 1000, 0)

    arriving = samples["time_ps"] < DELAY_PS + 60 * FRAME_PS
    frames = np.maximum(samples["time_ps"] - DELAY_PS, 0) // FRAME_PS
    assert arriving.sum() > 15
    assert samples["queue_bytes"][arriving].tolist() == (frames[arriving] * FRAME).tolist()
    begun = np.diff(frames[arriving], prepend=0)
    assert samples["sent_bytes"][arriving].tolist() == (begun * (FRAME + 20)).tolist()
    assert (samples["time_ps"][:-1] % period == 0).all()


@pytest.mark.parametrize("period", [777_777, 10 * US_PS])
def test_sums_of_samples_are_the_totals_of_the_run(period):
    network, flows = congested()
    got = run(
        network, flows, [ROCE], pfc={"XoffBytes": 30_000, "XonOffsetBytes": 5_000},
        sample_ps=period, arrivals=True,
    )  # fmt: skip

    samples, ports = got["port_samples"], got["ports"]
    assert totals(samples, "sent_bytes", LINK) == totals(ports, "sent_bytes", LINK)
    assert totals(samples, "paused_ps", LINK) == totals(ports, "paused_ps", LINK)
    assert ports["paused_ps"].sum() > 0, "without pauses this says little"
    in_period = np.diff(np.unique(np.append(samples["time_ps"], 0))).max()
    assert samples["paused_ps"].max() <= in_period
    arrived = got["arrivals"]
    by_flow = dict(zip(*np.unique(arrived["flow"], return_counts=True), strict=True))
    assert totals(got["flow_samples"], "arrived_packets", ["flow"]) == {
        (int(flow),): int(n) for flow, n in by_flow.items()
    }


def test_rates_of_flows_are_the_arrivals_of_each_period():
    network, flows = congested()
    period = 2 * US_PS
    got = run(network, flows, [ROCE], sample_ps=period, arrivals=True)

    arrived = got["arrivals"]
    # A sample at k periods counts what came up to then: an arrival belongs to the next multiple.
    last = int(got["summary"]["now_ps"][0])
    end = np.minimum(-(-arrived["time_ps"] // period) * period, last)
    expected: dict[tuple, int] = {}
    for key in zip(end.tolist(), arrived["flow"].tolist(), strict=True):
        expected[key] = expected.get(key, 0) + 1
    assert totals(got["flow_samples"], "arrived_packets", ["time_ps", "flow"]) == expected
    per_packet = got["flow_samples"]["arrived_bytes"] / got["flow_samples"]["arrived_packets"]
    assert (per_packet == FRAME).all()


def test_watching_changes_nothing():
    network, flows = congested()
    pfc = {"XoffBytes": 30_000, "XonOffsetBytes": 5_000}
    plain = run(network, flows, [ROCE], pfc=pfc)
    watched = run(network, flows, [ROCE], pfc=pfc, sample_ps=100_000, pauses=True, arrivals=True)

    assert set(watched.tables) - set(plain.tables) == {
        "arrivals", "flow_samples", "pauses", "port_samples"
    }  # fmt: skip
    for name, columns in plain.tables.items():
        for column, values in columns.items() if name != "process" else ():
            assert (watched[name][column] == values).all(), (name, column)


def test_only_the_nodes_asked_for_are_sampled():
    network, flows = congested()
    all_of_them = run(network, flows, [ROCE], sample_ps=US_PS)["port_samples"]
    some = run(network, flows, [ROCE], sample_ps=US_PS, sampled=[0, 10_000])["port_samples"]

    here = np.isin(all_of_them["node"], [0, 10_000])
    assert 0 < here.sum() < len(here)
    assert {name: values[here].tolist() for name, values in all_of_them.items()} == {
        name: values.tolist() for name, values in some.items()
    }


def test_a_long_silence_has_no_rows():
    # A second of nothing at a nanosecond per sample: one row each would be 10^9.
    flows = Flows()
    flows.add(1, 0, MTU)
    flows.add(1, 0, MTU, start_ps=10**12)
    got = run(star(2, RATE, DELAY_PS), flows, [ROCE], sample_ps=1000, stop_ps=2 * 10**12)

    assert got["flows"]["receiver_end_ps"].tolist() == [
        start + 2 * (FRAME_PS + DELAY_PS) for start in (0, 10**12)
    ]
    assert len(got["port_samples"]["time_ps"]) == 2 * 4  # two links out, two links back


def test_pauses_are_logged_to_the_picosecond():
    network, flows = congested()
    got = run(
        network, flows, [ROCE], pfc={"XoffBytes": 30_000, "XonOffsetBytes": 5_000},
        pauses=True,
    )  # fmt: skip
    pauses = got["pauses"]

    assert len(pauses["start_ps"]) > 20 and (pauses["end_ps"] > pauses["start_ps"]).all()
    assert (pauses["priority"] == 3).all()
    pauses["length_ps"] = pauses["end_ps"] - pauses["start_ps"]
    assert totals(pauses, "length_ps", LINK) == totals(got["ports"], "paused_ps", LINK)
    # PAUSE and RESUME take turns, and each pause has one of either.
    pauses["frames"] = np.full(len(pauses["start_ps"]), 2)
    assert totals(pauses, "frames", LINK) == totals(got["ports"], "pause_frames_received", LINK)


def test_credits_that_ran_out_name_neither_a_word_nor_a_link():
    # A switch sends nothing when an egress of its peer is full: the peer counts its own credits.
    network, flows = congested()
    got = run(network, flows, [ROCE], link_control="ns3::CreditFlowControl", pauses=True)
    pauses = got["pauses"]

    assert len(pauses["start_ps"]) > 20
    for never in ("sent_ps", "congested_peer", "congested_parallel"):
        assert set(pauses[never].tolist()) == {-1}
    pauses["length_ps"] = pauses["end_ps"] - pauses["start_ps"]
    assert totals(pauses, "length_ps", LINK) == totals(got["ports"], "paused_ps", LINK)


def test_a_pause_names_where_the_frames_could_not_go():
    # 1, 2, 3 - 100 - 101 - 0, with a last link of a tenth of the rate: 101 holds 100 back because
    # of the link to 0, then 100 holds the hosts back because of the link to 101.
    network = Network(hosts=[0, 1, 2, 3], switches=[(100, 1), (101, 1)])
    for host in (1, 2, 3):
        network.link(host, 100, RATE, DELAY_PS)
    network.link(100, 101, RATE, DELAY_PS)
    network.link(0, 101, RATE // 10, DELAY_PS)
    flows = Flows()
    for host in (1, 2, 3):
        flows.add(host, 0, 200 * MTU)
    got = run(network, flows, [ROCE], pfc={"XoffBytes": 30_000}, pauses=True)
    pauses = got["pauses"]

    links = set(
        zip(*(pauses[name].tolist() for name in ("node", "peer", "congested_peer")), strict=True)
    )
    assert links == {(100, 101, 0), (1, 100, 101), (2, 100, 101), (3, 100, 101)}
    assert (pauses["sent_ps"] < pauses["start_ps"]).all()
    first = {peer: pauses["start_ps"][pauses["peer"] == peer].min() for peer in (100, 101)}
    assert first[101] < first[100]


def test_a_cut_ends_the_pause_of_its_link():
    # The congested link is held back when it is cut for good at 30 us.
    network = Network(hosts=[0, 1, 2], switches=[(100, 1), (101, 1)])
    for host in (1, 2):
        network.link(host, 100, RATE, DELAY_PS)
    network.link(100, 101, RATE, DELAY_PS)
    network.link(0, 101, RATE // 10, DELAY_PS)
    flows = Flows()
    for host in (1, 2):
        flows.add(host, 0, 400 * MTU)
    cut_ps = 30 * US_PS
    got = run(
        network, flows, [ROCE], pfc={"XoffBytes": 30_000, "XonOffsetBytes": 20_000},
        link_events=[(cut_ps, 100, 101, 0)], pauses=True, stop_ps=MS_PS,
    )  # fmt: skip
    held = rows_of(got, "pauses", 100, 101)

    assert held["start_ps"][-1] < cut_ps and held["end_ps"][-1] == cut_ps
    assert (got["pauses"]["end_ps"] != NEVER).all()
    assert got.port(100, 101)["paused_ps"] == (held["end_ps"] - held["start_ps"]).sum()


def test_a_chain_of_pauses_leads_back_to_the_busy_link():
    # As above: everything goes back to the link from 101 to 0, over 100 - 101, to three hosts.
    network = Network(hosts=[0, 1, 2, 3], switches=[(100, 1), (101, 1)])
    for host in (1, 2, 3):
        network.link(host, 100, RATE, DELAY_PS)
    network.link(100, 101, RATE, DELAY_PS)
    network.link(0, 101, RATE // 10, DELAY_PS)
    flows = Flows()
    for host in (1, 2, 3):
        flows.add(host, 0, 200 * MTU)
    got = run(network, flows, [ROCE], pfc={"XoffBytes": 30_000}, pauses=True)
    frames = {name: pd.DataFrame(got[name]) for name in ("pauses", "summary")}
    link, trace = Link(rate_bps=RATE, delay_ps=DELAY_PS), Trace(nodes=[], pcap=[], pauses=True)
    tables = RunTables(Spec.model_construct(link=link, trace=trace), "", frames)
    tables.inputs = {"nodes": network.nodes_table()}

    trees = pause_trees.measure(tables).set_index(["node", "peer"])

    busy = trees.loc[(101, 0)]
    assert (busy["depth"], busy["links"], busy["hosts"]) == (2, 4, 3)
    # Three hosts at full rate fill what is left of the link 100 - 101 too, when it is not held.
    assert set(trees.index) <= {(101, 0), (100, 101)}
    assert trees["paused_ps"].sum() == got["ports"]["paused_ps"].sum()
