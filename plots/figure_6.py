# SPDX-License-Identifier: GPL-2.0-only
"""Slowest of synchronised 2 MB transfers, by the share of hosts that send and by transport.

Compare with [hotnets24] figure 6: same quantity, 2 MB over links of 100 Gb/s; the hosts and the
network are ours, and the paper prints no numbers in its text. Shares stand at equal distances, and
the symbols of a share beside each other. (a) Those that reach 1.5 times the optimum, logarithmic
axis. On one path per transfer the tail is the collisions of the draw at any load: the max-min fluid
value of the runs' own paths stands beside it; the CSV also has the ratio for each run. The band is
all the others. (b) These, over the optimum. Symbols: mean over seeds; dots: seeds; bars: 95 %
confidence interval of the mean (Student's t), cut where they leave the panel.
"""

import numpy as np
import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "figure_6/slowdown.csv", "fluid": "figure_6/fluid.csv"}
PS_PER_US = 1e6
ACTIVE = "workload.active"
NEAR = 1.5  # times the optimum, at all shares: drawn in a panel of their own
#: Part of the distance between two shares over which the symbols of one are spread.
SPREAD = 0.72
TICKS_US = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]


def draw(figure, slowdown, fluid):
    """Draw tail against active share, a line for each transport."""
    measured = slowdown.assign(
        fct_us=slowdown["slowest_fct_ps"] / PS_PER_US, over_optimal=slowdown["over_optimal_p100"]
    )
    ideal = fluid.assign(fct_us=fluid["fluid_p100_ps"] / PS_PER_US)
    shares = sorted(slowdown[ACTIVE].unique())
    place = {share: at for at, share in enumerate(shares)}
    placed = measured.assign(at=measured[ACTIVE].map(place))
    means = measured.groupby(["variant", ACTIVE])["over_optimal"].mean()
    is_near = placed["variant"].map(means.groupby("variant").max() < NEAR)
    near, far = placed[is_near], placed[~is_near]
    looks = figures.styles(variants(measured))
    ax, *further = figures.panels(figure, [3.2, 3.2] if len(near) else [3.4])
    draw_far(ax, far, near, ideal.assign(at=ideal[ACTIVE].map(place)), looks)
    for panel in further:
        draw_near(panel, near, looks)
    for panel in (ax, *further):
        panel.set(xlabel="active hosts [%]", xlim=(-0.5, len(shares) - 0.5))
        panel.set_xticks(range(len(shares)), [f"{100 * share:.4g}" for share in shares])
        panel.tick_params(axis="x", length=0)
        for border in range(1, len(shares)):
            panel.axvline(border - 0.5, color="#dddddd", linewidth=0.4, zorder=0)
        panel.minorticks_off()
        panel.yaxis.set_major_formatter("{x:.4g}")
        panel.grid(axis="y")
    if slowdown["seed"].nunique() > 1:
        add_keys(ax)
    figures.legend(figure, [ax, *further], 4)
    return table_of(measured, ideal)


def add_keys(ax):
    """Add what symbols with bars and what dots are to the legend; nothing is drawn."""
    nothing = [np.nan]
    ax.errorbar(
        nothing, nothing, yerr=nothing, marker="o", color="#666666", linewidth=0.6,
        markersize=3.5, elinewidth=0.8, capsize=1.5, label="mean, 95 % CI",
    )  # fmt: skip
    ax.plot([], [], ".", color="#666666", markersize=3, alpha=0.6, label="a seed")


def draw_far(ax, far, near, ideal, looks):
    """Draw times of the transports far from the optimum, their fluid value, and it."""
    measured = pd.concat([far, near])
    first = measured["variant"] == next(iter(looks))  # headers of others may be longer
    optimal = measured.loc[first, "optimal_fct_ps"].max() / PS_PER_US
    ax.axhline(
        optimal, color="black", linestyle=":", linewidth=1, zorder=0,
        label=f"{figures.style('optimal').label} ({optimal:.3g} us)",
    )  # fmt: skip
    if len(ideal):
        draw_fluid(ax, ideal)
    names = list(dict.fromkeys(far["variant"]))
    highest = draw_names(ax, far, "fct_us", names, looks)
    if len(near):
        mean = near.groupby(["variant", "at"])["fct_us"].mean().groupby("at")
        ax.fill_between(
            mean.min().index, mean.min(), mean.max(), color=figures.style("sprayed").color,
            alpha=0.35, linewidth=0, label="those of (b)",
        )  # fmt: skip
    size_mb = measured["largest_message_bytes"].max() / 1e6
    most = max(measured["fct_us"].max(), 2 * optimal)
    top = max(1.15 * most, min(1.05 * highest, 2 * most))  # no seed is cut, an interval may be
    ax.set(
        yscale="log", ylim=(0.8 * optimal, top),
        ylabel=f"slowest of {size_mb:.4g} MB transfers [us]",
    )  # fmt: skip
    ax.set_yticks([tick for tick in TICKS_US if 0.8 * optimal <= tick <= top])
    if len(near):
        ax.set_title("(a) far from the optimum", loc="left")


def draw_near(ax, near, looks):
    """Draw the transports near the optimum, over it."""
    names = list(dict.fromkeys(near["variant"]))
    draw_names(ax, near, "over_optimal", names, looks)
    ax.axhline(1, color="black", linestyle=":", linewidth=1, zorder=0)
    ax.set(ylim=(0.98, 1.02 * near["over_optimal"].max()), ylabel="over optimal [1]")
    ax.set_title("(b) near the optimum", loc="left")


def draw_names(ax, table, value, names, looks):
    """Draw transports beside each other; return the highest end of an interval, or 0."""
    highest = 0
    for place, name in enumerate(names):
        shift = SPREAD * (place - (len(names) - 1) / 2) / len(names)
        runs = table[table["variant"] == name]
        highest = max(highest, draw_seeds(ax, runs, value, looks[name], shift))
    return highest


def draw_seeds(ax, runs, value, look, shift):
    """Draw every seed as a dot, and the mean of each share as a symbol with its interval."""
    ax.plot(
        runs["at"] + shift, runs[value], ".", color=look.color, markersize=3, alpha=0.6,
        markeredgewidth=0,
    )  # fmt: skip
    points = figures.over_seeds(runs, ["at"], value)
    mean = points[f"{value}_mean"]
    ax.errorbar(
        points["at"] + shift, mean, yerr=mean - points[f"{value}_low"],
        linestyle=look.dashes, marker=look.marker, color=look.color, linewidth=0.6, markersize=3.5,
        elinewidth=0.8, capsize=1.5, label=look.label,
    )  # fmt: skip
    return points[f"{value}_high"].max() if points[f"{value}_high"].notna().any() else 0


def draw_fluid(ax, runs):
    """Draw the mean fluid value of the runs' own paths, which transports of one seed share."""
    look = figures.style("fluid")
    mean = runs.groupby("at")["fct_us"].mean()
    ax.hlines(
        mean, mean.index - 0.45, mean.index + 0.45, color=look.color, linewidth=1, zorder=1,
        linestyle="--", label=look.label,
    )  # fmt: skip


def table_of(measured, ideal):
    """Return what is drawn, one row per run and value, then one per point with its interval."""
    columns = ["variant", "seed", ACTIVE]
    measured, ideal = measured.assign(series="slowest"), ideal.assign(series="slowest, fluid")
    point = ["series", "variant", ACTIVE]
    parts = [
        measured[["series", *columns, "fct_us", "over_optimal"]],
        ideal[["series", *columns, "fct_us", "over_fluid_p100"]],
        figures.over_seeds(measured, point, "fct_us"),
        figures.over_seeds(measured, point, "over_optimal"),
        figures.over_seeds(ideal, point, "fct_us"),
        figures.over_seeds(ideal, point, "over_fluid_p100"),
    ]
    return pd.concat(parts, ignore_index=True).rename(columns={ACTIVE: "active_share"})


def variants(table):
    """Return name and label of the variants, in the order of the scenario."""
    return list(table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))


if __name__ == "__main__":
    figures.main(draw, NEEDS)
