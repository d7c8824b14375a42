# SPDX-License-Identifier: GPL-2.0-only
"""Slowest flow of permutations with the Ultra Ethernet transport, by selector and by network.

Compare with the outputs that lie beside Ultra Ethernet's simulator (uet-htsim, validate_outputs):
1024 hosts, three tiers, 100 Gb/s, 2 MB. Bars: mean of two permutations, ticks: each of them;
crosses: published, one permutation, two where REPS had an ACK for each packet or for four and
where mixed entropies were run twice. Paths are each simulator's own, so single paths are a draw of
their own in both. Slow links: all core links of one switch of the second tier at a quarter of their
rate, with a quarter of their limits and marks. Logarithmic axes.
"""

import pandas as pd
from matplotlib.ticker import NullFormatter

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "uec/slowdown.csv"}
PS_PER_US = 1e6
#: Case, variant: slowest flow [us].
PUBLISHED = {
    ("full", "nscc_mixed"): (193.2, 200.5),
    ("full", "nscc_bitmap"): (200.5,),
    ("full", "nscc_reps"): (198.2, 208.2),
    ("full", "nscc_oblivious"): (212.8,),
    ("full", "nscc_single"): (889.9,),
    ("full", "rccc_single"): (1063,),
    ("four", "nscc_mixed"): (785.8,),
    ("four", "rccc_mixed"): (749.7,),
    ("eight", "nscc_mixed"): (1443.4,),
    ("eight", "rccc_mixed"): (1459.1,),
    ("degraded", "nscc_mixed"): (211.8,),
    ("degraded", "nscc_bitmap"): (220.3,),
    ("degraded", "nscc_reps"): (206.7, 245.8),
    ("degraded", "nscc_oblivious"): (280.8,),
}
TICKS = {True: (200, 1000, 5000), False: (200, 500, 1000, 2000, 5000)}  # in a column or not


def draw(figure, slowdown):
    """Draw a panel for each network, a row for each variant; return what is drawn."""
    ours = slowdown.assign(series="ours", fct_us=slowdown["slowest_fct_ps"] / PS_PER_US)
    theirs = pd.DataFrame(
        [("published", case, variant, fct_us)
         for (case, variant), values in PUBLISHED.items() for fct_us in values],
        columns=["series", "case", "variant", "fct_us"],
    )  # fmt: skip
    rows = list(dict(zip(ours["variant"], ours["label"], strict=True)).items())
    cases = list(dict(zip(ours["case"], ours["case_label"], strict=True)).items())
    columns = 2 if figures.is_column(figure) else len(cases)
    lines = -(-len(cases) // columns)
    figure.set_figheight(0.3 + lines * (0.5 + 0.17 * len(rows)))
    axes = list(figure.subplots(lines, columns, squeeze=False).flat)
    for number, (ax, (case, label)) in enumerate(zip(axes, cases, strict=False)):
        own, other = (table[table["case"] == case] for table in (ours, theirs))
        draw_case(ax, own, other, [name for name, _ in rows])
        ax.set_title(label, loc="left")
        if number % columns == 0:
            ax.set_yticks(range(len(rows)), [name for _, name in rows], fontsize=6.5)
        if number + columns >= len(cases):
            ax.set_xlabel("slowest flow [us]")
    figures.legend(figure, axes, 2)
    columns = ["series", "case", "variant", "seed", "fct_us"]
    means = figures.over_seeds(ours, ["series", "case", "variant"], "fct_us")
    return pd.concat([ours[columns], theirs, means], ignore_index=True)


def draw_case(ax, ours, theirs, variants):
    """Draw what one network gives, ours and published."""
    for row, variant in enumerate(variants):
        color = figures.style(variant.split("_")[0]).color
        runs = ours[ours["variant"] == variant]
        if len(runs):
            ax.barh(row, runs["fct_us"].mean(), height=0.62, color=color, alpha=0.45)
            ax.plot(runs["fct_us"], [row] * len(runs), "|", color=color, markersize=6)
        points = theirs[theirs["variant"] == variant]["fct_us"]
        ax.plot(
            points, [row] * len(points), "x", color="black", markersize=4, zorder=5,
            label="published" if len(points) else None,
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(140, 1.15 * max(ours["fct_us"].max(), theirs["fct_us"].max(), 1000))
    shown = [tick for tick in TICKS[figures.is_column(ax.figure)] if tick <= ax.get_xlim()[1]]
    ax.set_xticks(shown, [f"{tick}" for tick in shown], fontsize=6.5)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()
    ax.set_yticks([])
    ax.set_ylim(len(variants) - 0.4, -0.6)
    ax.grid(axis="x")


if __name__ == "__main__":
    figures.main(draw, NEEDS)
