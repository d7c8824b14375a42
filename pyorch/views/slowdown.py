# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown by message size: completion time over that of the message alone on its path.

Messages are put into classes of equally many flows by size; line: median of a class, dashed:
its 99th percentile. 1 is ideal.
"""

import numpy as np
import pandas as pd

from pyorch.views._axes import COLORS, MARKERS, look, names, outside_legend

CLASSES = 20


def draw(figure, runs):
    """Draw median and 99th percentile per class of sizes; return both."""
    ax = figure.subplots()
    parts = []
    for place, (run, name) in enumerate(zip(runs, names(runs), strict=True)):
        rows = by_size(run)
        marker = MARKERS[place // len(COLORS) % len(MARKERS)]
        style = look(place) | {"linestyle": "-", "marker": marker, "markersize": 2.5}
        ax.plot(rows["bytes"], rows["slowdown_p50"], label=name, **style)
        ax.plot(rows["bytes"], rows["slowdown_p99"], **style | {"linestyle": "--"})
        parts.append(rows.assign(run=run.id))
    ax.set(xscale="log", xlabel="message size [byte]", ylabel="slowdown: median, dashed 99 %")
    if max(part["slowdown_p99"].max() for part in parts) > 10:
        ax.set(yscale="log")
    else:
        ax.set(ylim=(0, None))
    ax.grid()
    outside_legend(ax, len(runs) if len(runs) > 1 else 0)
    return pd.concat(parts, ignore_index=True)


def by_size(run):
    """Return one row per class: largest ``bytes``, ``n_flows``, ``slowdown_{p50,p99}``."""
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
        p50, p99 = np.quantile(part, [0.5, 0.99], method="inverted_cdf")
        rows.append((int(sizes[end - 1]), end - begin, p50, p99))
    return pd.DataFrame(rows, columns=["bytes", "n_flows", "slowdown_p50", "slowdown_p99"])
