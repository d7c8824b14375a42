# SPDX-License-Identifier: GPL-2.0-only
"""Draws one kind of view of some runs, and writes it with its caption beside it."""

import ast
import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyorch import plugins
from pyorch.errors import FigureError, TraceError
from pyorch.figures.layout import TWO_COLUMNS_INCHES
from pyorch.figures.save import RC_PARAMS, save
from pyorch.spec.resolved import Spec
from pyorch.writing import make_folder, write_atomically, write_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Viewed(Protocol):
    """What every view may ask of a run; `pyorch.runs.RunResult` has it, and its tables."""

    scale: str
    variant: str

    @property
    def id(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def point_label(self) -> str: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def parameters(self) -> dict: ...
    @property
    def tables(self) -> list[str]: ...
    @property
    def outcome(self) -> dict: ...

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table of the run."""


SUFFIXES = (".pdf", ".svg", ".png")


def draw(kind: str, runs: Sequence[Viewed], path: Path | str | None = None) -> "Figure":
    """Return a figure of some runs; write it, and its caption beside it, if `path` is given.

    Raises
    ------
    PluginError
        There is no such kind.
    FigureError
        The file has no suffix of a figure, or the runs lack what the kind needs.
    """
    figure, _ = drawn(kind, runs)
    if path is not None:
        path = Path(path)
        format_ = figure_format(path)
        make_folder(path.parent)
        dpi = RC_PARAMS["savefig.dpi"]
        write_atomically(
            path, lambda file: figure.savefig(file, format=format_, bbox_inches=None, dpi=dpi)
        )
        write_text(path.with_suffix(".txt"), caption(kind, runs))
    return figure


def figure_format(path: Path) -> str:
    """Return the format of a figure by the suffix of its file; FigureError if that is none."""
    if path.suffix not in SUFFIXES:
        raise FigureError(f"{path}: a figure ends in {', '.join(SUFFIXES)}. Name it so.")
    return path.suffix[1:]


def write(kind: str, runs: Sequence[Viewed], out: Path | str) -> list[Path]:
    """Write a view as PDF, SVG, PNG and CSV, with its caption; return the paths."""
    figure, data = drawn(kind, runs)
    return save(figure, file_name(kind, runs), data, out, caption(kind, runs))


def drawn(kind: str, runs: Sequence[Viewed]) -> tuple["Figure", "pd.DataFrame"]:
    """Return the figure and the table of what it shows."""
    module = plugins.load("pyorch.views", kind)
    if not runs:
        raise FigureError(f"{kind}: there is no run to draw.")
    import matplotlib

    with matplotlib.rc_context(RC_PARAMS):
        figure = picture_class()(figsize=(TWO_COLUMNS_INCHES * 0.62, 2.7), layout="constrained")
        try:
            data = module.draw(figure, list(runs))
        except TraceError as error:
            raise FigureError(f"{kind}: {error}") from None
        figure.axes[0].set_title(title(runs), loc="left", fontsize=7)
    return figure, data


@lru_cache(maxsize=1)
def picture_class() -> type:
    """Return matplotlib's Figure, as a notebook shows it; imported only where it is used."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that stands in a notebook as the last line of a cell, whatever was imported."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=150)
            return file.getvalue()

    return Picture


def file_name(kind: str, runs: Sequence[Viewed]) -> str:
    """Return ``fct_incast_smoke_3_seeds``: kind, scenario, scale if known, run or seeds."""
    scenarios = sorted({run.scenario for run in runs})
    scales = sorted({run.scale for run in runs if run.scale})
    seeds = sorted({run.seed for run in runs})
    last = runs[0].id if len(runs) == 1 else f"{len(runs)}_runs_{len(seeds)}_seeds"
    return "_".join([kind, *scenarios, *scales, last])


def title(runs: Sequence[Viewed]) -> str:
    """Return what stands above the axes: scenario, scale if known, how many seeds."""
    scenarios = ", ".join(sorted({run.scenario for run in runs}))
    scales = "".join(f", {scale}" for scale in sorted({run.scale for run in runs if run.scale}))
    seeds = sorted({run.seed for run in runs})
    drawn_of = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    return f"{scenarios}{scales}, {drawn_of}"


def caption(kind: str, runs: Sequence[Viewed]) -> str:
    """Return what the view shows, of which runs."""
    path = Path(__file__).with_name(f"{kind}.py")
    text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split())
    lines = [", ".join(filter(None, (f"{r.scenario}/{r.id}", r.point_label))) for r in runs]
    return f"{text}\n\n{title(runs)}. Runs: {'; '.join(lines)}.\n"
