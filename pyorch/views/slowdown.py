# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown by message size: completion time over that of the message alone on its path.

Messages are put into classes of equally many flows by size; line: median of a class, dashed:
its 99th percentile, with its 95 % interval where a class has enough messages for one. 1 is ideal.
"""

import numpy as np
import pandas as pd

from pyorch.theory import tails
from pyorch.views._axes import MARKERS, STYLES, looks, names, outside_legend

CLASSES = 20


def draw(figure, runs):
    """Draw median and 99th percentile per class of sizes; return both."""
    ax = figure.subplots()
    parts = []
    for run, name, own in zip(runs, names(runs), looks(runs), strict=True):
        rows = by_size(run)
        style = own | {"linestyle": "-", "marker": marker_of(own), "markersize": 2.5}
        ax.plot(rows["bytes"], rows["slowdown_p50"], label=name, **style)
        ax.plot(rows["bytes"], rows["slowdown_p99"], **style | {"linestyle": "--"})
        ends = (rows["slowdown_p99_low"], rows["slowdown_p99_high"])
        ax.fill_between(rows["bytes"], *ends, color=style["color"], alpha=0.15, linewidth=0)
        parts.append(rows.assign(run=run.id))
    ax.set(xscale="log", xlabel="message size [byte]", ylabel="slowdown: median, dashed 99 %")
    if max(part["slowdown_p99"].max() for part in parts) > 10:
        ax.set(yscale="log")
    else:
        ax.set(ylim=(0, None))
    fewest, needed = min(part["n_flows"].min() for part in parts), tails.least_values(0.99)
    if fewest < needed:
        title = f"99 % of {fewest} messages a class: {needed} give it an interval"
        ax.set_title(title, size="small")
    ax.grid()
    outside_legend(ax, len(runs) if len(runs) > 1 else 0)
    return pd.concat(parts, ignore_index=True)


def marker_of(look):
    """Return the marker that stands for a line style: dashes are for the 99th percentile here."""
    line = look["linestyle"]
    return MARKERS[STYLES.index(line)] if line in STYLES else MARKERS[-1]


def by_size(run):
    """Return one row per class: largest ``bytes``, ``n_flows``, ``slowdown_{p50,p99}``, limits."""
    flows, slowdown = run._run.flows, run._run.slowdown
    order = np.argsort(flows["bytes"].to_numpy(), kind="stable")
    sizes, slowdown = flows["bytes"].to_numpy()[order], slowdown[order]
    # A size is in one class: classes end where the size changes.
    shares = np.arange(1, CLASSES + 1) / CLASSES
    largest = np.unique(np.quantile(sizes, shares, method="inverted_cdf"))
    ends = np.searchsorted(sizes, largest, side="right")
    rows = []
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        part = slowdown[begin:end]
        p50 = tails.quantile(part, 0.5).value
        rows.append((int(sizes[end - 1]), end - begin, p50, *tails.quantile(part, 0.99)))
    tail = ["slowdown_p99", "slowdown_p99_low", "slowdown_p99_high"]
    return pd.DataFrame(rows, columns=["bytes", "n_flows", "slowdown_p50", *tail])
