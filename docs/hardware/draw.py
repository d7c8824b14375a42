# SPDX-License-Identifier: GPL-2.0-only
"""Values of pyorch beside values measured on hardware: a line for each experiment, a mark for each
value.

First panel: speeds. The mark is the rate here over the measured one, or the measured time over that
here; pyorch is too fast to the right of 1. Second panel: ratios within one experiment, here over
measured. In brackets: the number of values, which are moved up or down where they would hide each
other. Bars: what was allowed before the first run, the tolerance or the source's uncertainty.
"""

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch import figures, measured
from pyorch.cli.list import question
from pyorch.figures.command import drawn

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.with_suffix(".md")
NAME = "measured"
TIMES = ("us", "ms", "s")
BEGIN, END = "<!-- generated: make hardware -->\n", "<!-- end -->\n"


#: Panels: what is on their axes, whether they have the ratios of an experiment, ends and ticks.
PANELS = (
    (
        "speed here over measured [1]\nright of 1: pyorch is too fast",
        False, (0.2, 20), (0.2, 0.5, 1, 2, 5, 10, 20),
    ),
    ("ratio here over measured [1]", True, (0.4, 2.5), (0.5, 1, 2)),
)  # fmt: skip
#: Words of file names that have capitals.
SPELLED = {word.lower(): word for word in ("DeepEP", "GPUs", "HPN", "MRC", "NCCL", "NVLink")}
#: What the figure calls an experiment, where the name of its file does not tell enough.
WORDS = {
    "allreduce_by_size": "All-reduce of 8 GPUs, by size",
    "cross_leaf": "Small message across leaves",
    "deepep": "DeepEP, 8 to 256 ranks",
    "goodput_by_size": "Goodput by size of messages",
    "hpn_segments": "HPN's segment, all-reduce",
    "lost_link": "Lost link, one of sixteen",
    "lost_port": "Lost ports of a host",
    "mesh_allgather": "All-gather in a mesh of GPUs",
    "mrc_failures": "MRC, lost links and switches",
    "mrc_goodput": "MRC, goodput of 32 KB",
    "mrc_loss": "MRC, random losses",
    "mrc_permutation": "MRC, permutation",
    "nccl_allreduce": "NCCL, all-reduce by size",
    "nccl_gpus": "NCCL, 4 to 8 GPUs",
    "nccl_nodes": "NCCL, 2 to 8 nodes",
    "nvlink_ring": "Ring of 8 GPUs over NVLink",
    "planes_rails": "Rails against planes",
    "queue_pairs": "Queue pairs, 1 against 16",
    "sendrecv_planes": "All hosts send over 8 planes",
    "victim": "Victim beside an incast",
}
#: Where marks that would hide each other are moved to, in rows; how near these are, over the axis.
MOVED, NEAR = (0, 0.32, -0.32), 0.028


def draw(figure, table: pd.DataFrame):
    """Draw a line for each experiment; return what is drawn."""
    names = [table[(table["unit"] == "ratio") == is_ratio]["experiment"].unique()
             for _, is_ratio, *_ in PANELS]  # fmt: skip
    axes = figures.panels(figure, [0.6 + 0.26 * len(its) for its in names])
    for ax, its, (label, _, ends, ticks) in zip(axes, names, PANELS, strict=True):
        shown = table[table["experiment"].isin(its)]
        place = shown["experiment"].map({name: -at for at, name in enumerate(its)})
        least, most = (_speed(shown, 1 + way * shown["allowed"]) for way in (-1, 1))
        ax.barh(place, most - least, left=least, height=0.8, color="#e4e4e4")
        ax.axvline(1, color="black", lw=0.6)
        within = shown["verdict"] == measured.WITHIN
        speed, width = _speed(shown, shown["ratio"]), NEAR * np.log(ends[1] / ends[0])
        moved = speed.groupby(shown["experiment"]).transform(_moved, width)
        for rows, color, marker, said in (
            (within, "C0", "o", "within what was allowed"), (~within, "C1", "D", "outside")
        ):  # fmt: skip
            ax.plot(speed[rows], (place + moved)[rows], ls="", marker=marker, ms=3,
                    color=color, label=said)  # fmt: skip
        counts = shown["experiment"].value_counts()
        names_of = [f"{WORDS.get(name, _title(name))} ({counts[name]})" for name in its]
        ax.set_yticks([-at for at in range(len(its))], names_of)
        ax.set(xlabel=label, ylim=(0.6 - len(its), 0.6), xscale="log", xlim=ends)
        ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
        ax.minorticks_off()
        ax.grid(axis="x")
    figures.legend(figure, axes[:1], 2)
    return table


def _moved(speeds: pd.Series, width: float) -> pd.Series:
    """Return how many rows each mark of an experiment is moved, so that none hides another."""
    last = dict.fromkeys(MOVED, -np.inf)
    found = {}
    for name, at in np.log(speeds).sort_values().items():
        free = [row for row in MOVED if at - last[row] >= width]
        found[name] = free[0] if free else min(last, key=last.__getitem__)
        last[found[name]] = at
    return pd.Series(found).reindex(speeds.index)


def _speed(table: pd.DataFrame, ratio: pd.Series) -> pd.Series:
    """Return ratios of rates as they are, and those of times as ratios of speeds."""
    return ratio.where(~table["unit"].isin(TIMES), 1 / ratio)


def text_of(table: pd.DataFrame, files: list[Path]) -> str:
    """Return what the page says of each experiment."""
    parts = []
    for path in files:
        its, own = measured.read(path), table[table["experiment"] == path.stem]
        lines = [
            f"### {_title(path.stem)}", "",
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
    return (row.what, f"{row.measured:g}{unit}", f"{row.ours:.4g}{unit}", f"{row.ratio:.3f}",
            f"{row.allowed:.0%}", row.verdict)  # fmt: skip


def wrapped(text: str) -> list[str]:
    """Return the lines of a paragraph."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False)


def _title(name: str) -> str:
    """Return the name of a file of measured/ as a heading."""
    return _sentence(" ".join(SPELLED.get(word, word) for word in name.split("_")))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


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
