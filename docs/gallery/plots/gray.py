# SPDX-License-Identifier: GPL-2.0-only
"""What a link that fails without a word costs each transport, and when senders leave it.

Completion of all 16 messages over that without a failure, by kind of failure; "never": a message
has not ended after 20 ms. Colours: its logarithm. The last column is the time from the failure to
the end of the first sample of 10 us in which the black hole gets less than half of its share of the
leaf's packets, if it gets less from then on; "stays": senders go on using it.
"""

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from pyorch import figures

PS_PER_US = 1e6
MOST_COLOUR = 20  # over no failure [1]
DARK = 6  # from which on a cell has white letters [1]
TITLES = {
    "heard": "black hole,\nheard of after\n100 us", "hole": "black hole", "drops": "1 % dropped",
    "corrupts": "a spine\ncorrupts", "slow": "slow optics,\na quarter\nof the rate",
}  # fmt: skip


def draw(figure, runs):
    """Draw a row for each transport and a column for each failure; return what is drawn."""
    table = pd.concat([rows_of(name, found) for name, found in runs.items()], ignore_index=True)
    labels = dict(zip(table["variant"], table["label"], strict=True))
    cells = table.pivot(index="variant", columns="case", values="over_whole")
    cells = cells.reindex(index=list(labels), columns=list(TITLES))
    left = table[table["case"] == "hole"].set_index("variant")["left_us"].reindex(list(labels))
    (ax,) = figures.panels(figure, [0.75 + 0.21 * len(labels)])
    ax.imshow(cells.fillna(MOST_COLOUR), cmap="YlOrRd", norm=LogNorm(1, MOST_COLOUR), aspect="auto")
    for (row, column), value in np.ndenumerate(cells.to_numpy()):
        text = f"{value:.2f}" if value < 10 else f"{value:.0f}" if np.isfinite(value) else "never"
        dark = not value < DARK
        ax.text(column, row, text, ha="center", va="center", color="white" if dark else "black")
    for row, time_us in enumerate(left):
        text = f"{time_us:.0f} us" if np.isfinite(time_us) else "stays"
        ax.text(len(TITLES), row, text, ha="center", va="center")
    ax.set_xlim(-0.5, len(TITLES) + 0.5)
    ax.set_xticks(range(len(TITLES) + 1), [*TITLES.values(), "leaves the\nblack hole\nafter"])
    ax.set_yticks(range(len(labels)), labels.values())
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    return table


def rows_of(variant, found):
    """Return a row for each failure: times, and shares of the directions that fail."""
    whole_ps = next(completion_ps(run) for run in found if run.case == "none")
    rows = []
    for run in found:
        if run.case == "none":
            continue
        unfinished = int(run.flows["receiver_end_ps"].isna().sum())
        took_ps = completion_ps(run)
        own = run.metric("avoided")
        left_ps = own["avoided_ps"].iloc[0]
        rows.append(
            {
                "variant": variant, "label": run.label, "case": run.case,
                "whole_us": whole_ps / PS_PER_US, "unfinished": unfinished,
                "over_whole": np.nan if took_ps is None else took_ps / whole_ps,
                "left_us": np.nan if pd.isna(left_ps) else left_ps / PS_PER_US,
                "before_share": own["before_share"].mean(),
                "after_share": own["after_share"].mean(),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def completion_ps(run):
    """Return when the last message is complete; None if one is not."""
    ends = run.flows["receiver_end_ps"]
    return None if ends.isna().any() else int(ends.max())
