# SPDX-License-Identifier: GPL-2.0-only
"""Takes small tables, writes figures as PDF, SVG and PNG, their data (CSV) and caption (TXT).

A figure is one file in plots/ with `NEEDS`, `draw` and ``figures.main(draw, NEEDS)`` at its end:

``NEEDS``
    Literal dict from a name to ``"<scenario>/<metric>.csv"``; the Snakefile reads it without
    importing the file. Empty for a figure of theory alone.
``draw(figure, **tables)`` or ``draw(ax, **tables)``
    Draws on a matplotlib Figure (or on one Axes) and returns the DataFrame that it has drawn.

The docstring of the file is the caption of the figure. ``panels`` and ``legend`` lay it out for the
width of a page and of one text column (``--width column``).

Importing this package does not import matplotlib; drawing does.
"""

from pyorch.figures.command import main
from pyorch.figures.exposed_by_rate import exposed_by_rate
from pyorch.figures.interval import mean_interval, over_seeds
from pyorch.figures.layout import (
    ONE_COLUMN_INCHES,
    TWO_COLUMNS_INCHES,
    is_column,
    legend,
    panels,
)
from pyorch.figures.needs import need_path, read_caption, read_needs
from pyorch.figures.network import draw_network
from pyorch.figures.save import save
from pyorch.figures.style import Style, style, styles

__all__ = [
    "ONE_COLUMN_INCHES",
    "TWO_COLUMNS_INCHES",
    "Style",
    "draw_network",
    "exposed_by_rate",
    "is_column",
    "legend",
    "main",
    "mean_interval",
    "need_path",
    "over_seeds",
    "panels",
    "read_caption",
    "read_needs",
    "save",
    "style",
    "styles",
]
