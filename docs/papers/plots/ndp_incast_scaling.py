# SPDX-License-Identifier: GPL-2.0-only
"""How much longer than it has to an incast takes, by its senders and by the first window.

Compare with NDP (SIGCOMM 2017), figure 20: lines are what its authors' simulator comes with, points
ours. What it has to take: 30 packets of 9064 B for each sender at 10 Gb/s, and the way of the first
one, 42.256 us.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published" / "ndp_incast_scaling.csv"
TICKS = (1, 10, 100, 1000, 8000)


def draw(ax, runs):
    """Draw the overhead over the number of senders, one colour per window; return it."""
    ax.figure.set_figheight(2.6)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    theirs, parts = pd.read_csv(PUBLISHED, comment="#"), []
    for name, found in runs.items():
        packets = int(name.removeprefix("window_"))
        rows = [
            (packets, len(run.flows), run.flows["receiver_end_ps"].max() / 1e6) for run in found
        ]
        ours = pd.DataFrame(rows, columns=theirs.columns)
        for series, table, style in (
            ("published", theirs[theirs["window_packets"] == packets], {"lw": 1}),
            ("ours", ours, {"ls": "", "marker": looks[name].marker, "ms": 4}),
        ):
            least_us = table["senders"] * 30 * 9064 * 8 / 1e4 + 42.256
            part = table.assign(series=series, over_percent=100 * (table["last_us"] / least_us - 1))
            ax.plot(
                part["senders"], part["over_percent"], color=looks[name].color, **style,
                label=f"{looks[name].label}, {series}",
            )  # fmt: skip
            parts.append(part)
    ax.set(xscale="log", xlabel="senders", ylabel="longer than the least [%]", ylim=(-0.2, 4))
    ax.set_xticks(TICKS, [f"{tick}" for tick in TICKS])
    ax.minorticks_off()
    ax.grid(axis="y")
    figures.legend(ax.figure, [ax], 3)
    return pd.concat(parts, ignore_index=True)
