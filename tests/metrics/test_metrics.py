# SPDX-License-Identifier: GPL-2.0-only
"""Every metric against hand-computed tables; and no number where a flow is missing."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hand_run import ACKS_PS, TEXT, TRANSFER_PS, TYPEIDS, UNLOADED_PS, measure, run_of, through

from pyorch import metrics, plugins, spec, traces
from pyorch.errors import TraceError
from pyorch.spec.resolved import Spec, Typed, Workload
from pyorch.spec.scenario import parse_scenario


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


def test_the_99th_percentile_of_messages_has_an_interval():
    # 1000 messages take 1 to 1000 ps, each 2 ps alone. Of so many draws 983 to 996 lie up to the
    # quantile, but for a chance of 0.025 at each end (binomial sums). Of four as few as three do,
    # and nothing is known above.
    def row(n):
        run = SimpleNamespace(
            flows=pd.DataFrame({"start_ps": 0, "receiver_end_ps": np.arange(1, n + 1)}),
            first_parts=np.full(n, -1),
            idle_ps=pd.DataFrame({"unloaded_fct_ps": np.full(n, 2)}),
        )
        return measure("messages", run).iloc[0]

    many, few = row(1000), row(4)
    for name, unit, scale in (("fct", "_ps", 1), ("slowdown", "", 0.5)):
        ends = [many[f"{name}_p99{end}{unit}"] for end in ("_low", "", "_high")]
        assert ends == [983 * scale, 990 * scale, 997 * scale]
        assert few[f"{name}_p99_low{unit}"] == 3 * scale
        assert pd.isna(few[f"{name}_p99_high{unit}"])
        assert few[f"{name}_p99{unit}"] == 4 * scale


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


def test_the_slowest_flow_of_a_network_without_links_between_switches_has_no_share_of_them():
    # Alone on each of its links: of equal loads the first, the one of its host, is taken.
    paths = [*through(0, 6), *through(1, 7), *through(2, 6), *through(3, 7)]
    ports = {"node": [1], "peer": [4], "rate_bps": [800 * 10**9], "sent_bytes": [40_000],
             "paused_ps": [1_000_000]}  # fmt: skip
    run = run_of([500_000, 2_000_000, 300_000, 300_000], paths, ports)
    run._tables["summary"] = pd.DataFrame({"now_ps": [2_500_000]})
    row = measure("slowest", run).iloc[0]

    assert (row["link_hop"], row["paused_share"]) == (0, 0.4)
    assert math.isnan(row["fabric_paused_share"])


def test_a_run_with_a_controller_can_be_asked_for_it_and_no_other():
    refusal = plugins.load("pyorch.metrics", "wan_control").refusal

    def spec_of(*controls):
        loads = [single, *(SimpleNamespace(control=control) for control in controls)]
        loads = [Workload.model_construct(type="x", params=params) for params in loads]
        return Spec.model_construct(workload=loads)

    single = SimpleNamespace(source=0)
    assert refusal(spec_of(SimpleNamespace(controller="max_min"))) == ""
    for controls in ([], [None], [SimpleNamespace(controller=None)]):
        assert refusal(spec_of(*controls)).startswith("no controller has looked at it.")


def test_a_sprayed_run_has_no_fluid_rows():
    assert measure("fluid", run_of([1] * 4)).empty
    assert measure("fluid_draws", run_of([1] * 4)).empty
    assert measure("slowest", run_of([1] * 4)).empty


def test_flows_on_one_path_beside_sprayed_ones_are_not_drawn():
    with pytest.raises(TraceError, match="some flows are sprayed"):
        measure("fluid_draws", run_of([TRANSFER_PS] * 4, [*through(0, 6), *through(1, 6)]))


def test_fluid_draws_are_the_two_possible_cases_and_repeatable():
    # Two flows of a leaf share an uplink (or a downlink) or they do not: the slowest takes one or
    # two transfers.
    run = run_of([1] * 4, [hop for flow in range(4) for hop in through(flow, 6)])
    table = measure("fluid_draws", run)

    assert len(table) >= 20
    transfers = (table["fluid_p100_ps"] - UNLOADED_PS) / TRANSFER_PS
    assert set(np.round(transfers, 6)) == {0.0, 1.0}
    pd.testing.assert_frame_equal(table, measure("fluid_draws", run))


@pytest.mark.parametrize("name", plugins.names("pyorch.metrics"))
def test_an_unfinished_flow_is_an_error_not_a_gap(name):
    message = "1 of 4 flows did not finish; raise 'stop' (now 20 ms)"
    if name in ("avoided", "by_network", "fluid_draws", "monitoring", "pause_trees", "recovery",
                "serving", "wan_control"):  # fmt: skip
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


def test_pauses_go_back_to_the_link_that_was_merely_busy():
    # Spine 6 cannot get rid of frames for leaf 5, pauses leaf 4, which pauses its hosts. Later
    # leaf 5 is full because of host 2, at another priority; and host 0 is paused once more, after
    # the pause of its uplink has ended, so for the uplink itself.
    rows = [
        # sent, start, end, node, peer, parallel, priority, toward, congested_parallel
        (100, 110, 200, 4, 6, 0, 3, 5, 0),
        (120, 130, 180, 0, 4, 0, 3, 6, 0),
        (200, 210, pd.NA, 1, 4, 0, 3, 6, 0),  # the very ps at which the pause of the uplink ends
        (150, 160, 190, 6, 5, 0, 5, 2, 0),
        (199, 230, 240, 0, 4, 0, 3, 6, 0),
        (150, 170, 175, 0, 4, 0, 5, 6, 0),  # not held back at this priority
    ]
    run = run_of([1000] * 4)
    trace = run.spec.trace.model_copy(update={"pauses": True})
    run.spec = run.spec.model_copy(update={"trace": trace})
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


def test_pause_trees_need_a_log_that_names_links():
    run = run_of([1000] * 4)
    with pytest.raises(TraceError, match=re.escape("Write trace: {pauses: true}")):
        metrics.ask("pause_trees", run)

    trace = run.spec.trace.model_copy(update={"pauses": True})
    credits = run.spec.link.model_copy(
        update={"flow_control": Typed(type="ns3::CreditFlowControl")}
    )
    run.spec = run.spec.model_copy(update={"trace": trace, "link": credits})
    with pytest.raises(TraceError, match="links have credits"):
        metrics.ask("pause_trees", run)


def test_a_pause_that_names_no_link_belongs_to_no_tree():
    never, columns = pd.NA, list(traces.CONTRACTS["pauses"])
    rows = [(100, 110, 200, 4, 6, 0, 3, 5, 0), (never, 120, 130, 0, 4, 0, 3, never, never)]
    run = run_of([1000] * 4)
    trace = run.spec.trace.model_copy(update={"pauses": True})
    run.spec = run.spec.model_copy(update={"trace": trace})
    run._tables["pauses"] = pd.DataFrame(rows, columns=columns).astype("Int64")
    run._tables["summary"] = pd.DataFrame({"now_ps": [500]})

    found = measure("pause_trees", run)

    assert found[["node", "peer", "pauses", "paused_ps"]].values.tolist() == [[6, 5, 1, 90]]


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
