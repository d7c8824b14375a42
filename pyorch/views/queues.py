# SPDX-License-Identifier: GPL-2.0-only
"""Egress queues over time: the ports with the longest queues, and the longest at each moment.

From samples, so what happens between two of them is not seen.
"""

import pandas as pd

from pyorch.views._axes import (
    LINK,
    MOST_LINES,
    draw_series,
    link_names,
    moments,
    names,
    over_time,
    size_unit,
)  # fmt: skip


def draw(figure, runs):
    """Draw the ports of one run, or the longest queue of each of several; return it."""
    ax = figure.subplots()
    parts = []
    for run, name in zip(runs, names(runs), strict=True):
        samples = run.port_samples.astype("int64")
        times = moments(run, samples)
        peaks = samples.groupby("time_ps", as_index=False)["queue_bytes"].max()
        label = "longest queue" if len(runs) == 1 else name
        parts.append(over_time(peaks, "queue_bytes", times).assign(run=run.id, series=label))
        if len(runs) == 1:
            parts += [part.assign(run=run.id) for part in top(samples, "queue_bytes", times)]
    table = pd.concat(parts, ignore_index=True)[["run", "series", "time_ps", "queue_bytes"]]
    size, n_bytes = size_unit(table["queue_bytes"].max())
    draw_series(ax, table, "queue_bytes", 1 / n_bytes, runs)
    ax.set(ylabel=f"{'longest ' * (len(runs) > 1)}egress queue [{size}]")
    return table


def top(samples, column, times, by="max"):
    """Yield the links with the largest values over time, each with its name."""
    totals = samples.groupby(LINK, as_index=False)[column].agg(by)
    totals = totals[totals[column] > 0].nlargest(MOST_LINES - 1, column, keep="first")
    for name, link in zip(link_names(totals), totals[LINK].to_numpy().tolist(), strict=True):
        chosen = samples[(samples[LINK] == link).all(axis=1)]
        yield over_time(chosen, column, times).assign(series=name)
