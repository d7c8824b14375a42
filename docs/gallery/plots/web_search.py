# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown of the messages of a web search at 60 % load, by their size: median and slowest.

A point has 29 or 30 messages. Slowdown: completion time over that of the same message alone.
Wherever a hash puts too many long messages on one link, short ones wait behind them; with spraying
only the last hop is left to wait for.
"""

from pyorch import figures
from pyorch.views.slowdown import by_size


def draw(ax, runs):
    """Draw two lines per variant over the size of a message."""
    import pandas as pd

    ax.figure.set_figheight(2.5)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, (run,) in runs.items():
        look, rows = looks[name], by_size(run)
        for column, dashes, text in (
            ("slowdown_p50", "-", "median"), ("slowdown_p99", (0, (3, 1.5)), "slowest"),
        ):  # fmt: skip
            ax.plot(
                rows["bytes"] / 1e3, rows[column], ls=dashes, color=look.color,
                marker=look.marker, ms=3, label=f"{look.label}, {text}",
            )  # fmt: skip
        tables.append(rows.assign(variant=name))
    data = pd.concat(tables, ignore_index=True)
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100) if tick < data["slowdown_p99"].max()]
    ax.set(xscale="log", yscale="log", xlabel="size of the message [kB]", ylabel="slowdown")
    ax.set_yticks(ticks, ticks)
    ax.minorticks_off()
    ax.grid(True)
    figures.legend(ax.figure, [ax], 4)
    return data
