# SPDX-License-Identifier: GPL-2.0-only
"""Slowest of synchronised 2 MB transfers, by the share of hosts that send and by transport.

Compare with [hotnets24] figure 6: same quantity, 2 MB over links of 100 Gb/s; the hosts and the
network are ours, and the paper prints no numbers in its text. On one path per flow the tail is the
collisions of the draw at any load: the max-min fluid value of each run's own paths stands beside
it, and their ratio on the right. Lines: mean over seeds; small symbols: seeds; bars: 95 %
confidence interval of the mean (Student's t), which for three seeds may reach below 1 where no run
is.
"""

import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "figure_6/slowdown.csv", "fluid": "figure_6/fluid.csv"}
PS_PER_US = 1e6
ACTIVE = "workload.active"


def draw(figure, slowdown, fluid):
    """Draw tail against active share on the left, tail over its fluid value on the right."""
    left, right = figures.panels(figure, [2.5] * 2, ratios=[1.35, 1])
    measured = slowdown.assign(fct_us=slowdown["slowest_fct_ps"] / PS_PER_US)
    ideal = fluid.assign(fct_us=fluid["fluid_p100_ps"] / PS_PER_US)
    for place, (variant, look) in enumerate(figures.styles(variants(measured)).items()):
        draw_seeds(left, measured[measured["variant"] == variant], "fct_us", look, place)
        own = ideal[ideal["variant"] == variant]
        if len(own):
            draw_seeds(right, own, "over_fluid_p100", look, place)
    draw_fluid(left, ideal)
    optimal = measured["optimal_fct_ps"].max() / PS_PER_US
    left.axhline(
        optimal, color="black", linestyle=":", linewidth=1, zorder=0,
        label=f"{figures.style('optimal').label} ({optimal:.3g} us)",
    )  # fmt: skip
    right.axhline(1, color="black", linestyle=":", linewidth=1, zorder=0)
    n_hosts = slowdown.loc[slowdown[ACTIVE].idxmax()]
    size_mb = slowdown["largest_message_bytes"].max() / 1e6
    hosts = round(n_hosts["n_flows"] / n_hosts[ACTIVE])
    left.set(ylabel="slowest flow [us]", ylim=(0, None))
    left.set_title(f"(a) {size_mb:.4g} MB flows, {hosts} hosts", loc="left")
    right.set(ylabel="slowest flow / fluid")
    right.set_ylim(min(0.98, right.get_ylim()[0]), None)
    right.set_title("(b) slowest flow over fluid, same paths", loc="left")
    for ax in (left, right):
        ax.set(xlabel="hosts that send and receive [%]", xlim=(0, 104))
        ax.set_xticks(sorted(100 * slowdown[ACTIVE].unique()))
        ax.xaxis.set_major_formatter("{x:.3g}")
        ax.grid(axis="y")
    figures.legend(figure, [left], 3)
    return table_of(measured, ideal)


def draw_seeds(ax, runs, column, look, place):
    """Draw every seed as a small marker, and the mean of each share as a line with its interval."""
    percent = 100 * runs[ACTIVE]
    ax.plot(
        percent + aside(place), runs[column], look.marker, color=look.color, markersize=2.5,
        alpha=0.5, markeredgewidth=0,
    )  # fmt: skip
    points = figures.over_seeds(runs, [ACTIVE], column)
    mean = points[f"{column}_mean"]
    ax.errorbar(
        100 * points[ACTIVE] + aside(place), mean, yerr=mean - points[f"{column}_low"],
        fmt="-", marker=look.marker, color=look.color, linewidth=1.2, markersize=4,
        elinewidth=0.6, capsize=1.5, label=look.label,
    )  # fmt: skip


def draw_fluid(ax, runs):
    """Draw the mean fluid value of the runs' own paths, which transports of one seed share."""
    look = figures.style("fluid")
    mean = runs.groupby(ACTIVE)["fct_us"].mean()
    ax.plot(
        100 * mean.index, mean, "--", marker=look.marker, color=look.color, linewidth=0.8,
        markersize=4, zorder=5, label=look.label,
    )  # fmt: skip


def table_of(measured, ideal):
    """Return what is drawn, one row per run and value, then one per point with its interval."""
    columns = ["variant", "seed", ACTIVE]
    measured, ideal = measured.assign(series="slowest"), ideal.assign(series="slowest, fluid")
    point = ["series", "variant", ACTIVE]
    parts = [
        measured[["series", *columns, "fct_us"]],
        ideal[["series", *columns, "fct_us", "over_fluid_p100"]],
        figures.over_seeds(measured, point, "fct_us"),
        figures.over_seeds(ideal, point, "fct_us"),
        figures.over_seeds(ideal, point, "over_fluid_p100"),
    ]
    return pd.concat(parts, ignore_index=True).rename(columns={ACTIVE: "active_share"})


def variants(table):
    """Return name and label of the variants, in the order of the scenario."""
    return list(table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))


def aside(place):
    """Return a small shift [%], so that what is equal stays visible."""
    return 0.7 * (place - 1)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
