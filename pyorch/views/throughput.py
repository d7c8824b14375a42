# SPDX-License-Identifier: GPL-2.0-only
"""Rate at which data comes to the receivers over time, with headers and copies, without framing.

Of one run the flows that receive most at any moment, and the mean of all receivers; of several
runs that mean alone.
"""

import pandas as pd

from pyorch.views._axes import MOST_LINES, draw_series, moments, names, over_time, per_period


def draw(figure, runs):
    """Draw rates over time; return them."""
    ax = figure.subplots()
    parts = []
    for run, name in zip(runs, names(runs), strict=True):
        samples = run.flow_samples.astype("int64")
        times = moments(run, samples)
        rate_bps = samples["arrived_bytes"] * 8e12 / per_period(samples, times)
        samples = samples.assign(rate_bps=rate_bps)
        n_receivers = run.flows["dst"].nunique()
        mean = over_time(samples, "rate_bps", times)
        mean["rate_bps"] /= n_receivers
        what = f"mean of {n_receivers} receivers" if n_receivers > 1 else "the receiver"
        parts.append(mean.assign(run=run.id, series=what if len(runs) == 1 else name))
        if len(runs) == 1:
            parts += [part.assign(run=run.id) for part in _fastest(samples, times)]
    table = pd.concat(parts, ignore_index=True)[["run", "series", "time_ps", "rate_bps"]]
    draw_series(ax, table, "rate_bps", 1e-9, runs)
    ax.set(ylabel="received [Gb/s]" if len(runs) == 1 else "mean of the receivers [Gb/s]")
    return table


def _fastest(samples, times):
    peaks = samples.groupby("flow")["rate_bps"].max().nlargest(MOST_LINES - 1, keep="first")
    for flow in sorted(peaks.index):
        rows = samples[samples["flow"] == flow]
        yield over_time(rows, "rate_bps", times).assign(series=f"flow {flow}")
