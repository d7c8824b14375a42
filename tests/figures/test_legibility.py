# SPDX-License-Identifier: GPL-2.0-only
"""Every figure of the paper's study can be read in print, on a page and in a text column."""

import runpy
from itertools import combinations
from pathlib import Path

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from pyorch import figures
from pyorch.figures.command import caption_of, drawn, read_table, size_and_seeds
from pyorch.figures.save import RC_PARAMS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
PLOTS = sorted((ROOT / "plots").glob("[!_]*.py"))
#: Captions of the figures of docs/results that are drawn from its tables.
KEPT = [RESULTS / f"{plot.stem}.txt" for plot in PLOTS if (RESULTS / f"{plot.stem}.txt").exists()]
#: Smallest letters of a printed figure [pt].
LEAST_POINTS = 6


def read_tables(script):
    """Return the tables of docs/results that a figure needs."""
    return {
        name: read_table(figures.need_path(need, RESULTS, "paper"))
        for name, need in script["NEEDS"].items()
    }


def draw(plot, width):
    """Draw a figure from the tables of docs/results; return it and its visible texts."""
    script = runpy.run_path(str(plot))
    tables = read_tables(script)
    size = size_and_seeds(script["NEEDS"], tables, "paper")
    figure, _ = drawn(script["draw"], tables, size, width)
    with matplotlib.rc_context(RC_PARAMS):
        FigureCanvasAgg(figure).draw()
    return figure, [text for text in texts(figure) if text.get_visible() and text.get_text()]


def texts(figure):
    """Return every text of a figure that is drawn: not the ticks beyond the ends of an axis."""
    from matplotlib.text import Text

    unseen = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        shown = axis.get_ticklabels() if axis.axes.axison else []
        low, high = sorted(axis.get_view_interval())
        span = 1e-6 * (high - low)
        ticks = {
            label for tick, label in zip(axis.get_ticklocs(), shown, strict=False)
            if low - span <= tick <= high + span
        }  # fmt: skip
        unseen |= set(axis.findobj(Text)) - ticks - {axis.label}
        if not axis.axes.axison:
            unseen.add(axis.label)
    return [text for text in figure.findobj(Text) if text not in unseen]


@pytest.mark.parametrize("width", ["page", "column"])
@pytest.mark.parametrize("plot", PLOTS, ids=lambda path: path.stem)
def test_a_figure_can_be_read(plot, width):
    figure, shown = draw(plot, width)
    page = figure.bbox
    boxes = {text: text.get_window_extent() for text in shown}

    assert figure.get_figwidth() == {"page": 7.0, "column": 3.33}[width]
    assert [text.get_text() for text in shown if text.get_fontsize() < LEAST_POINTS] == []
    outside = [
        text.get_text() for text, box in boxes.items()
        if box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1 or box.y0 < page.y0 - 1
        or box.y1 > page.y1 + 1
    ]  # fmt: skip
    assert outside == []
    over = [
        (a.get_text(), b.get_text()) for a, b in combinations(shown, 2)
        if overlap(boxes[a], boxes[b]) > 0.15
    ]  # fmt: skip
    assert over == []


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_the_caption_beside_a_kept_figure_is_that_of_its_script(kept):
    source = ROOT / "plots" / f"{kept.stem}.py"
    script = runpy.run_path(str(source))
    size = size_and_seeds(script["NEEDS"], read_tables(script), "paper")
    caption = caption_of(source, script["NEEDS"], size, "paper")

    assert kept.read_text() == caption


def overlap(a, b):
    """Return the share of the smaller box that lies on the other [1]."""
    width = min(a.x1, b.x1) - max(a.x0, b.x0)
    height = min(a.y1, b.y1) - max(a.y0, b.y0)
    least = min(a.width * a.height, b.width * b.height)
    return max(0, width) * max(0, height) / least if least else 0
