# SPDX-License-Identifier: GPL-2.0-only
"""Every transport in every case: how long everything takes over the least time that it can take.

Messages that begin together: from the start until the last one is delivered, over what the bytes
need through hosts and edge switches with their links as they are, so 1 cannot be passed. Web
search: 99th percentile of the slowdown, completion over that of the message alone. Numbers: means
over the seeds; colours: their logarithm. Each seed, losses, trims, pauses and the longest queues
are in the CSV.
"""

from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from pyorch import figures

NEEDS = {"completion": "transports/completion.csv", "slowdown": "transports/slowdown.csv"}
#: Cases of messages that come at random times have no common completion: their tail is shown.
RANDOM_TIMES = "web_search"
ROW_INCHES, TITLE_INCHES, BAR_INCHES = 0.16, 1.15, 0.45
TITLE_LETTERS = 21  # in a line
MOST_COLOUR = 30  # over the least time [1]
DARK = 8  # from which on a cell has white letters [1]
KEYS = ["case", "case_label", "variant", "label", "seed"]
MORE = [
    "n_flows", "retransmitted_packets", "timeouts", "dropped_frames", "pause_frames",
    "trimmed_packets", "max_queue_bytes", "completion_ps", "bound_ps",
]  # fmt: skip


def draw(figure, completion, slowdown):
    """Draw a row for each transport and a column for each case; return what is drawn and more."""
    table = completion.merge(
        slowdown[[*KEYS, *slowdown.columns.difference(completion.columns)]], on=KEYS
    )
    is_random = table["case"].str.startswith(RANDOM_TIMES)
    table["shown"] = table["over_bound"].where(~is_random, table["slowdown_p99"])
    looks = figures.styles(named(table, "variant", "label"))
    cases = dict(named(table, "case", "case_label"))
    means = table.groupby(["variant", "case"])["shown"].mean().unstack()
    cells = means.reindex(index=list(looks), columns=list(cases))
    parts = np.array_split(np.array(list(cases)), 2 if figures.is_column(figure) else 1)
    figure.set_figheight(BAR_INCHES + len(parts) * (TITLE_INCHES + ROW_INCHES * len(looks)))
    axes = figure.subplots(len(parts), 1, squeeze=False).ravel()
    for ax, names in zip(axes, parts, strict=True):
        image = draw_map(ax, cells[names], [cases[name] for name in names])
        ax.set_yticks(range(len(looks)), [look.label for look in looks.values()], fontsize=6)
    bar = figure.colorbar(
        image, ax=axes, extend="max", ticks=[1, 2, 5, 10, MOST_COLOUR], fraction=0.03, pad=0.02,
        orientation="horizontal", aspect=40,
    )  # fmt: skip
    bar.ax.set_xticklabels(["1", "2", "5", "10", str(MOST_COLOUR)], fontsize=6)
    bar.ax.minorticks_off()
    bar.set_label("over the least time; web search: p99 slowdown [1]", fontsize=6)
    over = figures.over_seeds(table, ["case", "variant"], "shown")
    return pd.concat([table[[*KEYS, "shown", *MORE]], over], ignore_index=True)


def draw_map(ax, cells, titles):
    """Draw one map with a number in each cell; return what the colours are of."""
    image = ax.imshow(cells, cmap="YlOrRd", norm=LogNorm(1, MOST_COLOUR), aspect="auto")
    for (row, column), value in np.ndenumerate(cells.to_numpy()):
        if np.isfinite(value):
            ax.text(
                column, row, text_of(value), ha="center", va="center", fontsize=6,
                color="white" if value > DARK else "black",
            )  # fmt: skip
    wrapped = ["\n".join(wrap(title, TITLE_LETTERS)) for title in titles]
    ax.set_xticks(range(len(titles)), wrapped, fontsize=6, rotation=90)
    ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
    ax.spines[:].set_visible(False)
    return image


def text_of(value):
    """Return a ratio with three digits."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def named(table, name, label):
    """Return names and labels, in the order of the scenario."""
    return list(table[[name, label]].drop_duplicates().itertuples(index=False, name=None))


if __name__ == "__main__":
    figures.main(draw, NEEDS)
