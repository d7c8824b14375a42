# SPDX-License-Identifier: GPL-2.0-only
"""Completion time of synchronised point-to-point transfers, by transport.

Compare with [hotnets24] figure 5: same quantity; the paper has 8192 hosts and prints 1 ms
(optimal), 9 ms (RoCEv2), 7 ms (single path, best effort: SMaRTT) and at most 5 % above optimal (NDP
and Homa). With as many hosts these are hollow diamonds. "Single path, best effort" is ours: a
window of one bandwidth-delay product. Most of a single-path tail is the draw of the paths, so the
slowest flow of every run stands beside the max-min fluid value of its own paths, and the fluid
value of many random draws is below. Lines have the colours of the rows. A symbol is a seed. Numbers
are the mean over the optimum with a transport's own headers, in brackets the least and the most of
the seeds.
"""

import numpy as np
import pandas as pd

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


def draw(figure, fct, slowdown, fluid, draws):
    """Draw the distribution on the left, the slowest flows and their fluid values on the right."""
    n_rows = slowdown["variant"].nunique() + 1
    left, right = figures.panels(figure, [2.5, max(2.5, 0.8 + 0.25 * n_rows)], ratios=[1, 1.2])
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
        ax.set(xlabel=f"flow completion time [{unit}]", xlim=(0, longest))
        ax.grid(axis="x")
    hosts, size_mb = slowdown["n_flows"].max(), slowdown["largest_message_bytes"].max() / 1e6
    left.set_title(f"(a) all {hosts} flows of {size_mb:.4g} MB", loc="left")
    right.set_title("(b) slowest flow of each seed", loc="left")
    figures.legend(figure, [right], 3)
    return pd.concat(drawn, ignore_index=True)


def draw_distribution(ax, fct, unit_ps):
    """Draw the share of flows that are done, one line per seed; return what is drawn."""
    table = fct.assign(series="distribution")
    for variant, style in figures.styles(variants(table)).items():
        runs = table[table["variant"] == variant].groupby("seed")
        for _, run in runs:
            ax.step(
                [0, *run["fct_ps"] / unit_ps], [0, *run["quantile_share"]], where="post",
                color=style.color, linewidth=0.8, alpha=0.85,
            )  # fmt: skip
    ax.set(ylabel="share of flows completed", ylim=(0, 1.01))
    return table[["series", "variant", "seed", "fct_ps", "quantile_share"]]


def draw_slowest(ax, slowdown, fluid, unit_ps, optimal):
    """Draw the slowest flow of each run, and the fluid value of its paths; return both."""
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
        ax.plot(fct, row + spread(runs["seed"]), style.marker, color=style.color, markersize=4)
        ax.plot(
            own["fct_ps"] / unit_ps, row + spread(own["seed"]), cross.marker, color=cross.color,
            markersize=3, label=cross.label if len(own) and not crossed else None,
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
    for number, (name, ms) in enumerate(shown.items()):
        ax.plot(
            ms, names.index(name), "D", mfc="none", mec="black", ms=5.5, mew=0.8, zorder=4,
            label="paper" if number == 0 else None,
        )  # fmt: skip
    return pd.DataFrame(
        {
            "series": "paper",
            "variant": list(shown),
            "fct_ps": [ms * PS_PER_MS for ms in shown.values()],
        }
    )


def draw_draws(ax, draws, unit_ps, optimal, row):
    """Draw how often random paths give which fluid value of the slowest flow; return it."""
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
    return (ranks - ranks.mean()) * 0.2


if __name__ == "__main__":
    figures.main(draw, NEEDS)
