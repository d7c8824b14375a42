# SPDX-License-Identifier: GPL-2.0-only
"""Completion time of synchronised point-to-point transfers, by transport.

Compare with [hotnets24] figure 5: same quantity; the paper has 8192 hosts and prints 1 ms
(optimal), 9 ms (RoCEv2), 7 ms (single path, best effort: SMaRTT) and at most 5 % above optimal (NDP
and Homa). With as many hosts the values are hollow diamonds, and the bound a triangle whose upright
side stands at 1.05 ms. "Single path, best effort" is ours: a window of one bandwidth-delay product.
(a) A line is a seed, in the colour of its row in (b). The inset has the transports near the
optimum, whose lines lie on each other at the scale of the panel. (b) A symbol is the slowest
transfer of a seed. Numbers are times over the optimum with a transport's own headers: the mean, and
in brackets the least and the most of the seeds. Most of a single-path tail is the draw of the
paths, so the slowest transfer of every run stands beside the max-min fluid value of its own paths,
and the fluid value of many random draws is below.
"""

import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {
    "fct": "figure_5/fct.csv",
    "slowdown": "figure_5/slowdown.csv",
    "fluid": "figure_5/fluid.csv",
    "draws": "figure_5/fluid_draws.csv",
}
PS_PER_MS, PS_PER_US = 1e9, 1e6
#: Fluid draws are counted in classes of this width, in units of the optimum [1].
CLASS_WIDTH = 0.25
#: What the paper prints [ms], with so many hosts.
PAPER_HOSTS, PAPER_MS = 8192, {"rocev2": 9, "smartt_single": 7, "ndp": 1.05, "homa": 1.05}
#: Those of which it prints "at most".
BOUNDS = ("ndp", "homa")
#: Corners of a triangle that points to the left, and whose upright side stands at the value.
AT_MOST = [(0, -1), (-1.5, 0), (0, 1), (0, -1)]
#: Up to where a transport is near the optimum, and drawn once more [1].
NEAR = 1.5


def draw(figure, fct, slowdown, fluid, draws):
    """Draw the distribution on the left, the slowest transfers and their fluid on the right."""
    n_rows = slowdown["variant"].nunique() + 1
    left, right = figures.panels(figure, [2.7, max(2.7, 0.95 + 0.27 * n_rows)], ratios=[1, 1.2])
    first = slowdown["variant"] == slowdown["variant"].iloc[0]  # headers of others may be longer
    optimal_ps = slowdown.loc[first, "optimal_fct_ps"].max()
    unit, unit_ps = ("ms", PS_PER_MS) if optimal_ps >= PS_PER_MS / 2 else ("us", PS_PER_US)
    optimal = optimal_ps / unit_ps
    drawn = [
        draw_distribution(left, fct, unit_ps),
        draw_slowest(right, slowdown, fluid, unit_ps, optimal),
        draw_draws(right, draws, unit_ps, optimal, row=slowdown["variant"].nunique()),
        draw_paper(right, slowdown),
        pd.DataFrame([{"series": "optimal", "fct_ps": optimal_ps}]),
    ]
    look = figures.style("optimal")
    longest = 1.04 * max(table["fct_ps"].max() for table in drawn if len(table)) / unit_ps
    for ax in (left, right):
        ax.axvline(
            optimal, color="black", linestyle=":", linewidth=1, zorder=0,
            label=f"{look.label} ({optimal:.3g} {unit})",
        )  # fmt: skip
        ax.set(xlabel=f"completion time [{unit}]", xlim=(0, longest))
        ax.grid(axis="x")
    draw_near(left, fct, unit_ps, optimal)
    hosts, size_mb = slowdown["n_flows"].max(), slowdown["largest_message_bytes"].max() / 1e6
    left.set_title(f"(a) all {hosts} transfers of {size_mb:.4g} MB,\ncolours as in (b)", loc="left")
    right.set_title(
        "(b) slowest transfer of each seed;\ntimes optimal: mean (least to most)", loc="left"
    )
    figures.legend(figure, [right], 4)
    return pd.concat(drawn, ignore_index=True)


def draw_distribution(ax, fct, unit_ps):
    """Draw the share of transfers that are done, one line per seed; return what is drawn."""
    table = fct.assign(series="distribution")
    for variant, style in figures.styles(variants(table)).items():
        runs = table[table["variant"] == variant].groupby("seed")
        for _, run in runs:
            ax.step(
                [0, *run["fct_ps"] / unit_ps], [0, *run["quantile_share"]], where="post",
                color=style.color, linewidth=0.8, alpha=0.85,
            )  # fmt: skip
    ax.set(ylabel="share of transfers completed", ylim=(0, 1.01))
    return table[["series", "variant", "seed", "fct_ps", "quantile_share"]]


def draw_near(ax, fct, unit_ps, optimal):
    """Draw the transports near the optimum once more, where they can be told apart, if any is."""
    slowest = fct.groupby("variant")["fct_ps"].max() / unit_ps
    near = fct[fct["variant"].map(slowest) < NEAR * optimal]
    if near.empty:
        return
    inset = ax.inset_axes((0.52, 0.14, 0.46, 0.5))
    draw_distribution(inset, near, unit_ps)
    inset.axvline(optimal, color="black", linestyle=":", linewidth=1, zorder=0)
    ends = near["fct_ps"].quantile([0.02, 1]) / unit_ps
    inset.set(xlim=(min(optimal, ends.iloc[0]) - 0.01 * optimal, ends.iloc[1] + 0.01 * optimal),
              ylabel="")  # fmt: skip
    inset.set_title(f"the {near['variant'].nunique()} near the optimum", loc="left", fontsize=6.5)
    inset.tick_params(labelsize=6)
    inset.locator_params(axis="x", nbins=3)
    inset.set_yticks([0, 1])
    inset.grid(axis="x")


def draw_slowest(ax, slowdown, fluid, unit_ps, optimal):
    """Draw the slowest transfer of each run, and the fluid value of its paths; return both."""
    measured = slowdown.assign(series="slowest", fct_ps=slowdown["slowest_fct_ps"])
    ideal = fluid.assign(series="slowest, fluid", fct_ps=fluid["fluid_p100_ps"])
    cross = figures.style("fluid")
    looks = figures.styles(variants(measured))
    middle = measured["fct_ps"].max() / unit_ps / 2
    crossed = False
    for row, (variant, style) in enumerate(looks.items()):
        runs = measured[measured["variant"] == variant]
        own = ideal[ideal["variant"] == variant]
        fct = runs["fct_ps"] / unit_ps
        ax.plot(fct, row + spread(runs["seed"]), style.marker, color=style.color, markersize=4.5)
        ax.plot(
            own["fct_ps"] / unit_ps, row + spread(own["seed"]), cross.marker, color=cross.color,
            markersize=2.5, label=cross.label if len(own) and not crossed else None,
            markeredgewidth=0.7, path_effects=[withStroke(linewidth=1.3, foreground="white")],
        )  # fmt: skip
        crossed = crossed or len(own) > 0
        over = runs["over_optimal_p100"]
        each = f" ({over.min():.2f} to {over.max():.2f})" if len(runs) > 1 else ""
        left = fct.mean() > middle  # the side with room for the words
        lowest = np.nanmin([fct.min(), own["fct_ps"].min() / unit_ps])
        nearest = lowest if left else max(fct.max(), optimal)
        ax.annotate(
            f"{over.mean():.2f} x{each}", (nearest, row), va="center",
            xytext=(-6 if left else 6, 0), ha="right" if left else "left", fontsize=6,
            textcoords="offset points", color=style.color,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )  # fmt: skip
    names = [style.label for style in looks.values()]
    ax.set_yticks(range(len(looks) + 1), [*names, "Max-min fluid,\nrandom draws"])
    ax.set_ylim(len(looks) + 0.5, -0.6)
    ax.tick_params(axis="y", length=0, labelsize=6.5)
    columns = ["series", "variant", "seed", "fct_ps"]
    return pd.concat([measured[columns], ideal[columns]], ignore_index=True)


def draw_paper(ax, slowdown):
    """Draw what the paper prints, where the hosts are as many; return it."""
    names = list(figures.styles(variants(slowdown)))
    is_its = slowdown["n_flows"].max() == PAPER_HOSTS
    shown = {name: ms for name, ms in PAPER_MS.items() if is_its and name in names}
    for label, marker, size, own in (
        ("paper", "D", 9, [name for name in shown if name not in BOUNDS]),
        ("paper: at most", AT_MOST, 12, [name for name in shown if name in BOUNDS]),
    ):
        if own:
            ax.plot(
                [shown[name] for name in own], [names.index(name) for name in own], ls="",
                marker=marker, mfc="none", mec="black", ms=size, mew=0.8, zorder=4, label=label,
            )  # fmt: skip
    return pd.DataFrame(
        {
            "series": "paper",
            "variant": list(shown),
            "fct_ps": [ms * PS_PER_MS for ms in shown.values()],
        }
    )


def draw_draws(ax, draws, unit_ps, optimal, row):
    """Draw how often random paths give which fluid value of the slowest; return it."""
    unique = draws.drop_duplicates(["seed", "draw"])
    classes = np.round(unique["fluid_p100_ps"] / unit_ps / optimal / CLASS_WIDTH)
    grouped = unique["fluid_p100_ps"].groupby(classes)
    fct, shares = grouped.mean() / unit_ps, grouped.size() / len(unique)
    style = figures.style("fluid_draws")
    foot, heights = row + 0.45, 0.7 * shares / shares.max()
    ax.bar(fct, -heights, bottom=foot, color=style.color, width=0.8 * CLASS_WIDTH * optimal)
    for where, share, height in zip(fct, shares, heights, strict=True):
        ax.annotate(
            f"{share:.0%}", (where, foot - height), xytext=(0, 1), ha="center",
            textcoords="offset points", fontsize=6, color="#555555",
        )  # fmt: skip
    names = [label.get_text() for label in ax.get_yticklabels()]
    names[row] = f"Max-min fluid,\n{len(unique)} random draws"
    ax.set_yticks(range(len(names)), names)
    return pd.DataFrame(
        {
            "series": "fluid draws",
            "fct_ps": fct.to_numpy() * unit_ps,
            "share_of_draws": shares.to_numpy(),
        }
    )


def variants(table):
    """Return name and label of the variants, in the order of the scenario."""
    return list(table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))


def spread(seeds):
    """Return small distinct heights for the seeds of one row, without any randomness."""
    ranks = seeds.rank(method="dense") - 1
    return (ranks - ranks.mean()) * 0.24


if __name__ == "__main__":
    figures.main(draw, NEEDS)
