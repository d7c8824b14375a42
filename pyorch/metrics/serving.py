# SPDX-License-Identifier: GPL-2.0-only
"""How long do requests wait for their first token and for each other one, and what is exposed?"""

import pandas as pd

from pyorch.errors import TraceError
from pyorch.metrics._run import RunTables, remedy
from pyorch.serving import DECODE, PREFILL
from pyorch.spec.resolved import Spec, Workload
from pyorch.theory import tails

_PS_PER_S = 1e12
_COLUMNS = (
    "workload", "requests", "requests_per_s", "ttft_mean_ps", "ttft_p50_ps", "ttft_p99_ps",
    "ttft_p99_low_ps", "ttft_p99_high_ps", "tpot_mean_ps", "tpot_p50_ps", "tpot_p99_ps",
    "tpot_p99_low_ps", "tpot_p99_high_ps", "transfer_mean_ps", "prefill_exposed_share",
    "decode_exposed_share",
)  # fmt: skip


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can.

    One of several jobs alone may have nothing to say.
    """
    if any(map(_answers, spec.workload)) or spec.jobs and spec.jobs.only is not None:
        return ""
    return "no workload of this run answers requests. Ask for completion or slowdown instead."


def _answers(load: Workload) -> bool:
    return hasattr(load.module, "served")


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per workload that answers requests.

    Returns
    -------
    DataFrame
        ``workload``, ``requests``; ``requests_per_s``: over the time from the first arrival to the
        last token; ``ttft_mean_ps``, ``ttft_p50_ps``, ``ttft_p99_ps``: from the arrival of a
        request to its first token; ``tpot_mean_ps``, ``tpot_p50_ps``, ``tpot_p99_ps``: from there
        to its last token, for each token but the first, <NA> if all have one;
        ``{ttft,tpot}_p99_{low,high}_ps``: 95 % interval of that quantile, <NA> where an end is
        beyond the values that so few requests have;
        ``transfer_mean_ps``: of keys and values, <NA> if there is none; ``prefill_exposed_share``,
        ``decode_exposed_share``: of the time of these batches, in which a device computes nothing,
        the mean [1].

    Raises
    ------
    TraceError
        A request has not its last token.
    """
    rows = []
    for index, load in enumerate(run.spec.workload):
        if _answers(load):
            requests, batches = (_own(run.table(name), index) for name in ("requests", "batches"))
            _check_answered(run, requests)
            rows.append({"workload": index, **_row(requests, batches)})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _own(table: pd.DataFrame, workload: int) -> pd.DataFrame:
    return table[table["workload"] == workload]


def _check_answered(run: RunTables, requests: pd.DataFrame) -> None:
    if unfinished := int(requests["last_token_ps"].isna().sum()):
        raise TraceError(
            f"{run.folder}/requests.parquet: {unfinished} of {len(requests)} requests have not"
            f" their last token; {remedy(run.spec)}."
        )


def _row(requests: pd.DataFrame, batches: pd.DataFrame) -> dict[str, object]:
    """Return what is said of one workload."""
    lasted_ps = requests["last_token_ps"].max() - requests["arrival_ps"].min()
    ttft_ps = requests["first_token_ps"] - requests["arrival_ps"]
    several = requests[requests["answer_tokens"] > 1]
    tpot_ps = (several["last_token_ps"] - several["first_token_ps"]) / (
        several["answer_tokens"] - 1
    )
    transfers = requests["transfer_end_ps"] - requests["transfer_start_ps"]
    return {
        "requests": len(requests),
        "requests_per_s": len(requests) / (int(lasted_ps) / _PS_PER_S),
        **_summary("ttft", ttft_ps),
        **_summary("tpot", tpot_ps),
        "transfer_mean_ps": _rounded(transfers.mean()),
        "prefill_exposed_share": _exposed(batches[batches["phase"] == PREFILL]),
        "decode_exposed_share": _exposed(batches[batches["phase"] == DECODE]),
    }


def _summary(name: str, times_ps: pd.Series) -> dict[str, object]:
    """Return mean, median and 99th percentile with its interval [ps]; nothing of no requests."""
    columns = [f"{name}_{what}_ps" for what in ("mean", "p50", "p99", "p99_low", "p99_high")]
    if not len(times_ps):
        return dict.fromkeys(columns, pd.NA)
    times = times_ps.to_numpy(float)
    tail = tails.quantile(times, 0.99)
    values = times.mean(), tails.quantile(times, 0.5).value, tail.value, tail.low, tail.high
    return dict(zip(columns, map(_rounded, values), strict=True))


def _rounded(value) -> object:
    return pd.NA if pd.isna(value) else round(float(value))


def _exposed(batches: pd.DataFrame) -> object:
    """Return the share of batches in which a device computes nothing."""
    lasted_ps = (batches["end_ps"] - batches["start_ps"]).sum()
    if not len(batches) or not lasted_ps:
        return pd.NA
    return 1 - float(batches["compute_ps"].sum()) / float(lasted_ps)
