# SPDX-License-Identifier: GPL-2.0-only
"""What would a monitor see that asks every port less often, and what would it miss?"""

import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.metrics.recovery import refusal

__all__ = ["measure", "refusal"]

#: Intervals of a monitor, in samples of the run.
TIMES = (1, 10, 100, 1000)
PORT = ["node", "peer", "parallel"]
PS_BITS = 8e12


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per interval, from the samples of the run: `TIMES` of them, if there are.

    Counters of bytes are read at the end of each interval, queues as they are then.

    Returns
    -------
    DataFrame
        ``interval_ps``; ``peak_share``: the busiest link in its busiest whole interval, of its rate
        [1]; ``full_share``: of the whole intervals of links that send, those at 95 % or more [1];
        ``seen_queue_bytes``: deepest queue found; ``max_queue_bytes``: deepest there was, of the
        same ports; ``missed_share``: of the latter what was not seen [1]. <NA>: nothing is sent,
        or no queue there was.

    Raises
    ------
    TraceError
        The run has no samples: `trace` lacks ``sample``.
    """
    period_ps = run.spec.trace.sample_ps
    samples = run.table("port_samples").astype("int64")
    ports = run.table("ports").set_index(PORT)[["rate_bps", "max_queue_bytes"]].astype("int64")
    samples = samples.join(ports["rate_bps"], on=PORT)
    whole = int(run.table("summary")["now_ps"].iloc[0]) // period_ps
    sampled = samples[PORT].drop_duplicates()
    deepest = ports.loc[pd.MultiIndex.from_frame(sampled), "max_queue_bytes"].max()
    rows = [
        _row(samples, period_ps, times, whole // times, deepest)
        for times in TIMES
        if whole >= times
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[
        "interval_ps", "peak_share", "full_share", "seen_queue_bytes", "max_queue_bytes",
        "missed_share",
    ])  # fmt: skip


def _row(samples: pd.DataFrame, period_ps: int, times: int, whole: int, deepest: int) -> dict:
    """Return what is seen in `whole` intervals of so many samples each."""
    interval_ps = period_ps * times
    index = (samples["time_ps"] + interval_ps - 1) // interval_ps  # the interval it ends in, from 1
    inside = samples[index <= whole].assign(index=index)
    read_bytes = inside.groupby([*PORT, "rate_bps", "index"])["sent_bytes"].sum()
    rates = read_bytes.index.get_level_values("rate_bps").astype("float64")
    shares = read_bytes * PS_BITS / (rates * interval_ps)
    links = inside.loc[inside["sent_bytes"] > 0, PORT].drop_duplicates()
    polled = inside.loc[inside["time_ps"] % interval_ps == 0, "queue_bytes"]
    seen = int(polled.max()) if len(polled) else 0
    return {
        "interval_ps": interval_ps,
        "peak_share": shares.max(),
        "full_share": (shares >= 0.95).sum() / (len(links) * whole) if len(links) else None,
        "seen_queue_bytes": seen,
        "max_queue_bytes": deepest,
        "missed_share": 1 - seen / deepest if deepest else None,
    }
