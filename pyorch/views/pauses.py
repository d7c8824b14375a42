# SPDX-License-Identifier: GPL-2.0-only
"""PFC pauses over time: one row per link that was held back, a bar for each pause of a priority.

The links with the longest time in pause, longest on top. Recorded with trace: {pauses: true}.
"""

import pandas as pd

from pyorch.errors import FigureError
from pyorch.views._axes import COLORS, LINK, link_names, time_unit

MOST_LINKS = 30


def draw(figure, runs):
    """Draw the pauses of one run; return them."""
    if len(runs) != 1:
        raise FigureError("a timeline of pauses shows one run. Name one.")
    pauses = runs[0].pauses
    if pauses.empty:
        raise FigureError("no link was paused in this run.")
    pauses = pauses.fillna({"end_ps": int(runs[0].outcome["now_ps"])})
    pauses = pauses[[*LINK, "priority", "start_ps", "end_ps"]].astype("int64")
    pauses["paused_ps"] = pauses["end_ps"] - pauses["start_ps"]
    totals = pauses.groupby(LINK, as_index=False)["paused_ps"].sum()
    shown = totals.nlargest(MOST_LINKS, "paused_ps", keep="first").reset_index(drop=True)
    unit, ps = time_unit(pauses["end_ps"].max())
    ax = figure.subplots()
    for row, link in enumerate(shown[LINK].to_numpy().tolist()):
        own = pauses[(pauses[LINK] == link).all(axis=1)]
        bars = (own[["start_ps", "paused_ps"]] / ps).to_numpy().tolist()
        colors = [COLORS[priority % len(COLORS)] for priority in own["priority"]]
        ax.broken_barh(bars, (row - 0.4, 0.8), facecolors=colors)
    every = max(1, len(shown) // 12)
    ax.set_yticks(range(0, len(shown), every), link_names(shown)[::every])
    ax.set(xlabel=f"time [{unit}]", ylabel="link held back", xlim=(0, None))
    ax.set_ylim(len(shown) - 0.5, -0.5)
    if len(shown) < len(totals):
        ax.annotate(f"{len(shown)} of {len(totals)} links", (0.99, 0.02), ha="right", fontsize=6,
                    xycoords="axes fraction")  # fmt: skip
    return pd.DataFrame(pauses.reset_index(drop=True))
