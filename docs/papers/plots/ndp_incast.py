# SPDX-License-Identifier: GPL-2.0-only
"""When the first and the last of N messages of 450 kB to one host have arrived.

Compare with NDP (SIGCOMM 2017), figure 16: lines are what its authors' simulator comes with, points
ours. Right: how much longer the last one takes than the receiver's link needs for all bytes.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published" / "ndp_incast.csv"
#: 50 packets of 9000 B with 64 B of headers at 10 Gb/s [ms].
LINK_MS = 50 * 9064 * 8 / 1e7


def draw(figure, runs):
    """Draw completion times, and how much longer the last one takes; return both."""
    left, right = figures.panels(figure, [2.4, 2.4])
    rows = []
    for run in (run for found in runs.values() for run in found):
        end_ms = run.flows["receiver_end_ps"] / 1e9
        rows.append((len(end_ms), end_ms.min(), end_ms.max()))
    columns = ["senders", "first_ms", "last_ms"]
    ours = pd.DataFrame(rows, columns=columns).assign(series="ours")
    theirs = pd.read_csv(PUBLISHED, comment="#")[columns].assign(series="published")
    data = pd.concat([theirs, ours], ignore_index=True)
    data["over_percent"] = 100 * (data["last_ms"] / (data["senders"] * LINK_MS) - 1)
    for (name, rows), style in zip(
        data.groupby("series", sort=False), ({"ls": "-"}, {"ls": "", "ms": 3.5}), strict=True
    ):
        for column, color, marker in (("first_ms", "C1", "v"), ("last_ms", "C0", "o")):
            left.plot(
                rows["senders"], rows[column], color=color, lw=1,
                marker=marker if name == "ours" else "", **style,
                label=f"{column.partition('_')[0]}, {name}",
            )  # fmt: skip
        right.plot(
            rows["senders"], rows["over_percent"], color="C0", lw=1,
            marker="o" if name == "ours" else "", **style,
        )  # fmt: skip
    left.set(xlabel="senders", ylabel="completion [ms]", xlim=(0, None), ylim=(0, None))
    right.set(xlabel="senders", ylabel="last, longer [%]", xscale="log", ylim=(0, None))
    right.set_xticks([1, 10, 100], ["1", "10", "100"])
    for ax in (left, right):
        ax.grid(axis="y")
    figures.legend(figure, [left], 4)
    return data
