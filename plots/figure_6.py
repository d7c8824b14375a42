# SPDX-License-Identifier: GPL-2.0-only
"""Slowest of synchronised 2 MB transfers, by the share of hosts that send and by transport.

Compare with [hotnets24] figure 6: same quantity, 2 MB over links of 100 Gb/s; the hosts and the
network are ours, and the paper prints no numbers in its text. On one path per flow the tail is the
collisions of the draw at any load: the max-min fluid value of the runs' own paths stands beside it;
the CSV also has the ratio for each run. First panel: all, logarithmic axis. Second panel: over
optimal, those that stay below 1.5. Lines: mean over seeds; small symbols: seeds; bars: 95 %
confidence interval of the mean (Student's t), cut where they leave the panel.
"""

import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "figure_6/slowdown.csv", "fluid": "figure_6/fluid.csv"}
PS_PER_US = 1e6
ACTIVE = "workload.active"
NEAR = 1.5  # times the optimum, at all shares: drawn once more, where it can be told apart
TICKS_US = [digit * 10**power for power in range(6) for digit in (1, 2, 5)]


def draw(figure, slowdown, fluid):
    """Draw tail against active share, a line for each transport."""
    measured = slowdown.assign(
        fct_us=slowdown["slowest_fct_ps"] / PS_PER_US, over_optimal=slowdown["over_optimal_p100"]
    )
    ideal = fluid.assign(fct_us=fluid["fluid_p100_ps"] / PS_PER_US)
    means = measured.groupby(["variant", ACTIVE])["over_optimal"].mean()
    is_near = means.groupby("variant").max() < NEAR
    near = measured[measured["variant"].map(is_near)]
    ax, *further = figures.panels(figure, [2.9, 2.9] if len(near) else [3.2])
    draw_all(ax, measured, ideal)
    for panel in further:
        draw_near(panel, near, figures.styles(variants(measured)))
    ticks = sorted(100 * slowdown[ACTIVE].unique())
    for panel in (ax, *further):
        panel.set(xlabel="active hosts [%]", xlim=(0, 104))
        panel.set_xticks([share for share in ticks if share >= 10])
        panel.minorticks_off()
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:.4g}")
        panel.grid(axis="y")
    figures.legend(figure, [ax], 4)
    return table_of(measured, ideal)


def draw_all(ax, measured, ideal):
    """Draw times of all transports, their fluid value and the optimum."""
    looks = figures.styles(variants(measured))
    for place, (variant, look) in enumerate(looks.items()):
        runs = measured[measured["variant"] == variant]
        draw_seeds(ax, runs, "fct_us", look, aside(place, len(looks)))
    if len(ideal):
        draw_fluid(ax, ideal)
    first = measured["variant"] == measured["variant"].iloc[0]  # headers of others may be longer
    optimal = measured.loc[first, "optimal_fct_ps"].max() / PS_PER_US
    ax.axhline(
        optimal, color="black", linestyle=":", linewidth=1, zorder=0,
        label=f"{figures.style('optimal').label} ({optimal:.3g} us)",
    )  # fmt: skip
    size_mb = measured["largest_message_bytes"].max() / 1e6
    top = max(measured["fct_us"].max(), 2 * optimal)  # no seed is cut, an interval may be
    ax.set(
        yscale="log", ylim=(0.8 * optimal, 1.15 * top),
        ylabel=f"slowest of {size_mb:.4g} MB flows [us]",
    )  # fmt: skip
    ax.set_yticks([tick for tick in TICKS_US if 0.8 * optimal <= tick <= 1.15 * top])


def draw_near(ax, near, looks):
    """Draw the transports near the optimum, over it."""
    names = list(dict.fromkeys(near["variant"]))
    for place, variant in enumerate(names):
        runs = near[near["variant"] == variant]
        draw_seeds(ax, runs, "over_optimal", looks[variant], aside(place, len(names)))
    ax.axhline(1, color="black", linestyle=":", linewidth=1, zorder=0)
    ax.set(ylim=(0.98, 1.02 * near["over_optimal"].max()), ylabel="over optimal [1]")


def draw_seeds(ax, runs, value, look, shift):
    """Draw every seed as a small marker, and the mean of each share as a line with its interval."""
    percent = 100 * runs[ACTIVE]
    ax.plot(
        percent + shift, runs[value], look.marker, color=look.color, markersize=2.5, alpha=0.5,
        markeredgewidth=0,
    )  # fmt: skip
    points = figures.over_seeds(runs, [ACTIVE], value)
    mean = points[f"{value}_mean"]
    ax.errorbar(
        100 * points[ACTIVE] + shift, mean, yerr=mean - points[f"{value}_low"],
        linestyle=look.dashes, marker=look.marker, color=look.color, linewidth=1, markersize=4,
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


def aside(place, n_places):
    """Return a small shift [%], so that what is equal stays visible."""
    return 2.0 / n_places * (place - (n_places - 1) / 2)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
