# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown of the messages of a web search at 60 % load, by their size: median and slowest.

A point has 29 or 30 messages of one seed. All keep to one path of the same hash. DCQCN lets queues
grow to the threshold of its marks, TIMELY to a round trip of 50 us, HPCC keeps links at 95 % and
queues empty: no message below 100 kB takes more than 5 times as long as alone.
"""

from pyorch import figures
from pyorch.views.slowdown import by_size


def draw(figure, runs):
    """Draw the median on the left and the slowest on the right, over the size."""
    import pandas as pd

    panels = figures.panels(figure, [2.3, 2.3])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, (run,) in runs.items():
        look, rows = looks[name], by_size(run)
        for ax, column in zip(panels, ("slowdown_p50", "slowdown_p99"), strict=True):
            ax.plot(
                rows["bytes"] / 1e3, rows[column], ls=look.dashes, color=look.color,
                marker=look.marker, ms=3, label=look.label,
            )  # fmt: skip
        tables.append(rows.assign(variant=name))
    data = pd.concat(tables, ignore_index=True)
    for ax, text in zip(panels, ("median", "slowest"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="size of the message [kB]")
        ax.set_ylabel(f"slowdown, {text}")
        ticks = [
            tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500) if tick < 1.2 * ax.get_ylim()[1]
        ]
        ax.set_yticks(ticks, ticks)
        ax.minorticks_off()
        ax.grid(True)
    figures.legend(figure, panels[:1], 4)
    return data
