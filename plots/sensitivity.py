# SPDX-License-Identifier: GPL-2.0-only
"""What buffers, thresholds and windows each do to the slowest flow of a permutation.

Ours, round [hotnets24] figure 5: one thing changed at a time, same seeds, so the same permutation
and the same paths as the base (dotted line). Over the max-min fluid value of these paths, so that
seeds do not differ by the luck of the draw: the slowest flow over the slowest of the fluid, the
mean over the mean of the fluid, so the two are not to be compared with each other. Bars: mean of
the seeds, 95 % confidence interval (Student's t); an arrow where it reaches beyond the axis.
"""

import pandas as pd
from matplotlib.ticker import FixedLocator, NullFormatter, ScalarFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"fluid": "sensitivity/fluid.csv"}
#: Base of each group; the names of its variants begin with it.
GROUPS = ("rocev2", "rocev2_irn")
SLOWEST, MEAN, OVER_BASE = "over_fluid_p100", "over_fluid_mean", "over_base"
ROW_INCHES = 0.155
#: Left end of the axis.
LEAST = 0.9
#: Where a logarithmic axis has numbers, by how far it reaches [1].
TICKS = {
    1.7: (0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6), 4: (1, 1.5, 2, 2.5, 3),
    1e9: (1, 2, 5, 10, 20, 50, 100),
}  # fmt: skip


def draw(figure, fluid):
    """Draw one row per variant, RoCEv2 on the left, best effort on the right."""
    fluid = with_base(fluid)
    data = summary(fluid)
    counts = data.groupby("group", sort=False).size()
    column = figures.is_column(figure)
    axes = figures.panels(figure, [0.95 + ROW_INCHES * counts[group] for group in GROUPS])
    for ax, group in zip(axes, GROUPS, strict=True):
        rows = data[data["group"] == group].reset_index(drop=True)
        draw_group(ax, rows, fluid, figures.style(group))
        ax.set_ylim((counts[group] if column else counts.max()) - 0.4, -0.6)
    figures.legend(figure, axes[:1], 4)
    return data


def draw_group(ax, rows, fluid, look):
    """Draw the rows of one group, a line through its base, and one where another thing changes."""
    mean, low, high = (rows[f"{SLOWEST}_{end}"] for end in ("mean", "low", "high"))
    ax.axvline(mean[0], color=look.color, linestyle=":", linewidth=0.8, zorder=0)
    for row, line in rows.iterrows():
        seeds = fluid.loc[fluid["variant"] == line["variant"], SLOWEST]
        ax.plot(
            seeds, [row] * len(seeds), look.marker, color=look.color, markersize=2.2, alpha=0.45,
            markeredgewidth=0,
            label=None if row else "slowest flow / slowest of the fluid, each seed",
        )  # fmt: skip
        if row and factor(line) != factor(rows.iloc[row - 1]):
            ax.axhline(row - 0.5, color="#dddddd", linewidth=0.5, zorder=0)
        ax.annotate(
            line["label"], (0, row), xytext=(-4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="center", fontsize=6.5,
        )  # fmt: skip
    several = rows["n_seeds"].max() > 1
    # An interval may reach below any completion time; the axis does not.
    ax.errorbar(
        mean, rows.index, xerr=[(mean - low).clip(upper=mean - LEAST), high - mean],
        color=look.color, fmt=look.marker, markersize=3.8, elinewidth=0.9, capsize=1.8,
        label="its mean and 95 % CI" if several else "one seed",
    )  # fmt: skip
    beyond = rows.index[low < LEAST]
    ax.plot([1.005 * LEAST] * len(beyond), beyond, "<", color=look.color, markersize=3.5)
    ax.plot(
        rows[f"{MEAN}_mean"], rows.index, "|", color="black", markersize=5.5,
        label="mean flow / mean of the fluid",
    )  # fmt: skip
    of_seeds = fluid.loc[fluid["group"] == rows["group"][0], SLOWEST]
    most = 1.04 * pd.concat([high, of_seeds]).max()  # one seed has no interval
    ax.set_xscale("log")
    ax.set(xlabel="FCT / max-min fluid [1]", xlim=(LEAST, most), yticks=[])
    ticks = next(numbers for reach, numbers in TICKS.items() if most <= reach)
    ax.set_xticks([tick for tick in ticks if tick <= most])
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.xaxis.set_minor_locator(FixedLocator([tick / 10 for tick in range(9, 30)]))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_title(look.label, loc="left")
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)


def with_base(fluid):
    """Return the table with the group of each run, and the slowest flow beside that of its base.

    Both are over the fluid value, which knows of headers and of the length of a message.
    """
    group = fluid["variant"].map(lambda name: max(g for g in GROUPS if name.startswith(g)))
    base = fluid.set_index(["variant", "seed"])[SLOWEST]
    of_base = base.loc[list(zip(group, fluid["seed"], strict=True))].to_numpy()
    return fluid.assign(group=group, **{OVER_BASE: fluid[SLOWEST] / of_base})


def summary(fluid):
    """Return one row per variant: means over the seeds and their intervals."""
    by = ["group", "variant", "label"]
    first, *more = (figures.over_seeds(fluid, by, column) for column in (SLOWEST, MEAN, OVER_BASE))
    return pd.concat([first, *(part.drop(columns=[*by, "n_seeds"]) for part in more)], axis=1)


def factor(line):
    """Return what a variant changes: the first word after the name of its base."""
    return line["variant"].removeprefix(line["group"]).split("_")[1:2]


if __name__ == "__main__":
    figures.main(draw, NEEDS)
