# SPDX-License-Identifier: GPL-2.0-only
"""Slowest message of 4 MB, by who sprays packets: on equal links, and with a slow one.

Bars: mean of two permutations of 64 hosts, each a point. Slow: a link between the first leaf and a
spine has 25 of 100 Gb/s. Messages that leave the first leaf meet it at that leaf, those that come
to it behind another switch. Dotted: bytes of a leaf over its links with the slow one.
"""

from pyorch import figures

PS_PER_US = 1e6
HOSTS = 8  # of the first leaf, from 0
KINDS = {
    "equal": ("equal links", "#777777"),
    "from": ("one slow, messages that leave its leaf", "#D55E00"),
    "to": ("one slow, messages that come to its leaf", "#0072B2"),
}


def draw(ax, runs):
    """Draw three bars for each way to spray."""
    import pandas as pd

    rows = [
        row for variant, found in runs.items() for run in found for row in slowest(variant, run)
    ]
    table = pd.DataFrame(rows)
    names = [variant for variant in runs if not variant.endswith("_slow")]
    ax.figure.set_figheight(0.6 + 0.5 * len(names))
    for place, (kind, (words, color)) in enumerate(KINDS.items()):
        own = table[table["messages"] == kind]
        at = own["spraying"].map({name: row for row, name in enumerate(names)}) + 0.27 * (place - 1)
        mean = own.assign(at=at).groupby("at")["slowest_us"].mean()
        ax.barh(mean.index, mean, height=0.25, color=color, label=words)
        for row, value in mean.items():
            ax.text(15, row, f"{value:.0f}", va="center_baseline", fontsize=6.5, color="white")
        ax.plot(own["slowest_us"], at, "o", ms=2, color="black")
    message = next(iter(runs.values()))[0].flows["bytes"].max()
    ax.axvline(HOSTS * message * 8 / 725e9 * 1e6, color="black", ls=":", lw=0.8)
    ax.set_yticks(range(len(names)), [runs[name][0].label for name in names])
    ax.invert_yaxis()
    ax.set(xlabel="slowest message [us]", xlim=(0, 1.03 * table["slowest_us"].max()))
    ax.tick_params(axis="y", length=0)
    figures.legend(ax.figure, [ax], 3)
    return table


def slowest(variant, run):
    """Return the slowest message of a run, or of each way with a slow link."""
    flows, times_us = run.flows.set_index("flow"), run.fct_ps / PS_PER_US
    kinds = {"equal": flows["src"] >= 0}
    if variant.endswith("_slow"):
        kinds = {"from": flows["src"] < HOSTS, "to": flows["dst"] < HOSTS}
    return [
        {"spraying": variant.removesuffix("_slow"), "messages": kind, "seed": run.spec.seed,
         "slowest_us": times_us[own[own].index].max()}
        for kind, own in kinds.items()
    ]  # fmt: skip
