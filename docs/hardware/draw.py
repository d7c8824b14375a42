# SPDX-License-Identifier: GPL-2.0-only
"""Ours over the measured value, of each value that was measured on hardware.

A bar is what was allowed before the first run: the tolerance, or the uncertainty of the source.
"""

import textwrap
from pathlib import Path

import pandas as pd

from pyorch import figures, measured
from pyorch.cli.list import question
from pyorch.figures.command import drawn

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.with_suffix(".md")
NAME = "measured"
BEGIN, END = "<!-- generated: make hardware -->\n", "<!-- end -->\n"


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
    ax.set_xscale("log")
    ax.set_xlim(min(0.4, 0.8 * table["ratio"].min()), max(2.5, 1.25 * table["ratio"].max()))
    ticks = [x for x in (0.1, 0.2, 0.5, 1, 2, 5, 10) if ax.get_xlim()[0] <= x <= ax.get_xlim()[1]]
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.minorticks_off()
    ax.grid(axis="x")
    figures.legend(figure, [ax], 2)
    return table


def text_of(table: pd.DataFrame, files: list[Path]) -> str:
    """Return what the page says of each experiment."""
    parts = []
    for path in files:
        its, own = measured.read(path), table[table["experiment"] == path.stem]
        lines = [
            f"### {_sentence(path.stem.replace('_', ' '))}", "",
            *wrapped(_sentence(question(path))), "",
            *wrapped(f"Measured: {its.setup}. Source: {its.source}."), "",
            "| value | measured | ours | ratio | allowed | verdict |", "|---|---|---|---|---|---|",
            *(f"| {' | '.join(cells(row))} |" for row in own.itertuples()), "",
            *wrapped(f"Assumed: {'; '.join(its.assumed)}."), "",
        ]  # fmt: skip
        if its.explained:
            lines += [*wrapped(f"**Why ours differ.** {its.explained}"), ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def cells(row) -> tuple[str, ...]:
    """Return the cells of a row of the page."""
    unit = "" if row.unit == "ratio" else f" {row.unit}"
    return (row.what, f"{row.measured:g}{unit}", f"{row.ours:.4g}{unit}", f"{row.ratio:.2f}",
            f"{row.allowed:.0%}", row.verdict)  # fmt: skip


def wrapped(text: str) -> list[str]:
    """Return the lines of a paragraph."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def _sentence(text: str) -> str:
    return (text[:1].upper() + text[1:]).replace("Mrc ", "MRC ").replace("Hpn ", "HPN ")


def main() -> None:
    """Run all experiments and write their table, their figure and the page."""
    files = measured.files(FOLDER.parents[1] / "measured")
    table = measured.table(files)
    figure, data = drawn(draw, {"table": table}, "")
    figures.save(figure, NAME, data, FOLDER, " ".join((__doc__ or "").split()) + "\n")
    for suffix in ("pdf", "svg"):  # the page shows the PNG
        (FOLDER / f"{NAME}.{suffix}").unlink()
    before, _, rest = PAGE.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    written = pd.read_csv(FOLDER / f"{NAME}.csv")
    PAGE.write_text(f"{before}{BEGIN}\n{text_of(written, files)}\n{END}{after}")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
