# SPDX-License-Identifier: GPL-2.0-only
"""When PFC holds back which links, for the sake of one receiver that 16 hosts send to.

One row per link that was paused: first those from spines to the leaf of the receiver, then those
behind them, to hosts that send to somebody else as well. Nothing is lost, and much stands still.
"""

from pyorch import figures

PS_PER_US = 1e6
KINDS = {
    2: ("a spine is held back", "#0072B2"), 1: ("a leaf is held back", "#E69F00"),
    0: ("a host is held back", "#999999"),
}  # fmt: skip


def draw(ax, runs):
    """Draw one row per link, one bar per pause."""
    import pandas as pd

    ax.figure.set_figheight(3.0)
    (run,) = runs["pause_spreading"]
    tier = run.nodes["tier"]
    pauses = run.pauses.assign(end_ps=run.pauses["end_ps"].fillna(run.fct_ps.max()))
    pauses["tier"] = tier[pauses["node"]].to_numpy()
    links = pauses.groupby(["tier", "node", "peer"], as_index=False)["start_ps"].min()
    links = links.sort_values(["tier", "start_ps"], ascending=[False, True]).reset_index(drop=True)
    links["row"] = links.index
    shown = pauses.merge(links[["node", "peer", "row"]], on=["node", "peer"])
    for kind, (label, color) in KINDS.items():
        part = shown[shown["tier"] == kind]
        ax.barh(
            part["row"], (part["end_ps"] - part["start_ps"]) / PS_PER_US, height=0.8,
            left=part["start_ps"] / PS_PER_US, color=color, label=label,
        )  # fmt: skip
    ax.invert_yaxis()
    ax.set(xlabel="time [us]", ylabel="links that were paused", yticks=[], xlim=(0, None))
    ax.grid(True, axis="x")
    figures.legend(ax.figure, [ax], 3)
    total = shown.assign(paused_us=(shown["end_ps"] - shown["start_ps"]) / PS_PER_US)
    return pd.DataFrame(total.groupby(["tier", "node", "peer"], as_index=False)["paused_us"].sum())
