# SPDX-License-Identifier: GPL-2.0-only
"""Times of requests and batches that are written by hand, and what the metric says of them."""

from types import SimpleNamespace

import pandas as pd
import pytest

from pyorch import metrics
from pyorch.errors import TraceError
from pyorch.metrics import serving


def run(requests, batches, jobs=None):
    """Return a run of a workload that answers nothing, and one that has answered these."""
    loads = (SimpleNamespace(module=SimpleNamespace()), _service())
    tables = {
        "requests": pd.DataFrame(
            [(1, i, *row) for i, row in enumerate(requests)],
            columns=["workload", "request", "arrival_ps", "answer_tokens", "first_token_ps",
                     "transfer_start_ps", "transfer_end_ps", "last_token_ps"], dtype="Int64",
        ),
        "batches": pd.DataFrame(
            [(1, *row) for row in batches],
            columns=["workload", "phase", "start_ps", "end_ps", "compute_ps"], dtype="Int64",
        ),
    }  # fmt: skip
    spec = SimpleNamespace(workload=loads, jobs=jobs, stop_ps=10**9, failures=())
    return SimpleNamespace(spec=spec, table=tables.__getitem__, folder="there")


def _service():
    return SimpleNamespace(module=SimpleNamespace(served=None))


def test_times_by_hand():
    # Two requests: 100 and 300 until the first token; (500 - 100) / 4 and none until each other;
    # they are through 2000 after the first has come. A quantile is a time that a request had.
    requests = [(0, 5, 100, 110, 140, 500), (1700, 1, 2000, None, None, 2000)]
    batches = [(0, 0, 100, 60), (1, 110, 140, 0), (2, 140, 500, 90), (0, 1700, 2000, 140)]

    (row,) = serving.measure(run(requests, batches)).to_dict("records")

    # Two values lie below a 99th percentile but for 2 %, and nothing says how far it is above them.
    assert all(pd.isna(row.pop(f"{time}_p99_high_ps")) for time in ("ttft", "tpot"))
    assert row == {
        "workload": 1, "requests": 2, "requests_per_s": 2 / 2000e-12,
        "ttft_mean_ps": 200, "ttft_p50_ps": 100, "ttft_p99_ps": 300, "ttft_p99_low_ps": 300,
        "tpot_mean_ps": 100, "tpot_p50_ps": 100, "tpot_p99_ps": 100, "tpot_p99_low_ps": 100,
        "transfer_mean_ps": 30,
        "prefill_exposed_share": 1 - 200 / 400, "decode_exposed_share": 1 - 90 / 360,
    }  # fmt: skip


def test_the_99th_percentile_has_an_interval():
    # 1000 requests of 1 to 1000 ps. Of so many draws 983 to 996 lie up to the quantile, but for a
    # chance of 0.025 at each end (binomial sums); the smallest and the next above these enclose it.
    requests = [(0, 3, end, None, None, 3 * end) for end in range(1, 1001)]
    (row,) = serving.measure(run(requests, [(0, 0, 7, 7)])).to_dict("records")

    for name in ("ttft", "tpot"):
        assert (row[f"{name}_p99_low_ps"], row[f"{name}_p99_high_ps"]) == (983, 997)
        assert (row[f"{name}_p50_ps"], row[f"{name}_p99_ps"]) == (500, 990)


def test_what_does_not_exist_is_empty():
    (row,) = serving.measure(run([(0, 1, 7, None, None, 7)], [(0, 0, 7, 7)])).to_dict("records")

    assert row["prefill_exposed_share"] == 0
    empty = ("tpot_mean_ps", "tpot_p99_low_ps", "tpot_p99_high_ps", "ttft_p99_high_ps",
             "transfer_mean_ps", "decode_exposed_share")  # fmt: skip
    assert all(pd.isna(row[name]) for name in empty)


def test_a_request_without_its_last_token_is_an_error():
    with pytest.raises(TraceError, match="1 of 2 requests have not their last token; raise 'stop'"):
        serving.measure(run([(0, 1, 7, None, None, 7), (0, 1, 7, None, None, None)], []))


def test_a_job_alone_that_answers_nothing_has_no_row():
    alone = SimpleNamespace(
        spec=SimpleNamespace(
            workload=(SimpleNamespace(module=SimpleNamespace()),), jobs=SimpleNamespace(only=0)
        )
    )
    assert len(serving.measure(alone)) == 0
    alone.spec.jobs = None
    with pytest.raises(TraceError, match="no workload of this run answers requests"):
        metrics.ask("serving", alone)
