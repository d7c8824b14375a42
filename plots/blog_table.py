# SPDX-License-Identifier: GPL-2.0-only
"""The blog's comparison of parallelisms: how much and how often each pass communicates.

[asterfusion24]. Times are per mini-batch, but those of the TP forward pass per epoch: the blog
mixes the two. Data set: what is read from storage in an epoch.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import preset, traffic

NEEDS = {}

HEAD = [
    "", "backward\n[PB/epoch]", "forward\n[PB/epoch]", "backward\n[times]", "forward\n[times]",
    "data set\n[TB/epoch]",
]  # fmt: skip
NAMES = {
    "DP": "data (DP)", "FSDP": "fully sharded data (FSDP)", "TP": "tensor (TP)",
    "PP": "pipeline (PP)", "3D": "all three (8 x 8 x 16)",
}  # fmt: skip


def rows():
    """Return the table as numbers."""
    job = preset.training("llama3-70b").traffic
    times, loaded = traffic.communication_times(job), traffic.dataset_loading_bytes(job)
    found = []
    for kind, volume in traffic.volumes(job).items():
        often = times.get(kind)
        found.append(
            {
                "parallelism": kind,
                "backward_pb": float(volume.backward_bytes) / 1e15,
                "forward_pb": float(volume.forward_bytes) / 1e15,
                "backward_times": float(often.backward) if often else None,
                "forward_times": float(often.forward) if often else None,
                "dataset_tb": float(loaded[kind]) / 1e12 if kind in loaded else None,
            }
        )
    return pd.DataFrame(found)


def shown(value):
    """Return a number as the table shows it; what the blog does not give is a dash."""
    if pd.isna(value):
        return "–"
    return f"{value:,.4g}" if value < 1e4 or value >= 1e7 else f"{value:,.0f}"


def draw(ax):
    """Draw the table."""
    ax.figure.set_size_inches(figures.TWO_COLUMNS_INCHES, 1.6)
    data = rows()
    cells = [
        [NAMES[row.parallelism], *(shown(value) for value in row[2:])] for row in data.itertuples()
    ]
    ax.set_axis_off()
    table = ax.table(
        [HEAD, *cells], bbox=[0, 0, 1, 1], cellLoc="right", edges="horizontal",
        colWidths=[0.27, 0.155, 0.155, 0.13, 0.145, 0.145],
    )  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    for (row, column), cell in table.get_celld().items():
        cell.set_linewidth(0.8 if row == 0 else 0.3)
        cell.set_edgecolor("#444444")
        if row == 0:
            cell.set_height(1.6 * cell.get_height())
            cell.set_text_props(weight="bold")
        if column == 0:
            cell.set_text_props(ha="left")
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
