# SPDX-License-Identifier: GPL-2.0-only
"""What views share: units of axes, looks of runs, and samples as rates."""

import math
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pyorch.figures.style import styles
from pyorch.spec.parameters import distinguishing, headings, shown
from pyorch.views._draw import Viewed

if TYPE_CHECKING:
    import pandas as pd

#: Okabe and Ito, distinguishable without red-green vision; yellow is left out on white paper.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
STYLES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "D", "v")
#: More lines than these cannot be told apart.
MOST_LINES = 6
#: Letters of a legend that fit side by side; how high a line is, and how many need no more room.
LINE, LINE_INCHES, ROWS_WITH_ROOM = 64, 0.14, 3
LINK = ["node", "peer", "parallel"]


def time_unit(longest_ps: float) -> tuple[str, float]:
    """Return the unit that fits a time axis and how many ps it has."""
    for unit, ps in (("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if longest_ps >= ps:
            return unit, ps
    return "ps", 1.0


def size_unit(largest_bytes: float) -> tuple[str, float]:
    """Return the unit that fits an axis of sizes and how many bytes it has."""
    for unit, n_bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if largest_bytes >= n_bytes:
            return unit, n_bytes
    return "B", 1.0


def look(place: int) -> dict[str, object]:
    """Return colour and line style of the n-th of several lines: no two are the same."""
    style = STYLES[place // len(COLORS) % len(STYLES)]
    return {"color": COLORS[place % len(COLORS)], "linestyle": style}


def looks(runs: Sequence[Viewed]) -> list[dict[str, object]]:
    """Return colour and line style of each run: no two are the same.

    Variants have the colours that they have in every figure, and runs of one variant differ in
    their lines, unless these are too many or a run is of no variant.
    """
    count = Counter(run.variant for run in runs)
    if "" in count or max(count.values()) > len(STYLES):
        return [look(place) for place in range(len(runs))]
    known, seen = styles((name, None) for name in count), Counter[str]()
    found: list[dict[str, object]] = []
    for run in runs:
        variant = known[run.variant]
        lines = STYLES[seen[run.variant]] if count[run.variant] > 1 else variant.dashes
        found.append({"color": variant.color, "linestyle": lines})
        seen[run.variant] += 1
    return found


def series_looks(runs: Sequence[Viewed], n: int) -> list[dict[str, object]]:
    """Return the looks of n lines: one for each run, or of one run as a whole and of its parts."""
    own = looks(runs)
    if len(runs) > 1:
        return own
    parts = [look(place) for place in range(n)]
    return [*own, *(part for part in parts if part["color"] != own[0]["color"])]


def names(runs: Sequence[Viewed]) -> list[str]:
    """Return what tells runs apart: their variant, and as many parameters as that takes."""
    keys = [key for key in distinguishing(run.parameters for run in runs) if key != "seed"]
    keys.sort(key=lambda key: ".attributes." in key)
    if any(labels := [run.point_label for run in runs]):
        labels = [label or run.id for label, run in zip(labels, runs, strict=True)]
    columns = [labels]
    for key, heading in zip(keys, headings(keys), strict=True):
        columns.append([_said(heading, key, run.parameters.get(key)) for run in runs])
    if len({run.seed for run in runs}) > 1:
        columns.append([f"seed {run.seed}" for run in runs])
    found = [""] * len(runs)
    for column in columns:
        longer = [", ".join(filter(None, pair)) for pair in zip(found, column, strict=True)]
        if len(set(longer)) > len(set(found)) or not any(found):
            found = longer
    if len(set(found)) < len(runs):
        return [run.id for run in runs]
    return [name or f"seed {run.seed}" for name, run in zip(found, runs, strict=True)]


def _said(heading: str, key: str, value: object) -> str:
    """Return a parameter in the words of a legend: ``senders 8``, ``Pfc``, ``no flow_control``."""
    if key.endswith(".type"):
        name = heading.removesuffix(" type")
        return f"no {name}" if value is None else str(value).removeprefix("ns3::")
    return "" if value is None else f"{heading} {shown(key, value).removeprefix('ns3::')}"


def link_names(table: "pd.DataFrame") -> list[str]:
    """Return ``12 to 3`` for each row; with the number of the link where there are several."""
    several = bool(table["parallel"].max())
    return [
        f"{node} to {peer}{f' ({parallel})' if several else ''}"
        for node, peer, parallel in table[LINK].itertuples(index=False, name=None)
    ]


def moments(run: Viewed, samples: "pd.DataFrame") -> np.ndarray:
    """Return all times at which a run was sampled [ps]: rows without anything are left out."""
    times = np.unique(samples["time_ps"].to_numpy(dtype=np.int64))
    period_ps = run.spec.trace.sample_ps
    return np.union1d(np.arange(period_ps, times.max(initial=0) + 1, period_ps), times)


def over_time(rows: "pd.DataFrame", column: str, times: np.ndarray) -> "pd.DataFrame":
    """Return ``time_ps`` and the sum of a column at each moment, 0 where nothing was recorded."""
    sums = rows.groupby("time_ps")[column].sum().reindex(times, fill_value=0)
    return sums.rename_axis("time_ps").reset_index()


def per_period(samples: "pd.DataFrame", times: np.ndarray) -> np.ndarray:
    """Return, for each sample, the time since the moment before [ps]."""
    periods = np.diff(times, prepend=0)
    return periods[np.searchsorted(times, samples["time_ps"].to_numpy(dtype=np.int64))]


def draw_series(
    ax, table: "pd.DataFrame", column: str, factor: float, runs: Sequence[Viewed]
) -> None:  # fmt: skip
    """Draw one line per ``series`` of a column of some runs over time, times `factor`."""
    unit, ps = time_unit(table["time_ps"].max())
    of_each = series_looks(runs, table["series"].nunique())
    for style, (name, rows) in zip(of_each, table.groupby("series", sort=False), strict=False):
        ax.plot(rows["time_ps"] / ps, rows[column] * factor, label=name, **style)
    ax.set(xlabel=f"time [{unit}]", xlim=(0, None), ylim=(0, None))
    ax.grid()
    outside_legend(ax, table["series"].nunique())


def outside_legend(ax, n_entries: int) -> None:
    """Put the legend below the axes if there is anything to tell apart; a long one adds height."""
    if n_entries > 0:
        handles, labels = ax.get_legend_handles_labels()
        labels = [textwrap.fill(label, LINE) for label in labels]
        columns = min(2 if n_entries > 3 else n_entries, LINE // max(map(len, labels)) or 1)
        width, height = ax.figure.get_size_inches()
        n_lines = sum(label.count("\n") + 1 for label in labels)
        height += LINE_INCHES * max(0, math.ceil(n_lines / columns) - ROWS_WITH_ROOM)
        ax.figure.set_size_inches(width, height)
        ax.figure.legend(handles, labels, loc="outside lower center", ncols=columns)
