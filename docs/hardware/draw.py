# SPDX-License-Identifier: GPL-2.0-only
"""Ours over the measured value, of each value that was measured on hardware.

A bar is what was allowed before the first run: the tolerance, or the uncertainty of the source.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures, measured
from pyorch.figures.command import drawn

FOLDER = Path(__file__).resolve().parent
NAME = "measured"


def draw(figure, table: pd.DataFrame):
    """Draw a line for each value; return what is drawn."""
    (ax,) = figures.panels(figure, [0.6 + 0.17 * len(table)])
    places = range(len(table))[::-1]
    within = table["verdict"] == measured.WITHIN
    ax.barh(places, 2 * table["allowed"], left=1 - table["allowed"], height=0.8, color="#e4e4e4")
    ax.axvline(1, color="black", lw=0.6)
    for is_within, color, marker, label in (
        (True, "C0", "o", "within what was allowed"), (False, "C1", "D", "outside")
    ):  # fmt: skip
        rows = within == is_within
        own = [place for place, chosen in zip(places, rows, strict=True) if chosen]
        ax.plot(table["ratio"][rows], own, ls="", marker=marker, color=color, label=label)
    ax.set_yticks(places, table["experiment"].str.replace("_", " ") + ": " + table["what"])
    ax.set(xlabel="ours over measured [1]", ylim=(-0.6, len(table) - 0.4))
    ax.set_xlim(min(0.4, table["ratio"].min() - 0.05), max(1.4, table["ratio"].max() + 0.05))
    ax.grid(axis="x")
    figures.legend(figure, [ax], 2)
    return table


def main() -> None:
    """Run all experiments and write their table and figure."""
    table = measured.table(measured.files(FOLDER.parents[1] / "measured"))
    figure, data = drawn(draw, {"table": table}, "")
    figures.save(figure, NAME, data, FOLDER, " ".join((__doc__ or "").split()) + "\n")
    for suffix in ("pdf", "svg"):  # the page shows the PNG
        (FOLDER / f"{NAME}.{suffix}").unlink()
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
