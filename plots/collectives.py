# SPDX-License-Identifier: GPL-2.0-only
"""An all-reduce over its time on an ideal network, by algorithm, size and placement of its ranks.

Ours, after [hotnets24] section 4.1: 64 ranks, one per host, 800 Gb/s, the hierarchy with racks of
8. Ideal: the longest chain of messages, each alone on its path, or all bytes of the busiest host.
Packed: neighbours in a ring and ranks of a rack share a leaf; random: ranks are anywhere. With one
path for each message two of them may share a link, and the next step waits for the slower; sprayed
over all paths they do not. In the network switches add up, and a vector leaves each host once.
The ideal time is that of packed ranks. Bars: mean over seeds and its 95 % confidence interval
(Student's t).
"""

from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"groups": "collectives/collective.csv"}
OVER, SIZE, PLACEMENT = "over_ideal", "data_bytes", "workload.placement"
#: How lines of a placement look.
DASHES = {"packed": "-", "random": (0, (3, 1.2))}
UNITS = {2**10: "KiB", 2**20: "MiB", 2**30: "GiB"}


def draw(figure, groups):
    """Draw one panel per algorithm, one line per transport and placement; return the means."""
    cases = groups.drop_duplicates("case")[["case", "case_label"]].to_numpy()
    looks = figures.styles(groups[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    data = figures.over_seeds(groups, ["case", "variant", PLACEMENT, SIZE], OVER)
    axes = figures.panels(figure, [2.4] * len(cases), sharey=not figures.is_column(figure))
    for ax, (case, label) in zip(axes, cases, strict=True):
        ax.set_title(label, loc="left")
        draw_lines(ax, data[data["case"] == case], looks)
        ticks(ax, groups[(groups["case"] == case) & (groups[PLACEMENT] == "packed")])
        ax.set_ylim(0, 1.05 * data[[f"{OVER}_mean", f"{OVER}_high"]].max().max())
    for ax in axes if figures.is_column(figure) else axes[:1]:
        ax.set_ylabel("time / ideal [1]")
    figures.legend(figure, axes, 3)
    return data


def draw_lines(ax, data, looks):
    """Draw what one algorithm takes over its ideal time."""
    for (variant, placement), points in data.groupby(["variant", PLACEMENT], sort=False):
        look, mean = looks[variant], points[f"{OVER}_mean"]
        half = points[f"{OVER}_high"] - mean
        ax.errorbar(
            points[SIZE], mean, yerr=half.where(half > 0), color=look.color, marker=look.marker,
            markersize=5, markeredgewidth=0.8, linestyle=DASHES[placement], linewidth=1,
            capsize=1.8, markerfacecolor=look.color if placement == "packed" else "white",
            label=f"{look.label}, {placement}",
        )  # fmt: skip
    ax.axhline(1, color="black", linestyle=":", linewidth=0.8, zorder=0)
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.grid(axis="y")


def ticks(ax, packed):
    """Write sizes below an axis, and the ideal time of each."""
    ideal_ps = packed.groupby(SIZE)["ideal_ps"].min()
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(list(ideal_ps.index)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xticklabels(
        [f"{size(bytes_)}\n{time_ps / 1e9:.3g} ms" for bytes_, time_ps in ideal_ps.items()]
    )
    ax.set_xlabel("vector, ideal time")
    ax.margins(x=0.12)


def size(size_bytes):
    """Return a size as people call it: ``64 MiB``."""
    unit = max(unit for unit in UNITS if unit <= size_bytes)
    return f"{size_bytes / unit:g} {UNITS[unit]}"


if __name__ == "__main__":
    figures.main(draw, NEEDS)
