# SPDX-License-Identifier: GPL-2.0-only
"""Every transport in every case: how long everything takes over the least time that it can take.

Messages that begin together: from the start until the last one is delivered, over what the bytes
need through hosts and edge switches with their links as they are, so 1 cannot be passed. Web
search: 99th percentile of the slowdown, completion over that of the message alone. Small symbols:
seeds; bars: their mean. Logarithmic axes, all from 1 on. Losses, trims, pauses and the
longest queues are in the CSV.
"""

from itertools import count
from textwrap import wrap

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from pyorch import figures

NEEDS = {"completion": "transports/completion.csv", "slowdown": "transports/slowdown.csv"}
#: Cases of messages that come at random times have no common completion: their tail is drawn.
RANDOM_TIMES = "web_search"
ROW_INCHES = 0.13
TITLE_LETTERS = 24  # in a line
#: Ticks of an axis that ends there.
TICKS = {2: (1, 1.2, 1.5, 2), 10: (1, 2, 3, 5, 10), np.inf: (1, 3, 10, 30, 100, 300)}
KEYS = ["case", "case_label", "variant", "label", "seed"]
MORE = [
    "n_flows", "retransmitted_packets", "timeouts", "dropped_frames", "pause_frames",
    "trimmed_packets", "max_queue_bytes", "completion_ps", "bound_ps",
]  # fmt: skip


def draw(figure, completion, slowdown):
    """Draw a panel for each case, a row for each transport; return what is drawn and more."""
    table = completion.merge(
        slowdown[[*KEYS, *slowdown.columns.difference(completion.columns)]], on=KEYS
    )
    is_random = table["case"].str.startswith(RANDOM_TIMES)
    table["shown"] = table["over_bound"].where(~is_random, table["slowdown_p99"])
    looks = figures.styles(variants(table))
    cases = list(table[["case", "case_label"]].drop_duplicates().itertuples(index=False, name=None))
    axes = grid(figure, len(cases), len(looks))
    for ax, (case, label), number in zip(axes, cases, count()):
        draw_case(ax, table[table["case"] == case], looks)
        ax.set_title("\n".join(wrap(label, TITLE_LETTERS)), loc="left", fontsize=6)
        if number % columns(figure) == 0:
            ax.set_yticks(range(len(looks)), [look.label for look in looks.values()], fontsize=6)
        if number + columns(figure) >= len(cases):
            random = case.startswith(RANDOM_TIMES)
            ax.set_xlabel("p99 slowdown [1]" if random else "FCT / bound [1]", fontsize=6)
    for ax in axes[len(cases) :]:
        ax.set_visible(False)
    means = figures.over_seeds(table, ["case", "variant"], "shown")
    return pd.concat([table[[*KEYS, "shown", *MORE]], means], ignore_index=True)


def draw_case(ax, table, looks):
    """Draw the seeds and the mean of each transport."""
    for row, (variant, look) in enumerate(looks.items()):
        runs = table[table["variant"] == variant]
        if runs.empty:
            continue
        ax.barh(row, runs["shown"].mean() - 1, left=1, height=0.62, color=look.color, alpha=0.45)
        ax.plot(runs["shown"], [row] * len(runs), "|", color=look.color, markersize=4)
    ax.set_xscale("log")
    ax.set_xlim(0.97, 1.1 * max(1.5, table["shown"].max()))
    ticks = next(ticks for end, ticks in TICKS.items() if ax.get_xlim()[1] <= end)
    shown = [tick for tick in ticks if tick <= ax.get_xlim()[1]]
    ax.set_xticks(shown, [f"{tick:g}" for tick in shown], fontsize=6)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.minorticks_off()
    ax.set_yticks([])
    ax.set_ylim(len(looks) - 0.4, -0.6)
    ax.axvline(1, color="black", linestyle=":", linewidth=0.8, zorder=0)
    ax.grid(axis="x")


def columns(figure):
    """Return how many panels stand beside each other."""
    return 2 if figures.is_column(figure) else 5


def grid(figure, n_cases, n_rows):
    """Return the panels, row by row."""
    lines = -(-n_cases // columns(figure))
    figure.set_figheight(lines * (0.45 + ROW_INCHES * n_rows) + 0.2)
    return list(figure.subplots(lines, columns(figure), squeeze=False).flat)


def variants(table):
    """Return name and label of the variants, in the order of the scenario."""
    return list(table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))


if __name__ == "__main__":
    figures.main(draw, NEEDS)
