# SPDX-License-Identifier: GPL-2.0-only
"""Slowest message with cables of 20 to 980 ns over that with cables of 500 ns, by transport.

Permutations of 128 hosts of 800 Gb/s, on one network and on four planes. Symbols: means of three
permutations, each the same with both kinds of cables; lines: the least and the most. Filled: 8 MB.
Hollow: 400 kB, about one bandwidth-delay product.
"""

import pandas as pd

from pyorch import figures

PS_PER_US = 1e6
NETWORKS = {"one": "one network", "planes": "four planes"}


def draw(figure, runs):
    """Draw a panel for each network, a row for each transport."""
    table = pd.DataFrame(row for found in runs.items() for row in slowest(*found))
    equal, unequal = (
        table[table["cables"] == cables].drop(columns="cables") for cables in ("equal", "unequal")
    )
    ratio = unequal.merge(equal, on=[*equal.columns[:-1]], suffixes=("", "_equal"))
    ratio["over_equal"] = ratio["slowest_us"] / ratio.pop("slowest_us_equal")
    names = ratio.drop_duplicates("variant").set_index("variant")["label"]
    for ax, network in zip(figures.panels(figure, [2.6] * 2, sharey=True), NETWORKS, strict=True):
        on = ratio[ratio["network"] == network]
        for (name, size), of in on.groupby(["variant", "message_kb"])["over_equal"]:
            look, is_long = figures.style(name), size == on["message_kb"].max()
            place = names.index.get_loc(name) + (-0.17 if is_long else 0.17)
            ax.plot([of.min(), of.max()], [place] * 2, color=look.color, linewidth=1)
            ax.plot(
                of.mean(), place, look.marker, color=look.color, markersize=5,
                markerfacecolor=look.color if is_long else "white",
            )  # fmt: skip
        ax.axvline(1, color="black", linewidth=1)
        ax.set(title=NETWORKS[network], xlabel="slowest message over that of equal cables")
        ax.set_yticks(range(len(names)), names)
        ax.grid(axis="x")
    ax.invert_yaxis()
    for label, fill in ("8 MB", "black"), ("400 kB", "white"):
        ax.plot([], [], "o", color="black", markerfacecolor=fill, markersize=5, label=label)
    figures.legend(figure, [ax], 2)
    return ratio


def slowest(variant, found):
    """Yield the slowest message of each run."""
    for run in found:
        network, cables = run.case.split("_")
        yield {
            "network": network, "cables": cables, "variant": variant, "label": run.label,
            "message_kb": run.flows["bytes"].max() / 1000, "seed": run.spec.seed,
            "slowest_us": run.fct_ps.max() / PS_PER_US,
        }  # fmt: skip
