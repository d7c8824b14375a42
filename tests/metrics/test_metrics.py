# SPDX-License-Identifier: GPL-2.0-only
"""Every metric against hand-computed tables; and no number where a flow is missing."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyorch import metrics, plugins, spec, traces
from pyorch.errors import TraceError
from pyorch.spec.scenario import parse_scenario

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
#: 2 leaves x 2 hosts x 2 spines: hosts 0-3, leaves 4 and 5, spines 6 and 7.
TEXT = """\
name: hand
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 40 kB}
transport: {type: ns3::RoceTransport, attributes: {MtuBytes: 1000, HeaderBytes: 64, RethBytes: 0}}
stop: 20 ms
"""
#: 40 packets of 1000 + 64 + 20 B at 10 ps/B: 10 840 ps each.
PACKET_PS, N_PACKETS = 10_840, 40
TRANSFER_PS = N_PACKETS * PACKET_PS
#: Four links of 500 ns, and three more packet times of store-and-forward.
UNLOADED_PS = TRANSFER_PS + 3 * PACKET_PS + 4 * 500_000
#: 40 ACKs of 66 + 20 B.
ACKS_PS = N_PACKETS * 860


def run_of(ends_ps, paths=(), ports=None, more=""):
    """Four flows i -> (i + 2) % 4 that end as given; `paths` are rows of the paths table."""
    resolved = spec.plan(parse_scenario(TEXT + more, "hand.yaml"), typeids_file=TYPEIDS)[0].spec
    flows = {name: [0] * 4 for name in traces.CONTRACTS["flows"]} | {
        "flow": [0, 1, 2, 3], "src": [0, 1, 2, 3], "dst": [2, 3, 0, 1], "bytes": [40_000] * 4,
        "receiver_end_ps": ends_ps,
    }  # fmt: skip
    given = ports or {
        "dropped_buffer_frames": [2], "dropped_loss_frames": [3], "pause_frames_sent": [5]
    }  # fmt: skip
    n_ports = len(next(iter(given.values())))
    ports = {name: [0] * n_ports for name in traces.CONTRACTS["ports"]} | given
    rows = pd.DataFrame(list(paths), columns=list(traces.CONTRACTS["paths"]))
    wire = {"transport": [0], "mtu_bytes": [1000], "header_bytes": [64], "first_header_bytes": [0],
            "ack_bytes": [66], "ack_interval_packets": [1]}  # fmt: skip
    tables = {"flows": flows, "ports": ports, "paths": rows, "transports": wire}
    frames = {name: pd.DataFrame(table).astype("Int64") for name, table in tables.items()}
    return metrics.RunTables(resolved, "results/hand/s1", frames)


def measure(name, run):
    return plugins.load("pyorch.metrics", name).measure(run)


def through(flow, spine):
    """The path of flow i -> (i + 2) % 4 by a spine."""
    src, dst = flow, (flow + 2) % 4
    stops = [src, 4 + src // 2, spine, 4 + dst // 2, dst]
    return [(flow, hop, a, b, 0) for hop, (a, b) in enumerate(zip(stops, stops[1:], strict=False))]


def test_fct_quantiles_are_values_of_flows():
    table = measure("fct", run_of([40, 10, 30, 20])).set_index("quantile_share")["fct_ps"]

    assert (table[0.0], table[0.25], table[0.26], table[0.5], table[1.0]) == (10, 10, 20, 20, 40)


def test_slowdown_is_one_for_a_flow_that_takes_as_long_as_alone():
    row = measure("slowdown", run_of([UNLOADED_PS] * 3 + [3 * UNLOADED_PS])).iloc[0]

    assert row["unloaded_fct_ps"] == UNLOADED_PS
    assert row["optimal_fct_ps"] == UNLOADED_PS + ACKS_PS
    assert (row["slowdown_p50"], row["slowdown_p100"], row["slowdown_mean"]) == (1.0, 3.0, 1.5)
    assert row["over_optimal_p100"] == 3 * UNLOADED_PS / (UNLOADED_PS + ACKS_PS)
    assert (row["dropped_frames"], row["pause_frames"]) == (5, 5)


def test_messages_are_sorted_by_size_into_classes_of_as_many(monkeypatch):
    run = run_of([n * UNLOADED_PS for n in (4, 1, 6, 3)])
    run.flows["bytes"] = [50_000, 40_000, 60_000, 40_000]
    run.idle_ps = run.idle_ps.assign(unloaded_fct_ps=UNLOADED_PS)

    assert measure("by_size", run)["tenth"].tolist() == [1, 3, 6, 8]  # four of ten have one
    monkeypatch.setattr("pyorch.metrics.by_size.CLASSES", 2)
    short, long = measure("by_size", run).itertuples()
    assert (short.n_flows, short.largest_bytes, long.largest_bytes) == (2, 40_000, 60_000)
    assert (short.slowdown_mean, short.slowdown_p50, short.slowdown_p99) == (2.0, 1.0, 3.0)
    assert (long.slowdown_mean, long.slowdown_p50, long.slowdown_p99) == (5.0, 4.0, 6.0)


def test_completion_is_the_last_delivery_over_what_the_bytes_need():
    # Two messages leave each leaf by two uplinks: the bound is that of one alone.
    ports = {"node": [0, 4, 6], "max_queue_bytes": [9_000, 3_000, 5_000]}

    row = measure("completion", run_of([UNLOADED_PS] * 3 + [2 * UNLOADED_PS], ports=ports)).iloc[0]

    assert (row["completion_ps"], row["bound_ps"]) == (2 * UNLOADED_PS, UNLOADED_PS)
    assert (row["over_bound"], row["max_queue_bytes"]) == (2.0, 5_000)  # node 0 is a host


def test_a_fluid_flow_alone_takes_exactly_the_unloaded_time():
    # Up by different spines from each leaf, so no link carries two flows.
    paths = [*through(0, 6), *through(1, 7), *through(2, 6), *through(3, 7)]
    row = measure("fluid", run_of([2 * UNLOADED_PS] * 4, paths)).iloc[0]

    assert row["fluid_p100_ps"] == pytest.approx(UNLOADED_PS, abs=1)
    assert row["most_flows_on_link"] == 1
    assert row["most_loaded_link_ps"] == TRANSFER_PS
    assert row["over_fluid_p100"] == pytest.approx(2.0)


def test_two_fluid_flows_on_one_uplink_take_one_transfer_longer():
    # 0 and 1 share leaf 4 -> spine 6 -> leaf 5; 2 and 3 are alone.
    paths = [*through(0, 6), *through(1, 6), *through(2, 6), *through(3, 7)]
    row = measure("fluid", run_of([UNLOADED_PS] * 3 + [3 * UNLOADED_PS], paths)).iloc[0]

    assert row["fluid_p100_ps"] == pytest.approx(UNLOADED_PS + TRANSFER_PS, abs=1)
    assert row["fluid_p50_ps"] == pytest.approx(UNLOADED_PS, abs=1)
    assert row["most_flows_on_link"] == 2
    # Measured: three as if alone, one three times that. Two of the fluid ones: one transfer more.
    fluid_mean_ps = UNLOADED_PS + TRANSFER_PS / 2
    assert row["over_fluid_mean"] == pytest.approx(1.5 * UNLOADED_PS / fluid_mean_ps)


def test_the_slowest_flow_waited_for_bytes_for_pauses_or_for_nothing():
    # Flow 1 is last, after 2 us, and the run ends after 2.5 us. Of its links only those it shares
    # with flow 0 carry two flows: leaf 4 -> spine 6 is the first. It sent 40 000 B at 10 ps/B, was
    # paused for 1 us, and had nothing to send for the rest. Links between switches: paused for 1,
    # 0, 0.2 us; hosts' do not count, nor does the other direction of the link.
    paths = [*through(0, 6), *through(1, 6), *through(2, 6), *through(3, 7)]
    ports = {
        "node": [4, 6, 4, 1], "peer": [6, 4, 7, 4], "rate_bps": [800 * 10**9] * 4,
        "sent_bytes": [40_000, 7, 7, 7], "paused_ps": [1_000_000, 0, 200_000, 900_000],
    }  # fmt: skip
    run = run_of([500_000, 2_000_000, 300_000, 300_000], paths, ports)
    run._tables["summary"] = pd.DataFrame({"now_ps": [2_500_000]})
    row = measure("slowest", run).iloc[0]

    assert (row["flow"], row["fct_ps"], row["link_hop"], row["link_flows"]) == (1, 2_000_000, 1, 2)
    assert row["fluid_ps"] == pytest.approx(UNLOADED_PS + TRANSFER_PS, abs=1)
    assert row["link_load_ps"] == 2 * TRANSFER_PS
    shares = row[["busy_share", "paused_share", "starved_share"]].tolist()
    assert shares == pytest.approx([0.16, 0.4, 0.44])
    assert row["fabric_paused_share"] == pytest.approx(0.16)


def test_a_sprayed_run_has_no_fluid_rows():
    assert measure("fluid", run_of([1] * 4)).empty
    assert measure("fluid_draws", run_of([1] * 4)).empty
    assert measure("slowest", run_of([1] * 4)).empty


def test_fluid_draws_are_the_two_possible_cases_and_repeatable():
    # Two flows of a leaf share an uplink (or a downlink) or they do not: the slowest takes one or
    # two transfers.
    run = run_of([1] * 4, through(0, 6))
    table = measure("fluid_draws", run)

    assert len(table) >= 20
    transfers = (table["fluid_p100_ps"] - UNLOADED_PS) / TRANSFER_PS
    assert set(np.round(transfers, 6)) == {0.0, 1.0}
    pd.testing.assert_frame_equal(table, measure("fluid_draws", run))


@pytest.mark.parametrize("name", plugins.names("pyorch.metrics"))
def test_an_unfinished_flow_is_an_error_not_a_gap(name):
    message = "1 of 4 flows did not finish; raise 'stop' (now 20 ms)"
    if name in ("fluid_draws", "monitoring", "pause_trees", "recovery"):
        pytest.skip("needs no flow to finish")
    with pytest.raises(TraceError, match=re.escape(message)):
        measure(name, run_of([1, 2, 3, None], through(0, 6)))


def test_a_collected_table_says_which_run_each_row_is_of(tmp_path):
    runs = spec.plan(
        parse_scenario(TEXT + "sweep: {seed: [1, 2], link.delay: [1 ns]}", "hand.yaml"),
        typeids_file=TYPEIDS,
    )
    for run in runs:
        folder = tmp_path / run.folder
        folder.mkdir(parents=True)
        for name in ("flows", "ports", "paths"):
            table = run_of([9] * 4).table(name)
            columns = {column: table[column].fillna(-1).to_numpy("int64") for column in table}
            traces.write_table(folder, name, columns)

    table = metrics.collect("fct", runs, tmp_path)
    metrics.write_csv(table, tmp_path / "fct.csv")

    assert list(table.columns) == [
        "scenario", "scale", "variant", "label", "seed", "run", "link.delay", "quantile_share",
        "fct_ps",
    ]  # fmt: skip
    assert table["run"].unique().tolist() == [run.id for run in runs]
    assert (tmp_path / "fct.csv").read_text().splitlines()[1].endswith(",0,9")


def test_a_missing_table_names_its_run(tmp_path):
    runs = spec.plan(parse_scenario(TEXT, "hand.yaml"), typeids_file=TYPEIDS)
    with pytest.raises(TraceError, match=f"fct: .*{runs[0].id}: this run of hand is not made"):
        metrics.collect("fct", runs, tmp_path)


def test_a_message_dealt_out_over_planes_is_done_when_its_busiest_port_is():
    # 10 packets of 100 bytes, the last of 1 byte. Over 3 ports: 4 rounds, the last round has only
    # packet 10, of 1 byte: 301. Over 4: rounds of 4, 4, 2 with a full packet in the last: 300.
    from pyorch.metrics._run import busiest_port_bytes

    assert [busiest_port_bytes(901, 100, ports) for ports in (1, 3, 4, 10, 20)] == [
        901, 301, 300, 100, 100
    ]  # fmt: skip
    assert busiest_port_bytes(7, 100, 4) == 7


def test_pauses_go_back_to_the_link_that_was_merely_busy():
    # Spine 6 cannot get rid of frames for leaf 5, pauses leaf 4, which pauses its hosts. Later
    # leaf 5 is full because of host 2, at another priority; and host 0 is paused once more, after
    # the pause of its uplink has ended, so for the uplink itself.
    rows = [
        # sent, start, end, node, peer, parallel, priority, toward, toward_parallel
        (100, 110, 200, 4, 6, 0, 3, 5, 0),
        (120, 130, 180, 0, 4, 0, 3, 6, 0),
        (200, 210, pd.NA, 1, 4, 0, 3, 6, 0),  # the very ps at which the pause of the uplink ends
        (150, 160, 190, 6, 5, 0, 5, 2, 0),
        (199, 230, 240, 0, 4, 0, 3, 6, 0),
        (150, 170, 175, 0, 4, 0, 5, 6, 0),  # not held back at this priority
    ]
    run = run_of([1000] * 4)
    run.spec["trace"]["pauses"] = True
    run._tables["pauses"] = pd.DataFrame(rows, columns=list(traces.CONTRACTS["pauses"])).astype(
        "Int64"
    )
    run._tables["summary"] = pd.DataFrame({"now_ps": [500]})

    found = measure("pause_trees", run).to_dict("records")

    names = ("priority", "node", "peer", "parallel", "pauses", "direct_pauses", "depth", "links",
             "hosts", "paused_ps")  # fmt: skip
    assert found == [
        dict(zip(names, row, strict=True))
        for row in [
            (3, 4, 6, 0, 1, 1, 1, 1, 1, 290),
            (3, 6, 5, 0, 3, 1, 2, 2, 1, 90 + 50 + 10),
            (5, 5, 2, 0, 1, 1, 1, 1, 0, 30),
            (5, 4, 6, 0, 1, 1, 1, 1, 1, 5),
        ]
    ]


def test_pause_trees_need_a_log():
    with pytest.raises(TraceError, match=re.escape("Write trace: {pauses: true}")):
        measure("pause_trees", run_of([1000] * 4))


FAILURES = """
trace: {sample: 10 ns}
failures:
  - {type: scheduled, links: [[4, 7]], at: 3 ns, duration: 1 ns}
  - {type: scheduled, links: [[6, 4]], at: 145 ns, duration: 20 ns, every: 60 ns, times: 2}
  - {type: scheduled, links: [[5, 7]], at: 145 ns, duration: 15 ns, rate: 400 Gb/s}
  - {type: scheduled, switches: [6], at: 303 ns, rate: 1 Gb/s}
"""


def test_recovery_is_read_off_the_samples_of_all_flows_together():
    # Bytes of all flows in each sample of 10 ns. The first 10 ns of the run are before any whole
    # sample; the three after that are more than ten samples before the failure at 145 ns.
    arrived = [0, 1000, 1000, 1000, *[100] * 10]
    # 145 ns: two links; the worst sample has 40 of 100, and after 89 it is 95 that is back, 190 ns.
    arrived += [100, 91, 40, 89, 95, 100]
    # 205 ns: from 165 ns on (89 + 95 + 100) / 3 = 94.7; nothing comes, then 85, which is 89.8 %.
    arrived += [100, 0, 50, *[85] * 7]
    # 303 ns: two links of the spine, at 4 and 5, get slower, and nothing is missed. The first flow
    # ends at 325 ns, so what follows is no dip.
    arrived += [85, 85, 10, 0]
    samples = [
        (10_000 * (k + 1), flow, 1, amount)
        for k, total in enumerate(arrived)
        for flow, amount in ((0, total // 3), (2, total - total // 3))
        if amount
    ]
    samples.append((344_000, 0, 1, 5000))  # the last of the run, and no whole one
    ports = {
        "node": [4, 6, 5, 4, 7], "peer": [6, 4, 7, 7, 4],
        "dropped_loss_frames": [3, 5, 0, 20, 0], "dropped_link_down_frames": [4, 0, 1, 0, 30],
        "dropped_buffer_frames": [99] * 5,
    }  # fmt: skip
    run = run_of([325_000, 340_000, None, 330_000], ports=ports, more=FAILURES)
    run._tables["flow_samples"] = pd.DataFrame(
        samples, columns=list(traces.CONTRACTS["flow_samples"])
    ).astype("Int64")
    run._tables["summary"] = pd.DataFrame({"now_ps": [344_000]})

    table = measure("recovery", run)

    per_byte_bps = 8e12 / 10_000
    assert table["failed_ps"].tolist() == [3_000, 145_000, 205_000, 303_000]
    assert table["failed_links"].tolist() == [1, 2, 1, 2]
    assert table["lost_frames"].tolist() == [50, 13, 12, 12]
    before = np.array([np.nan, 100, 284 / 3, 85]) * per_byte_bps
    assert table["before_bps"].tolist() == pytest.approx(before.tolist(), nan_ok=True)
    assert table["dip_share"].tolist() == pytest.approx([np.nan, 0.6, 1, 0], nan_ok=True)
    assert table["recovery_ps"].tolist() == [pd.NA, 45_000, pd.NA, 0]


def test_the_load_lasts_until_the_last_flow_has_started():
    # As long as flows start nobody can tell by the end of one that there is less to do.
    run = run_of([40_000, None, None, None], more=FAILURES.replace("3 ns", "50 ns"))
    run._tables["flows"]["start_ps"] = [0, 0, 0, 80_000]
    rows = [(10_000 * k, 0, 1, 100) for k in range(1, 6)] + [(80_000, 0, 1, 100)]
    run._tables["flow_samples"] = pd.DataFrame(
        rows, columns=list(traces.CONTRACTS["flow_samples"])
    ).astype("Int64")
    run._tables["summary"] = pd.DataFrame({"now_ps": [90_000]})

    row = measure("recovery", run).iloc[0]

    assert (row["failed_ps"], row["dip_share"], row["recovery_ps"]) == (50_000, 1, 30_000)


def test_recovery_needs_samples_and_a_run_without_failures_has_no_rows():
    with pytest.raises(TraceError, match=re.escape("Write trace: {sample: 10 us}")):
        measure("recovery", run_of([1000] * 4))
    run = run_of([1000] * 4, more="trace: {sample: 10 us}")
    run._tables["flow_samples"] = pd.DataFrame(
        [(10**7, 0, 1, 100)], columns=list(traces.CONTRACTS["flow_samples"])
    )
    run._tables["summary"] = pd.DataFrame({"now_ps": [10**7]})
    assert measure("recovery", run).empty


@pytest.mark.parametrize("name", ["fluid", "fluid_draws", "slowest"])
def test_links_that_change_leave_no_fluid_value(name):
    run = run_of([1000] * 4, [*through(0, 6), *through(1, 6), *through(2, 6), *through(3, 7)])
    run._tables["summary"] = pd.DataFrame({"now_ps": [2000]})
    run.inputs["link_events"] = {"time_ps": np.array([1])}
    with pytest.raises(TraceError, match="links change during this run"):
        measure(name, run)


def test_starts_that_only_a_run_decides_cannot_be_drawn():
    run = run_of([1000] * 4, through(0, 6))
    run.inputs["dependencies"] = {"flow": np.array([1])}
    with pytest.raises(TraceError, match="flows wait for others"):
        measure("fluid_draws", run)


def test_counters_of_flows_and_ports_are_added_up_over_all_of_them():
    ports = {"dropped_buffer_frames": [2, 1], "dropped_loss_frames": [3, 4],
             "pause_frames_sent": [5, 6]}  # fmt: skip
    run = run_of([UNLOADED_PS] * 4, ports=ports)
    run.table("flows")["retransmitted_packets"] = [7, 0, 11, 2]
    run.table("flows")["timeouts"] = [1, 1, 0, 3]

    row = measure("slowdown", run).iloc[0]

    assert (row["retransmitted_packets"], row["timeouts"]) == (20, 5)
    assert (row["dropped_frames"], row["pause_frames"]) == (10, 11)


def test_throughput_is_counted_from_a_third_of_the_packets_on_in_whole_samples():
    # Flow 0, by links of 500 ns at 800 Gb/s: of 60 packets 20 are there after 30 us, when 6 of the
    # 40 that follow come each 10 us, and the last 4 within a sample that is not whole.
    counts = [12, 4, 4, 6, 6, 6, 6, 6, 6]
    samples = [(10_000_000 * (k + 1), 0, n, 1064 * n) for k, n in enumerate(counts)]
    samples += [(96_000_000, 0, 4, 4256), (90_000_000, 1, 3, 3192), (80_000_000, 1, 3, 3192)]
    samples += [(10_000_000 * k, flow, 1, 1064) for flow in (2, 3) for k in (1, 2, 3)]
    # 30 of 1000 frames lost up from leaf 4, 10 of 970 with a bit error down to leaf 5.
    ports = {
        "node": [0, 4, 4, 6, 6, 5, 5, 2], "peer": [4, 0, 6, 4, 5, 6, 2, 5],
        "sent_frames": [1000, 9, 1000, 9, 970, 9, 960, 9],
        "dropped_loss_frames": [0, 0, 0, 30, 0, 0, 0, 0],
        "dropped_corrupt_frames": [0, 0, 7, 0, 0, 10, 0, 0],
    }  # fmt: skip
    run = run_of([95_000_000] * 4, through(0, 6), ports, more="trace: {sample: 10 us}")
    run._tables["flow_samples"] = pd.DataFrame(
        samples, columns=list(traces.CONTRACTS["flow_samples"])
    ).astype("Int64")

    table = measure("throughput", run)

    row = table.iloc[0]
    # The sample at 30 us brings the count to 20 of 56; then 36 packets of 1084 B in 60 us.
    assert row["throughput_bps"] == pytest.approx(36 * 1084 * 8 / 60e-6)
    assert row["link_share"] == pytest.approx(36 * 1084 * 8 / 60e-6 / 800e9)
    assert row["rtt_ps"] == 4_000_000
    assert row["window_packets"] == pytest.approx(36 * 4 / 60)
    # Lost on the ways in: 30 at spine 6 from 4 (row 6, 4), 10 at leaf 5 from 6 (row 5, 6).
    assert row["lost_share"] == pytest.approx(1 - 0.97 * (1 - 10 / 970))
    assert table["lost_share"].isna().tolist() == [False, True, True, True]


def test_throughput_needs_samples_and_several_of_them():
    with pytest.raises(TraceError, match=re.escape("Write trace: {sample: 100 ms}")):
        measure("throughput", run_of([1000] * 4))
    run = run_of([15_000_000] * 4, more="trace: {sample: 10 us}")
    run._tables["flow_samples"] = pd.DataFrame(
        [(10_000_000, 0, 4, 4256)], columns=list(traces.CONTRACTS["flow_samples"])
    )
    with pytest.raises(TraceError, match="flow 0 ends within two samples. Sample more often"):
        measure("throughput", run)
