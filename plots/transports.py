# SPDX-License-Identifier: GPL-2.0-only
"""Every transport in every case: how long everything takes over the least time that it can take.

Red: messages that begin together, from the start until the last one is delivered, over what the
bytes need through hosts and edge switches with their links as they are, so 1 cannot be passed.
Blue: web search, whose messages come at random times; the 99th percentile of the slowdown,
completion over that of the message alone. The two cannot be compared. Numbers: means over the
seeds; colours: their logarithm. Each seed, losses, trims, pauses and the longest queues are in the
CSV. Networks have 128 hosts where a case does not say more; in one all-to-all 32 of them take part.
"""

from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from pyorch import figures

NEEDS = {"completion": "transports/completion.csv", "slowdown": "transports/slowdown.csv"}
#: Cases of messages that come at random times have no common completion: their tail is shown.
RANDOM_TIMES = "web_search"
#: Kinds of cases: whether their messages come at random times; colours; what the numbers are.
KINDS = (
    (False, "YlOrRd", "over the least time [1]"),
    (True, "PuBu", "p99 slowdown [1]"),
)
ROW_INCHES, TITLE_INCHES, BAR_INCHES = 0.16, 1.15, 0.45
GAP = 0.08  # between the two kinds of cases, over the width of the figure [1]
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
    blocks = rows_of(list(cases), figures.is_column(figure))
    figure.set_figheight(BAR_INCHES + len(blocks) * (TITLE_INCHES + ROW_INCHES * len(looks)))
    grids = figure.add_gridspec(len(blocks), 1)
    shown = {}
    for grid, block in zip(grids, blocks, strict=True):
        inner = grid.subgridspec(1, len(block), width_ratios=[*map(len, block)], wspace=GAP)
        for place, (part, names) in enumerate(zip(inner, block, strict=True)):
            ax = figure.add_subplot(part)
            is_random = names[0].startswith(RANDOM_TIMES)
            image = draw_map(ax, cells[names], [cases[name] for name in names], is_random)
            shown.setdefault(is_random, []).append((ax, image))
            labels = [look.label if place == 0 else "" for look in looks.values()]
            ax.set_yticks(range(len(looks)), labels, fontsize=6)
    draw_bars(figure, shown)
    over = figures.over_seeds(table, ["case", "variant"], "shown")
    return pd.concat([table[[*KEYS, "shown", *MORE]], over], ignore_index=True)


def rows_of(cases, is_column):
    """Return rows of maps: in each the cases of one kind, or of both beside each other."""
    together = [case for case in cases if not case.startswith(RANDOM_TIMES)]
    random = [case for case in cases if case.startswith(RANDOM_TIMES)]
    first = -(-len(cases) // 2) if is_column else len(together)
    rows = [[together[:first]], [together[first:], random]] if is_column else [[together, random]]
    rows = [[names for names in row if names] for row in rows]
    return [row for row in rows if row]


def draw_bars(figure, shown):
    """Draw what the colours of each kind of cases are, below the last map of it."""
    for is_random, _, label in KINDS:
        if is_random not in shown:
            continue
        ax, image = shown[is_random][-1]
        bar = figure.colorbar(
            image, ax=ax, extend="max", ticks=[1, 2, 5, 10, MOST_COLOUR], pad=0.02,
            orientation="horizontal", fraction=0.03, aspect=20, shrink=0.9,
        )  # fmt: skip
        bar.ax.set_xticklabels(["1", "2", "5", "10", str(MOST_COLOUR)], fontsize=6)
        bar.ax.minorticks_off()
        bar.set_label(label, fontsize=6)


def draw_map(ax, cells, titles, is_random):
    """Draw one map with a number in each cell; return what the colours are of."""
    colours = next(cmap for random, cmap, _ in KINDS if random == is_random)
    image = ax.imshow(cells, cmap=colours, norm=LogNorm(1, MOST_COLOUR), aspect="auto")
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
