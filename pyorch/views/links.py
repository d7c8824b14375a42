# SPDX-License-Identifier: GPL-2.0-only
"""Load of the links over time: share of its rate that each link has sent since the sample before.

Framing counts. Of one run the links that carry most, and the mean of all that carry anything; of
several runs the mean of each.
"""

import pandas as pd

from pyorch.views._axes import LINK, draw_series, moments, names, over_time, per_period
from pyorch.views.queues import top


def draw(figure, runs):
    """Draw loads over time; return them."""
    ax = figure.subplots()
    parts = []
    for run, name in zip(runs, names(runs), strict=True):
        samples = loads(run)
        times = moments(run, samples)
        busy = samples[samples["sent_bytes"] > 0]
        mean = over_time(busy, "load_share", times)
        mean["load_share"] /= max(1, busy.groupby(LINK).ngroups)
        what = "mean of all links in use"
        parts.append(mean.assign(run=run.id, series=what if len(runs) == 1 else name))
        if len(runs) == 1:
            busiest = top(busy, "load_share", times, by="sum")
            parts += [part.assign(run=run.id) for part in busiest]
    table = pd.concat(parts, ignore_index=True)[["run", "series", "time_ps", "load_share"]]
    draw_series(ax, table, "load_share", 100, runs)
    ax.set(ylabel="link load [%]" if len(runs) == 1 else "mean load of links in use [%]")
    return table


def loads(run):
    """Return the samples of the ports of a run with ``load_share``."""
    samples = run.port_samples.astype("int64")
    rates = run.ports[[*LINK, "rate_bps"]].astype("int64")
    samples = samples.merge(rates, on=LINK, how="left", validate="many_to_one")
    period_ps = per_period(samples, moments(run, samples))
    share = samples["sent_bytes"] * 8e12 / (period_ps * samples["rate_bps"])
    return samples.assign(load_share=share)
