# SPDX-License-Identifier: GPL-2.0-only
"""Lays out the panels and the legend of a figure of either width: one design for both.

A figure is drawn for the width of a page or of one text column, and is never scaled afterwards, so
its letters have the size that `save.RC_PARAMS` says wherever it is printed.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyorch.calls import checked
from pyorch.errors import FigureError, quoted

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ONE_COLUMN_INCHES = 3.33  # text column of the ACM two-column format
TWO_COLUMNS_INCHES = 7.0
WIDTHS = {"page": TWO_COLUMNS_INCHES, "column": ONE_COLUMN_INCHES}
#: Height of a line of the legend [inch].
LEGEND_LINE_INCHES = 0.16
#: Height of a panel that shares its column with others, over its height on a page.
COLUMN_PANEL_SHARE = 0.85


def is_column(figure: "Figure") -> bool:
    """Whether the figure has the width of one text column."""
    return figure.get_figwidth() < 5


@checked
def panels(
    figure: "Figure", heights: Sequence[float], ratios: Sequence[float] = (), **options: Any
) -> "list[Axes]":  # fmt: skip
    """Return panels side by side on a page, one below the other in a column.

    Parameters
    ----------
    figure : Figure
        As `main` makes it; its height is set here.
    heights : sequence of float
        Height of each panel with its axis [inch]; on a page the largest is that of all.
    ratios : sequence of float
        Widths of the panels on a page; without, all the same.
    options
        ``sharex`` and ``sharey`` of `Figure.subplots`.

    Returns
    -------
    list of Axes
        One for each height.

    Raises
    ------
    FigureError
        There is no height, or one that is not more than 0.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> page, column = Figure(figsize=(7, 2)), Figure(figsize=(3.3, 2))
    >>> len(panels(page, [2.0, 1.5])), len(panels(column, [2.0, 1.5]))
    (2, 2)
    >>> float(page.get_figheight()), round(float(column.get_figheight()), 3)  # inches
    (2.0, 2.975)
    """
    if not heights or min(heights) <= 0:
        raise FigureError("panels: heights: give the height of each panel, more than 0 inches.")
    if is_column(figure) and len(heights) > 1:
        figure.set_figheight(sum(heights) * COLUMN_PANEL_SHARE)
        grid = figure.subplots(len(heights), 1, height_ratios=heights, **options)
    else:
        figure.set_figheight(max(heights))
        grid = figure.subplots(
            1, len(heights), squeeze=False, width_ratios=ratios or None, **options
        )  # fmt: skip
    return list(grid.flat)


@checked
def legend(
    figure: "Figure",
    axes: "Iterable[Axes]",
    ncols: int = 4,
    extra: "dict[str, Artist] | None" = None,
) -> None:
    """Draw one legend of all panels below them; an entry that stands in several is shown once.

    Parameters
    ----------
    figure : Figure
        Grows by the lines that do not fit beside each other in a column.
    axes : iterable of Axes
        Where the entries come from.
    ncols : int
        Entries in a line on a page; a column has half as many.
    extra : dict of str to artist, optional
        More entries, behind the others.

    Returns
    -------
    None
        The legend is part of the figure.

    Raises
    ------
    FigureError
        Something is no Axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(7, 2))
    >>> axes = panels(figure, [2.0, 2.0])
    >>> lines = [ax.plot([0, 1], label="NDP") for ax in axes]
    >>> legend(figure, axes)
    >>> len(figure.legends[0].get_texts())
    1
    """
    entries: dict[str, Artist] = {}
    for ax in axes:
        if not hasattr(ax, "get_legend_handles_labels"):
            raise FigureError(f"legend: axes: {quoted(ax)} is no Axes of a figure.")
        handles, labels = ax.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    entries |= extra or {}
    if is_column(figure):
        wide = max(map(len, entries)) > 24
        fewer = 1 if wide else max(1, min(2, ncols // 2))
        more = -(-len(entries) // fewer) - -(-len(entries) // ncols)
        figure.set_figheight(figure.get_figheight() + more * LEGEND_LINE_INCHES)
        ncols = fewer
    figure.legend(
        [*entries.values()], [*entries], loc="outside lower center", ncols=ncols,
        columnspacing=1.5,
    )  # fmt: skip
