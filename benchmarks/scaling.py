# SPDX-License-Identifier: GPL-2.0-only
"""Speed-up of one run on several threads over one domain on one thread.

Measured on the cores of one machine, each thread with domains as said; with several numbers of
domains the faster. The grey line is a speed-up that equals the threads. Permutation of a leaf-spine
at 800 Gb/s, 500 ns per link.
"""

import sys
from pathlib import Path

import pandas as pd

from pyorch import figures
from pyorch.figures.command import drawn

#: Variants of `threads.py` as figures have them.
LOOKS = {
    "gobackn": figures.style("rocev2", "RoCEv2, one path, PFC"), "spray": figures.style("sprayed"),
}  # fmt: skip


def draw(figure, rows):
    """Draw a panel for each number of hosts; return what is drawn."""
    rows = rows[rows["kind"] == "measured"]
    sizes = sorted(rows["hosts"].unique())
    axes = figures.panels(figure, [2.4] * len(sizes), sharey=True)
    threads = sorted(rows["threads"].unique())
    for ax, hosts in zip(axes, sizes, strict=True):
        ax.plot(threads, threads, color="#aaaaaa", linewidth=0.8, zorder=0, label="ideal")
        for variant, look in LOOKS.items():
            own = rows[(rows["hosts"] == hosts) & (rows["variant"] == variant)]
            best = own.groupby("threads")["speed_up"].max()
            ax.plot(best.index, best, marker=look.marker, color=look.color, label=look.label)
        ax.set_title(f"{hosts} hosts", loc="left")
        ax.set_xticks(threads)
        ax.margins(x=0.15)
        ax.grid(visible=True)
        ax.set(xlabel="threads, each on a core of its own", ylabel="speed-up [1]", ylim=(0, None))
        ax.label_outer()
    figures.legend(figure, axes, 3)
    return rows


def main(table: Path, out: Path) -> None:
    """Write ``scaling.{pdf,svg,png,csv,txt}`` into a folder.

    Parameters
    ----------
    table : Path
        Written by ``threads.py --csv``.
    out : Path
        The folder.
    """
    figure, data = drawn(draw, {"rows": pd.read_csv(table)}, "")
    figures.save(figure, "scaling", data, out, __doc__)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
