# SPDX-License-Identifier: GPL-2.0-only
"""Slowest transfer of a permutation over eight planes, by links between the tiers that are gone.

Each host has eight ports of 100 Gb/s into eight planes of two tiers, and sends to a host of the
next leaf, one message after the other. Links are drawn at random and down from the start. Routes
know of them, but for MRC-like: its routes are static, and its connections find the paths that are
gone during their first message. Time over that of the payload at 800 Gb/s.
"""

from matplotlib.ticker import NullFormatter

from pyorch import figures

#: Of a host: eight ports [bit/s].
RATE_BPS = 800e9
#: Of the logarithmic axes [1].
TICKS = (1, 1.5, 2, 3, 5, 10, 20, 30)
PARTS = {0: "first message of a connection", 1: "second message"}


def draw(figure, runs):
    """Draw one line for each variant in each panel; return what is drawn."""
    import pandas as pd

    table = pd.DataFrame(row for found in runs.items() for row in slowest(*found))
    panels = figures.panels(figure, [2.2, 2.2])
    pairs = table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    gone = sorted(table["gone"].unique())
    for ax, (message, title) in zip(panels, PARTS.items(), strict=True):
        for variant, look in looks.items():
            own = table[(table["variant"] == variant) & (table["message"] == message)]
            ax.plot(
                own["gone"].map(gone.index), own["over_least"], linestyle=look.dashes,
                marker=look.marker, color=look.color, linewidth=1, markersize=4, label=look.label,
            )  # fmt: skip
        ax.set_title(title, loc="left")
        ax.set(xlabel="links gone", ylabel="over the least time [1]", yscale="log")
        ax.set_xticks(range(len(gone)), [str(n) for n in gone])
        ax.set_yticks([tick for tick in TICKS if tick < 2 * table["over_least"].max()])
        ax.yaxis.set_major_formatter("{x:.3g}")
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.grid(axis="y")
        ax.set_ylim(1, 1.1 * table["over_least"].max())
    figures.legend(figure, panels, 2)
    return table


def slowest(variant, found):
    """Yield how long the slowest first and second message of each run take over the least time.

    `waited` of the `of` messages had a timeout.
    """
    for run in found:
        flows = run.metric("flow_times").merge(run.flows[["flow", "timeouts"]], on="flow")
        n_hosts = len(flows) // len(PARTS)
        over_least = flows["fct_ps"] / (flows["bytes"] * 8e12 / RATE_BPS)
        for message in PARTS:
            own = flows["flow"] // n_hosts == message
            yield {
                "variant": variant, "label": run.label, "gone": run.spec.failures[0].params.count,
                "message": message, "over_least": over_least[own].max(),
                "waited": (flows.loc[own, "timeouts"] > 0).sum(), "of": own.sum(),
            }  # fmt: skip
