# SPDX-License-Identifier: GPL-2.0-only
"""All-reduce of the gradients of one layer on one rail: 87 devices, a ring, 800 Gb/s.

Ours, after [hotnets24] section 4.1: 4.97 GB of every device are reduced among 87 racks, which the
paper prints as 98.27 ms. Left: time over an ideal network, by size; bars: mean over seeds and its
95 % confidence interval (Student's t). Ranks are anywhere; packed, which the paper scale leaves
out: neighbours in the ring share a leaf. Right: the slowest message of each step over the message
alone, largest vector; a dot for each seed, lines are their means.
"""

from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"groups": "rail/collective.csv", "steps": "rail/collective_steps.csv"}
OVER, SIZE, PLACEMENT = "over_ideal", "data_bytes", "workload.placement"
RUN = ["variant", "seed", PLACEMENT, "workload.bytes"]
#: How lines of a placement look.
DASHES = {"packed": (0, (3, 1.2)), "random": "-"}


def draw(figure, groups, steps):
    """Draw time over ideal by size, and the slowest message of each step; return both."""
    import pandas as pd

    looks = figures.styles(groups[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    data = figures.over_seeds(groups, ["variant", PLACEMENT, SIZE], OVER)
    by_size, by_step = figures.panels(figure, [2.6, 2.6])
    draw_sizes(by_size, data, looks)
    ticks(by_size, groups)
    slowest = largest(steps, groups)
    draw_steps(by_step, slowest, looks)
    figures.legend(figure, [by_size], 3)
    drawn = slowest[["variant", PLACEMENT, "seed", "step", "slowest_over_alone"]]
    return pd.concat([data, drawn], ignore_index=True)


def draw_sizes(ax, data, looks):
    """Draw what the collective takes over its ideal time."""
    several = data[PLACEMENT].nunique() > 1
    for (variant, placement), points in data.groupby(["variant", PLACEMENT], sort=False):
        look, mean = looks[variant], points[f"{OVER}_mean"]
        half = points[f"{OVER}_high"] - mean
        ax.errorbar(
            points[SIZE], mean, yerr=half.where(half > 0), color=look.color, marker=look.marker,
            markersize=3.5, linestyle=DASHES[placement], linewidth=1, capsize=1.8,
            label=look.label + f", {placement}" * several,
        )  # fmt: skip
    ax.axhline(1, color="black", linestyle=":", linewidth=0.8, zorder=0)
    ax.set_ylabel("time / ideal [1]")
    ax.set_ylim(0, 1.08 * data[[f"{OVER}_mean", f"{OVER}_high"]].max().max())
    ax.grid(axis="y")


def ticks(ax, groups):
    """Write sizes below the axis, and the ideal time of each."""
    ideal_ps = groups.groupby(SIZE)["ideal_ps"].min()
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(ideal_ps.index)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(ScalarFormatter())
    ax.set_xticklabels(
        [f"{bytes_ / 1e6:,.0f} MB\n{ps / 1e9:.4g} ms" for bytes_, ps in ideal_ps.items()]
    )
    ax.set_xlabel("per device, ideal time")
    ax.margins(x=0.12)


def largest(steps, groups):
    """Return the steps of the largest vector with random ranks, over the message alone."""
    chosen = groups[(groups[SIZE] == groups[SIZE].max()) & (groups[PLACEMENT] == "random")]
    rows = steps.merge(chosen[[*RUN, "ideal_ps", "steps"]], on=RUN)
    return rows.assign(slowest_over_alone=rows["longest_ps"] * rows["steps"] / rows["ideal_ps"])


def draw_steps(ax, rows, looks):
    """Draw the slowest message of each step of each seed, and their mean."""
    for variant, points in rows.groupby("variant", sort=False):
        color = looks[variant].color
        ax.plot(points["step"], points["slowest_over_alone"], ls="", marker=".", color=color,
                markersize=2, alpha=0.6, markeredgewidth=0)  # fmt: skip
        mean = points.groupby("step")["slowest_over_alone"].mean()
        ax.plot(mean.index, mean, color=color, linewidth=0.9)
    ax.set_xlabel("step of the ring")
    ax.set_ylabel("slowest / alone [1]")
    ax.set_ylim(0, None)
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.grid(axis="y")


if __name__ == "__main__":
    figures.main(draw, NEEDS)
