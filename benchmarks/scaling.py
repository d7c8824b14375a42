# SPDX-License-Identifier: GPL-2.0-only
"""Speed-up of one run on several threads over one domain on one thread.

Measured on the cores of one machine, each thread on a core of its own. A bar is a number of threads
and of domains, the parts of the network that threads simulate. Dotted: one domain on one thread.
Several domains on one thread can be faster than it, because they fit the cache. Short lines: a
speed-up that equals the threads. Permutation of a leaf-spine at 800 Gb/s, 500 ns per link.
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
    is_more = (rows["domains"] > 1) | (rows["threads"] > 1)
    kinds = sorted(set(zip(rows["threads"][is_more], rows["domains"][is_more], strict=True)))
    for ax, hosts in zip(axes, sizes, strict=True):
        for side, (variant, look) in enumerate(LOOKS.items()):
            own = rows[(rows["hosts"] == hosts) & (rows["variant"] == variant)]
            found = own.set_index(["threads", "domains"])["speed_up"].reindex(kinds)
            at = [group + 0.38 * (side - 0.5) for group in range(len(kinds))]
            ax.bar(at, found, 0.36, color=look.color, label=look.label)
            for place, value in zip(at, found, strict=True):
                if pd.notna(value):
                    ax.text(place, 0.06, f"{value:.2f}", ha="center", fontsize=6, color="white")
        for group, (threads, _) in enumerate(kinds):
            if threads > 1:
                ax.hlines(threads, group - 0.42, group + 0.42, color="#666666", linewidth=1,
                          label="speed-up that equals the threads")  # fmt: skip
        ax.axhline(1, color="black", linestyle=":", linewidth=1, label="one domain on one thread")
        ax.set_title(f"{hosts} hosts", loc="left")
        names = [f"{counted(threads, 'thread')}\n{counted(domains, 'domain')}"
                 for threads, domains in kinds]  # fmt: skip
        ax.set_xticks(range(len(kinds)), names)
        ax.tick_params(axis="x", length=0)
        ax.grid(axis="y")
        ax.set(ylabel="speed-up [1]", ylim=(0, None))
        ax.label_outer()
    figures.legend(figure, axes, 4)
    return rows


def counted(number, what):
    """Return a number of things in words, as ``2 threads``."""
    return f"{number} {what}{'s' * (number > 1)}"


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
