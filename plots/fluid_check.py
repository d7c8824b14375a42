# SPDX-License-Identifier: GPL-2.0-only
"""Packets over fluid: completion time of each message over that of the same message in the other
engine, with the same paths.

Left of 1 a message is faster than its fair share. Lines: share of messages up to a ratio, all
seeds. Short marks at the bottom: the last message to end, packets over fluid, mean over seeds.
RoCEv2, with and without HPCC, is compared with hashed messages at flow level; sprayed ones and NDP
with evenly split ones.
"""

import numpy as np

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"times": "fluid_check/flow_times.csv"}
#: Which fluid variant each one is held against.
AGAINST = {"rocev2": "hashed_fluid", "hpcc": "hashed_fluid",
           "sprayed": "sprayed_fluid", "ndp": "sprayed_fluid"}  # fmt: skip
#: Ticks of the axes, which are alike.
TICKS = (0.2, 0.5, 1, 2, 5)
KEYS = ["case", "seed", "flow"]


def draw(figure, times):
    """Draw the distribution of the ratios, a panel for each case; return it in hundredths."""
    from matplotlib.lines import Line2D

    ratios = over_fluid(times)
    pairs = ratios[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    cases = dict(ratios[["case", "case_label"]].itertuples(index=False, name=None))
    axes = grid(figure, len(cases))
    columns = axes[0].get_subplotspec().get_gridspec().ncols
    for place, (ax, (case, label)) in enumerate(zip(axes, cases.items(), strict=True)):
        for variant, look in looks.items():
            own = ratios[(ratios["case"] == case) & (ratios["variant"] == variant)]
            if own.empty:
                continue
            sorted_ratios = np.sort(own["over_fluid"])
            share = np.arange(1, len(own) + 1) / len(own)
            ax.step(sorted_ratios, share, where="post", color=look.color, linestyle=look.dashes,
                    linewidth=1, label=look.label)  # fmt: skip
            ax.axvline(own["last_over_fluid"].mean(), ymax=0.08, color=look.color, linewidth=1.5)
        ax.axvline(1, color="black", linestyle=":", linewidth=0.8, zorder=0)
        ax.set_title(label, loc="left", fontsize=7)
        ax.set(xscale="log", ylim=(0, 1.02))
        ax.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.minorticks_off()
        ax.grid(axis="x")
        if place + columns < len(cases):
            ax.tick_params(axis="x", labelbottom=False)
        else:
            ax.set_xlabel("FCT, packets / fluid [1]")
    figure.supylabel("share of messages [1]", fontsize=7)
    last = Line2D([], [], color="#666666", ls="", marker="|", ms=6, mew=1.5)
    figures.legend(figure, axes, 5, {"last message to end": last})
    return in_hundredths(ratios)


def grid(figure, n):
    """Return n panels, three beside each other on a page and two in a column."""
    columns = 2 if figures.is_column(figure) else min(n, 3)
    rows = -(-n // columns)
    figure.set_figheight(1.55 * rows + 0.3)
    axes = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    for ax in axes[n:]:
        ax.remove()
    return axes[:n]


def over_fluid(times):
    """Return the ratio of each message of packets, and of the last one of its run."""
    fluid = times[times["variant"].isin(set(AGAINST.values()))].set_index(["variant", *KEYS])
    packets = times[times["variant"].isin(AGAINST)].copy()
    same = list(zip(packets["variant"].map(AGAINST), *(packets[k] for k in KEYS), strict=True))
    packets["over_fluid"] = packets["fct_ps"].to_numpy() / fluid.loc[same, "fct_ps"].to_numpy()
    packets["fluid_end_ps"] = fluid.loc[same, "end_ps"].to_numpy()
    run = packets.groupby(["case", "variant", "seed"])
    last = run["end_ps"].transform("max") / run["fluid_end_ps"].transform("max")
    return packets.assign(last_over_fluid=last)


def in_hundredths(ratios):
    """Return quantiles of the ratios of each case and variant, and the ratio of the last ends."""
    groups = ratios.groupby(["case", "variant", "label"], sort=False)
    table = groups["over_fluid"].quantile([0, 0.01, 0.1, 0.5, 0.9, 0.99, 1]).unstack()
    table.columns = [f"p{100 * q:g}" for q in table.columns]
    table["mean"] = groups["over_fluid"].mean()
    table["last_over_fluid"] = groups["last_over_fluid"].mean()
    return table.reset_index()


if __name__ == "__main__":
    figures.main(draw, NEEDS)
