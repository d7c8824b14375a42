# SPDX-License-Identifier: GPL-2.0-only
"""Draws exposed networking by rate, in bands of transports, a panel for each model."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyorch.figures.layout import is_column, legend, panels
from pyorch.figures.style import styles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SYMBOLS = {"o": "paper: about", "^": "paper: more than", "v": "paper: less than"}


def exposed_by_rate(
    figure: "Figure",
    data: "pd.DataFrame",
    titles: Mapping[str, str],
    stated: Mapping[str, Sequence[tuple[float, float, str]]],
    rates: Sequence[float],
    label: str,
) -> None:
    """Draw one panel per model, one band for each group of transports, and what a text says.

    Groups are those of style.yaml: lines of its transports would hide each other.

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
    groups = data["transport"].map({name: look.group or look.label for name, look in looks.items()})
    axes = panels(figure, [2.4] * len(titles), sharey=True)
    for ax, (preset, title) in zip(axes, titles.items(), strict=True):
        shown = data[data["preset"] == preset]
        optimum = shown[shown["transport"] == shown["transport"].iloc[0]]
        others = shown[shown["transport"] != optimum["transport"].iloc[0]]
        for name, band in others.groupby(groups, sort=False):
            look = looks[band["transport"].iloc[0]]
            _band(ax, band, name, look.group_color or look.color)
        ax.plot(optimum["rate"], optimum["exposed_percent"], "k--", lw=1, label="optimal")
        for symbol, name in SYMBOLS.items():
            points = [(rate, percent) for rate, percent, kind in stated[preset] if kind == symbol]
            if points:
                ax.plot(*zip(*points, strict=True), symbol, mfc="white", color="black", ms=4.5,
                        zorder=5, label=name)  # fmt: skip
        ax.set_title(title, loc="left")
        ax.set_xscale("log")
        ax.set_xticks(rates, [str(rate) for rate in rates])
        ax.minorticks_off()
        ax.set(xlabel=label, ylim=(0, 100))
        if ax is axes[0] or is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
        ax.grid(True)
    legend(figure, axes, 3)


def _band(ax: "Axes", band: "pd.DataFrame", name: str, color: str) -> None:
    """Draw from the least to the most that a group of transports exposes, and its mean."""
    low, high = band["pipeline_slowdown"].min(), band["pipeline_slowdown"].max()
    by = band.groupby("rate")["exposed_percent"]
    slow = f"{low:.2f} to {high:.2f}" if high > low else f"{low:.2f}"
    label = f"{name}: {slow} x optimal"
    ax.fill_between(by.min().index, by.min(), by.max(), color=color, alpha=0.35, lw=0)
    ax.plot(by.mean().index, by.mean(), color=color, lw=1, label=label)
