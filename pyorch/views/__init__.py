# SPDX-License-Identifier: GPL-2.0-only
"""Takes finished runs, returns a look at them: one file is one kind of plot.

A view has a docstring, whose first paragraph is the caption, and ``draw(figure, runs)``, which
draws on a matplotlib Figure and returns the DataFrame that it has drawn.
"""

from pyorch.views._draw import draw, figure_format, write

__all__ = ["draw", "figure_format", "write"]
