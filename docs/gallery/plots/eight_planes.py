# SPDX-License-Identifier: GPL-2.0-only
"""Slowest transfer of a permutation over eight planes, by the hosts that send and the message.

Each host has eight ports of 100 Gb/s into eight planes of two tiers. Time over that of the payload
at 800 Gb/s: the mean of the draws, and bars from the least to the greatest.
"""

import pandas as pd
from matplotlib.ticker import NullFormatter

from pyorch import figures

#: Of a host: eight ports [bit/s].
RATE_BPS = 800e9
#: Of the logarithmic axis [1].
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 30)
#: Message of the cases that a line joins [byte].
SHORT_BYTES = 2e6


def draw(figure, runs):
    """Draw a line for each variant over the cases of 2 MB, and a point for the long message."""
    table = pd.DataFrame(row for found in runs.items() for row in slowest(*found))
    ax = figures.panels(figure, [2.4])[0]
    pairs = table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    cases = list(dict.fromkeys(table["case"]))
    short = set(table.loc[table["bytes"] == SHORT_BYTES, "case"])
    for variant, look in looks.items():
        own = table[table["variant"] == variant].groupby("case")["over_least"]
        draws = own.agg(["mean", "min", "max"]).reindex(cases)
        for at in ([c for c in cases if c in short], [c for c in cases if c not in short]):
            part = draws.loc[at]
            reach = [part["mean"] - part["min"], part["max"] - part["mean"]]
            ax.errorbar(
                [cases.index(case) for case in at], part["mean"], yerr=reach, marker=look.marker,
                linestyle=look.dashes, color=look.color, linewidth=1, markersize=4,
                label=look.label if at[0] in short else None,
            )  # fmt: skip
    ax.set_xticks(range(len(cases)), [case.replace(" send ", "\n") for case in cases])
    ax.set(ylabel="over the least time [1]", yscale="log")
    ax.set_yticks([tick for tick in TICKS if tick < 2 * table["over_least"].max()])
    ax.yaxis.set_major_formatter("{x:.3g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.grid(axis="y")
    ax.set_ylim(1, 1.2 * table["over_least"].max())
    figures.legend(figure, [ax], 2)
    return table


def slowest(variant, found):
    """Yield how long the slowest message of each run takes over the least time."""
    for run in found:
        flows = run.metric("flow_times")
        n_bytes = flows["bytes"].max()
        yield {
            "variant": variant, "label": run.label, "case": run.case_label, "seed": run.spec.seed,
            "bytes": n_bytes, "over_least": flows["fct_ps"].max() / (n_bytes * 8e12 / RATE_BPS),
        }  # fmt: skip
