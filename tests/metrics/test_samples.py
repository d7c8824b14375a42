# SPDX-License-Identifier: GPL-2.0-only
"""Metrics of samples of flows, against samples that are written down by hand."""

import re

import numpy as np
import pandas as pd
import pytest
from hand_run import measure, run_of, through

from pyorch import metrics, traces
from pyorch.errors import TraceError

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


GRAY = """
trace: {sample: 10 ns}
failures:
  - {type: scheduled, directions: [[4, 6]], at: 55 ns, loss: 0.5}
  - {type: scheduled, directions: [[7, 5]], at: 70 ns, duration: 30 ns, rate: 1 Gb/s}
"""


def test_a_direction_is_avoided_once_it_has_less_than_half_of_its_share_for_good():
    # Leaf 4 has two uplinks; that to 6 has half of the bytes until 80 ns, then a tenth. One sample
    # with nothing at 70 ns counts: all that follow together have less than a quarter too.
    own = [50, 50, 50, 50, 50, 50, 0, 50, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10]
    rows = [(10_000 * (k + 1), 4, 6, sent) for k, sent in enumerate(own)]
    rows += [(10_000 * (k + 1), 4, 7, 100 - sent) for k, sent in enumerate(own)]
    # Spine 7 sends as much to 5 as to 4, slow or not.
    rows += [(10_000 * (k + 1), 7, leaf, 40) for k in range(20) for leaf in (4, 5)]
    run = run_of([200_000, 210_000, None, 250_000], more=GRAY)
    run._tables["port_samples"] = pd.DataFrame(
        [(time, node, peer, 0, 0, sent, 0) for time, node, peer, sent in rows],
        columns=list(traces.CONTRACTS["port_samples"]),
    ).astype("Int64")

    table = measure("avoided", run)

    assert table["failed_ps"].tolist() == [55_000, 70_000]
    assert table[["node", "peer"]].to_numpy().tolist() == [[4, 6], [7, 5]]
    assert table["before_share"].tolist() == [0.5, 0.5]
    # From 60 ns on, when the first whole sample after 55 ns begins: 0, 50 and 12 times 10.
    assert table["after_share"].tolist() == pytest.approx([170 / 1400, 0.5])
    assert table["avoided_ps"].tolist() == [15_000, pd.NA]


def test_a_sender_without_samples_has_the_share_of_one_link():
    # It sent nothing, or is not among those that are sampled: leaf 4 has links to two spines.
    run = run_of([200_000, 210_000, None, 250_000], more=GRAY)
    run._tables["port_samples"] = pd.DataFrame(
        [(10_000 * (k + 1), 7, 5, 0, 0, 40, 0) for k in range(20)],
        columns=list(traces.CONTRACTS["port_samples"]),
    ).astype("Int64")

    table = measure("avoided", run)

    assert table["before_share"].tolist() == [0.5, 1]
    assert table["after_share"].isna().tolist() == [True, False]
    assert table["avoided_ps"].isna().all()


def test_a_run_in_which_nothing_fails_has_nothing_to_avoid():
    with pytest.raises(TraceError, match=re.escape("nothing fails. Write failures: [...].")):
        metrics.ask("avoided", run_of([1, 2, 3, 4], more="trace: {sample: 10 ns}"))


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
        metrics.ask("recovery", run_of([1000] * 4))
    run = run_of([1000] * 4, more="trace: {sample: 10 us}")
    run._tables["flow_samples"] = pd.DataFrame(
        [(10**7, 0, 1, 100)], columns=list(traces.CONTRACTS["flow_samples"])
    )
    run._tables["summary"] = pd.DataFrame({"now_ps": [10**7]})
    assert measure("recovery", run).empty


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


def test_throughput_needs_samples():
    with pytest.raises(TraceError, match=re.escape("Write trace: {sample: 100 ms}")):
        metrics.ask("throughput", run_of([1000] * 4))


def test_a_flow_that_ends_within_two_samples_has_no_throughput_and_spoils_no_other():
    # Flow 0 has one sample, flow 3 none; flow 1 two whole ones: 5 packets of 1084 B in 10 us.
    run = run_of([25_000_000] * 4, through(0, 6), more="trace: {sample: 10 us}")
    samples = [(10_000_000, 0, 4), (10_000_000, 1, 3), (20_000_000, 1, 5)]
    run._tables["flow_samples"] = pd.DataFrame(
        [(*sample, 1064 * sample[2]) for sample in samples],
        columns=list(traces.CONTRACTS["flow_samples"]),
    )

    rate = measure("throughput", run).set_index("flow")["throughput_bps"]

    assert rate.isna().tolist() == [True, False, True, True]
    assert rate[1] == pytest.approx(5 * 1084 * 8 / 10e-6)


def test_silence_before_the_end_of_a_flow_counts_in_its_throughput():
    # Nothing arrives from 30 to 95 us, so these samples have no rows. A third of 10 packets has
    # arrived at 10 us; from then until 90 us, the end of the last whole sample, 6 packets come.
    run = run_of([95_000_000] * 4, through(0, 6), more="trace: {sample: 10 us}")
    samples = [(10_000_000, 0, 4), (20_000_000, 0, 4), (30_000_000, 0, 2), (96_000_000, 0, 30)]
    run._tables["flow_samples"] = pd.DataFrame(
        [(*sample, 1064 * sample[2]) for sample in samples],
        columns=list(traces.CONTRACTS["flow_samples"]),
    )

    rate = measure("throughput", run)["throughput_bps"]

    assert rate[0] == pytest.approx(6 * 1084 * 8 / 80e-6)


def test_each_direction_of_a_link_that_gets_slower_is_a_failure():
    more = """
trace: {sample: 10 ns}
failures:
  - {type: scheduled, directions: [[4, 6]], at: 50 ns, duration: 100 ns, rate: 1 Gb/s}
  - {type: scheduled, directions: [[6, 4]], at: 100 ns, duration: 100 ns, rate: 1 Gb/s}
"""
    run = run_of([300_000] * 4, more=more)
    arrived = [100] * 5 + [60] * 5 + [20] * 5 + [60] * 5 + [100] * 10
    rows = [(10_000 * (k + 1), 0, 1, amount) for k, amount in enumerate(arrived)]
    run._tables["flow_samples"] = pd.DataFrame(
        rows, columns=list(traces.CONTRACTS["flow_samples"])
    ).astype("Int64")
    run._tables["summary"] = pd.DataFrame({"now_ps": [300_000]})

    table = measure("recovery", run)

    assert table["failed_ps"].tolist() == [50_000, 100_000]
    assert table["dip_share"].tolist() == pytest.approx([0.4, 2 / 3])
