# SPDX-License-Identifier: GPL-2.0-only
"""Draws exposed networking by rate and transport, a panel for each model."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyorch.figures.layout import is_column, legend, panels
from pyorch.figures.style import styles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Optimum wide and grey below; transports that coincide show as dashes on a wider line.
LINES = [
    {"lw": 5, "color": "#d5d5d5"}, {"lw": 2.4}, {"lw": 1.4, "ls": (0, (4, 2))},
    {"lw": 1.2, "ls": (0, (1, 1.2))},
]  # fmt: skip
SYMBOLS = {"o": "paper: about", "^": "paper: more than", "v": "paper: less than"}


def exposed_by_rate(
    figure: "Figure",
    data: "pd.DataFrame",
    titles: Mapping[str, str],
    stated: Mapping[str, Sequence[tuple[float, float, str]]],
    rates: Sequence[float],
    label: str,
) -> None:
    """Draw one panel per model, one curve per transport, and what a text says.

    Parameters
    ----------
    figure : Figure
        Empty.
    data : DataFrame
        Columns ``preset``, ``transport``, ``label``, ``pipeline_slowdown`` [1], ``rate`` in the
        unit of the axis, ``exposed_percent``; the first transport is the optimum.
    titles : mapping
        Of each preset, in the order of the panels.
    stated : mapping
        For each preset: rate, percent and one of `SYMBOLS`.
    rates : sequence
        Where the axis has ticks.
    label : str
        Of the axis, with its unit.
    """
    looks = styles(data[["transport", "label"]].itertuples(index=False, name=None))
    axes = panels(figure, [2.4] * len(titles), sharey=True)
    for ax, (preset, title) in zip(axes, titles.items(), strict=True):
        shown = data[data["preset"] == preset].groupby("transport", sort=False)
        for number, (kind, curve) in enumerate(shown):
            line = {"color": looks[kind].color} | LINES[min(number, len(LINES) - 1)]
            ratio = curve["pipeline_slowdown"].iloc[0]
            name = looks[kind].label + (f" ({ratio:.2f} x optimal)" if number else "")
            ax.plot(curve["rate"], curve["exposed_percent"], label=name, **line)
        for symbol, name in SYMBOLS.items():
            points = [(rate, percent) for rate, percent, kind in stated[preset] if kind == symbol]
            if points:
                ax.plot(*zip(*points, strict=True), symbol, mfc="white", color="black", ms=4.5,
                        zorder=5, label=name)  # fmt: skip
        ax.set_title(title, loc="left")
        ax.set_xscale("log")
        ax.set_xticks(rates, rates)
        ax.minorticks_off()
        ax.set(xlabel=label, ylim=(0, 100))
        if ax is axes[0] or is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
        ax.grid(True)
    legend(figure, axes, 3)
