# SPDX-License-Identifier: GPL-2.0-only
"""What short and long messages pay for sharing a network: 99th percentile of the slowdown.

(a) Homa on its authors' network at 80 % load, by how many messages a receiver lets come at a time.
Compare with Homa (SIGCOMM 2018): short messages take at most 2.2 times as long as alone. (b) RoCEv2
on IRN's network at 70 % load (50 % is in the CSV): lossless with and without congestion control,
and IRN without PFC. Compare with IRN (SIGCOMM 2018), 6 to 83 % better than RoCE with PFC, and HPCC
(SIGCOMM 2019), up to 95 % shorter than DCQCN. Web search; each tenth of the messages, by size, has
a point at its longest one. Mean over seeds. Logarithmic axes.
"""

import pandas as pd
from matplotlib.ticker import FuncFormatter, NullFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"homa": "homa/by_size.csv", "lossless": "lossless/by_size.csv"}
LOAD, HIGHEST_LOAD = "workload.load", 0.7
HOMA_BOUND = 2.2
BYTES = ((1e6, "MB"), (1e3, "kB"), (1, "B"))


def draw(figure, homa, lossless):
    """Draw a panel for each scenario; return the mean of each point."""
    axes = figures.panels(figure, [2.6, 2.6])
    parts = []
    for ax, name, table, title in (
        (axes[0], "homa", homa, "(a) Homa, 80 % load"),
        (axes[1], "lossless", lossless, "(b) RoCEv2, 70 % load"),
    ):
        keys = ["variant", *([LOAD] if LOAD in table else []), "tenth"]
        sizes = table.groupby(keys, sort=False)["largest_bytes"].mean().reset_index()
        points = figures.over_seeds(table, keys, "slowdown_p99").merge(sizes, on=keys)
        parts.append(points.assign(series=name))
        shown = points[points[LOAD] == HIGHEST_LOAD] if LOAD in points else points
        draw_panel(ax, table, shown)
        ax.set_title(title, loc="left")
    axes[0].axhline(
        HOMA_BOUND, color="black", linestyle=":", linewidth=1, label="Homa, published bound"
    )  # fmt: skip
    axes[0].set_ylabel("p99 slowdown [1]")
    figures.legend(figure, axes, 3)
    return pd.concat(parts, ignore_index=True)


def draw_panel(ax, table, points):
    """Draw a line for each variant."""
    pairs = table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    for variant, look in figures.styles(list(pairs)).items():
        own = points[points["variant"] == variant]
        ax.plot(
            own["largest_bytes"], own["slowdown_p99_mean"], marker=look.marker, color=look.color,
            linestyle=look.dashes, linewidth=1, markersize=3.5, label=look.label,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="message size, up to")
    top = 1.3 * points["slowdown_p99_mean"].max()
    ax.set_ylim(1, top)
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 30, 50, 100) if tick <= top]
    ax.set_yticks(ticks, [f"{tick}" for tick in ticks])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(FuncFormatter(size_text))
    ax.grid(axis="y")


def size_text(value, _):
    """Return a size with the largest unit that it has."""
    least, unit = next(pair for pair in BYTES if value >= pair[0] or pair[0] == 1)
    return f"{value / least:g} {unit}"


if __name__ == "__main__":
    figures.main(draw, NEEDS)
