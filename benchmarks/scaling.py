# SPDX-License-Identifier: GPL-2.0-only
"""Speed-up of one run on several threads over one domain on one thread.

Full marks are measured, each thread with domains as said; hollow ones are estimates for cores that
were not there: equal shares of the work, with the hand-over measured at the most domains and the
measured barrier. The grey line is a speed-up that equals the threads. Permutation of a leaf-spine
at 800 Gb/s, 500 ns per link.
"""

import sys
from pathlib import Path

import pandas as pd

from pyorch import figures
from pyorch.figures.command import drawn

LOOKS = {"gobackn": ("RoCEv2, one path, PFC", "C0", "o"), "spray": ("sprayed", "C1", "s")}


def draw(figure, rows):
    """Draw a panel for each number of hosts; return what is drawn."""
    sizes = sorted(rows["hosts"].unique())
    axes = figures.panels(figure, [2.4] * len(sizes), sharey=True)
    most = rows["threads"].max()
    for ax, hosts in zip(axes, sizes, strict=True):
        ax.plot([1, most], [1, most], color="#aaaaaa", linewidth=0.8)
        for variant, (label, color, marker) in LOOKS.items():
            own = rows[(rows["hosts"] == hosts) & (rows["variant"] == variant)]
            measured, estimated = (own[own["kind"] == kind] for kind in ("measured", "estimate"))
            best = measured.groupby("threads")["speed_up"].max()
            ax.plot(best.index, best, marker=marker, color=color, label=f"{label}, measured")
            ax.plot(estimated["threads"], estimated["speed_up"], marker=marker, color=color,
                    linestyle=":", markerfacecolor="white", label=f"{label}, estimate")  # fmt: skip
        ax.set_title(f"{hosts} hosts", loc="left")
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        ticks = [1 << i for i in range(int(most).bit_length())]
        ax.set_xticks(ticks, [str(tick) for tick in ticks])
        ax.set_yticks(ticks, [str(tick) for tick in ticks])
        ax.minorticks_off()
        ax.grid(visible=True)
        ax.set(xlabel="threads, each on a core of its own", ylabel="speed-up [1]")
        ax.label_outer()
    figures.legend(figure, axes, 2)
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
