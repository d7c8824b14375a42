# SPDX-License-Identifier: GPL-2.0-only
"""The command line of every figure: reads what it needs, draws, writes, prints its scale."""

import argparse
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

from pyorch import jobs
from pyorch.errors import FigureError, PyorchError
from pyorch.figures import needs as needs_of
from pyorch.figures.save import RC_PARAMS, TWO_COLUMNS_INCHES, save


def main(draw: Callable, needs: dict[str, str], argv: list[str] | None = None) -> None:
    """Draw one figure from the command line.

    Parameters
    ----------
    draw : callable
        ``draw(figure, **tables)`` or ``draw(ax, **tables)``, returns what it has drawn.
    needs : dict
        Argument name to ``<scenario>/<metric>.csv``.
    argv : list of str, optional
        Arguments; those of the process by default.
    """
    jobs.join()
    parser = argparse.ArgumentParser(description=inspect.getmodule(draw).__doc__)
    parser.add_argument("--scale", default="laptop", help="smoke, laptop or paper")
    parser.add_argument("--results", default="results", help="folder of the results")
    parser.add_argument("--out", default="figures", help="folder to write to")
    options = parser.parse_args(argv)
    name = Path(inspect.getfile(draw)).stem
    try:
        tables = {
            argument: read_table(needs_of.need_path(need, options.results, options.scale))
            for argument, need in needs.items()
        }
        figure, data = drawn(draw, tables, options.scale)
        written = save(figure, name, data, options.out)
    except PyorchError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print(f"{name}: scale {options.scale}: {', '.join(str(path) for path in written)}")


def drawn(draw: Callable, tables: dict, scale: str) -> tuple:
    """Return the figure and the table of what it shows; its scale is printed on it."""
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RC_PARAMS):
        figure = Figure(figsize=(TWO_COLUMNS_INCHES, 2.5), layout="constrained")
        first = next(iter(inspect.signature(draw).parameters))
        data = draw(figure.subplots() if first == "ax" else figure, **tables)
        if tables:
            figure.text(
                0.998, 0.004, f"scale: {scale}", ha="right", va="bottom", fontsize=5, color="#777"
            )
    if not isinstance(data, pd.DataFrame) or data.empty:
        raise FigureError("draw() returned no DataFrame of what it has drawn.")
    return figure, data


def read_table(path: str):
    """Return a small table.

    Raises
    ------
    FigureError
        It is not there, or has no rows.
    """
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise FigureError(
            f"{path}: no such table. Make it with: snakemake --cores all {path}"
        ) from None
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    if table.empty:
        raise FigureError(f"{path}: has no rows, so there is nothing to draw.")
    return table
