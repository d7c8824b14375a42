# SPDX-License-Identifier: GPL-2.0-only
"""The blog's comparison of parallelisms: how much and how often each pass communicates.

[asterfusion24]. Data parallel (DP), fully sharded data parallel (FSDP), tensor parallel (TP),
pipeline parallel (PP), and all three with 8 x 8 x 16 devices (3D). How often is per mini-batch, but
for the forward pass of TP, which the blog counts per epoch. A dash: the blog does not say.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import preset, traffic

NEEDS = {}

#: Column of the table by what it is called.
QUANTITIES = {
    "sent backward\n[PB per epoch]": "backward_pb",
    "sent forward\n[PB per epoch]": "forward_pb",
    "operations backward\n[per mini-batch]": "backward_times",
    "operations forward\n[per mini-batch]": "forward_times",
    "read from storage\n[TB per epoch]": "dataset_tb",
}  # fmt: skip
#: From here on a number of operations is one of a whole epoch.
PER_EPOCH = 1e9


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
    if value >= PER_EPOCH:
        return f"{value / 1e12:.3g} trillion\nper epoch"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def draw(ax):
    """Draw the table, one column per kind of parallelism."""
    ax.figure.set_figheight(1.9)
    data = rows()
    cells = [
        [name, *(shown(value) for value in data[column])] for name, column in QUANTITIES.items()
    ]
    ax.set_axis_off()
    widths = [0.3, *[0.7 / len(data)] * len(data)]
    table = ax.table(
        [["", *data["parallelism"]], *cells], bbox=[0, 0, 1, 1], cellLoc="right",
        edges="horizontal", colWidths=widths,
    )  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(6 if figures.is_column(ax.figure) else 8)
    for (row, column), cell in table.get_celld().items():
        cell.set_linewidth(0.8 if row == 0 else 0.3)
        cell.set_edgecolor("#444444")
        cell.PAD = 0.02
        if row == 0:
            cell.set_text_props(weight="bold")
        if column == 0:
            cell.set_text_props(ha="left")
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
