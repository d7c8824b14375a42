# SPDX-License-Identifier: GPL-2.0-only
"""The command line of every figure: reads what it needs, draws, writes, prints its size."""

import argparse
import inspect
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch import jobs, plugins
from pyorch.calls import checked
from pyorch.errors import FigureError, PyorchError, did_you_mean, quoted
from pyorch.figures import needs as needs_of
from pyorch.figures.layout import WIDTHS
from pyorch.figures.save import RC_PARAMS, save
from pyorch.figures.size import sizes
from pyorch.spec.planning import SCALES
from pyorch.writing import write_text

if TYPE_CHECKING:
    import pandas as pd

#: Width of the upright line with the size, right of everything else [inch].
SIZE_LINE_INCHES = 0.12
#: Tables that come with the repository, as `--results` has them.
COMMITTED = "docs/results"


@checked
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

    Returns
    -------
    None
        The files of the figure are written, and printed.

    Raises
    ------
    SystemExit
        With 1 and one line on standard error, if a table is missing or the figure cannot be drawn.

    Examples
    --------
    A figure of ``pyorch init``, after ``pyorch sweep scenarios/incast.yaml --scale smoke``:

    >>> import subprocess, sys
    >>> command = [sys.executable, "plots/slowest_by_senders.py", "--scale", "smoke"]
    >>> done = subprocess.run(command, capture_output=True, text=True)
    >>> done.stdout.partition(", ")[0]
    'slowest_by_senders: scale smoke: figures/smoke/slowest_by_senders.pdf'
    """
    jobs.join()
    parser = argparse.ArgumentParser(description=inspect.getmodule(draw).__doc__)
    parser.add_argument("--scale", default="laptop", help="smoke, laptop or paper")
    parser.add_argument("--results", default="results", help="folder of the results")
    parser.add_argument(
        "--with", dest="further", action="append", default=[], metavar="FOLDER",
        help="draw the rows of these tables too, as results/figure_5/paper-4e87d904 of a sweep of"
        " one variant; may be repeated",
    )  # fmt: skip
    parser.add_argument("--out", help="folder to write to (figures/<scale>)")
    parser.add_argument(
        "--width", choices=WIDTHS, default="page",
        help="of a page, or of one text column: <figure>_column.pdf",
    )  # fmt: skip
    options = parser.parse_args(argv)
    source = Path(inspect.getfile(draw))
    name = source.stem if options.width == "page" else f"{source.stem}_{options.width}"
    try:
        tables = {
            argument: read_table(
                needs_of.need_path(need, options.results, options.scale), committed(needs)
            )
            for argument, need in needs.items()
        }
        parts = [(Path(options.results), tables)]
        parts += [further_tables(needs, Path(folder)) for folder in options.further]
        tables = joined([part for _, part in parts])
        size = size_and_seeds(needs, tables, options.scale)
        figure, data = drawn(draw, tables, size, options.width)
        caption = caption_of(source, needs, size, options.scale)
        out = options.out or f"figures/{options.scale}"
        written = save(figure, name, data, out, caption)
        written += record(source.stem, needs, parts, out)
    except PyorchError as error:
        print(f"{name}: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print(f"{name}: scale {options.scale}: {', '.join(str(path) for path in written)}")


def drawn(draw: Callable, tables: dict, size: str, width: str = "page") -> tuple:
    """Return the figure and the table of what it shows; a size, if any, is printed on it."""
    import matplotlib
    import pandas as pd

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(RC_PARAMS):
        figure = Figure(figsize=(WIDTHS[width], 2.5), layout="constrained")
        first = next(iter(inspect.signature(draw).parameters))
        data = draw(figure.subplots() if first == "ax" else figure, **tables)
        if tables and size:
            share = SIZE_LINE_INCHES / figure.get_figwidth()
            figure.set_layout_engine("constrained", rect=(0, 0, 1 - share, 1))
            figure.text(
                1 - 0.1 * share, 0.02, size, ha="right", va="bottom",
                fontsize=6, color="#666666", rotation=90,
            )  # fmt: skip
    if not isinstance(data, pd.DataFrame) or data.empty:
        raise FigureError("draw() returned no DataFrame of what it has drawn.")
    return figure, data


def size_and_seeds(needs: dict[str, str], tables: dict, scale: str) -> str:
    """Return what is printed in the corner: how large the runs are, and how many seeds there are.

    Empty for a figure that shows no runs.
    """
    if not tables:
        return ""
    scenarios = sorted({needs_of.split_need(need, "NEEDS")[0] for need in needs.values()})
    return sizes(scenarios, scale) + seeds_of(tables)


def seeds_of(tables: dict) -> str:
    """Return ``, 1 to 3 seeds``: of the variant with the fewest, and of that with the most."""
    least, most = 0, 0
    for table in tables.values():
        if "seed" not in table:
            continue
        most = max(most, table["seed"].nunique())
        by = [name for name in ("case", "variant") if name in table]
        each = table.groupby(by, dropna=False)["seed"].nunique().min() if by else most
        least = min(least or each, each)
    if not most:
        return ""
    many = f"{most}" if least == most else f"{least} to {most}"
    return f", {many} seed{'s' * (most > 1)}"


def caption_of(source: Path, needs: dict, size: str, scale: str) -> str:
    """Return the text of the caption file: the docstring, the size, what draws it from what."""
    paragraphs = [needs_of.read_caption(source) or f"{source.stem}: no caption."]
    if size:
        paragraphs.append(f"{size[0].upper()}{size[1:]}.")
        tables = ", ".join(sorted(needs.values()))
        paragraphs.append(f"python plots/{source.name} --scale {scale} draws it from {tables}.")
    else:
        paragraphs.append(f"python plots/{source.name} draws it; no simulation is needed.")
    return "\n\n".join(textwrap.fill(text, 100) for text in paragraphs) + "\n"


def further_tables(needs: dict[str, str], folder: Path) -> "tuple[Path, dict[str, pd.DataFrame]]":
    """Return the results that a folder of tables belongs to, and those that the figure needs.

    Raises
    ------
    FigureError
        The figure shows no table of this scenario, or the folder lacks one.
    """
    folder = folder.resolve()
    scenario = folder.parent.name
    wanted = {
        argument: f"{folder}/{metric}.csv"
        for argument, need in needs.items()
        for its, metric in [needs_of.split_need(need, "NEEDS")]
        if its == scenario
    }
    if not wanted:
        shown = sorted({needs_of.split_need(need, "NEEDS")[0] for need in needs.values()})
        raise FigureError(
            f"--with {folder}: is a folder of scenario {quoted(scenario)}; this figure shows"
            f" {', '.join(shown) or 'no scenario'}."
        )
    # One variant may have no row in a table: none of the fluid model if it sprays.
    return folder.parents[1], {
        argument: read_table(path, may_be_empty=True) for argument, path in wanted.items()
    }


def joined(parts: "list[dict[str, pd.DataFrame]]") -> "dict[str, pd.DataFrame]":
    """Return the tables of the first part, each with the rows that the others have of it."""
    import pandas as pd

    return {
        argument: pd.concat([part[argument] for part in parts if argument in part])
        .reset_index(drop=True)
        for argument in parts[0]
    }  # fmt: skip


def record(name: str, needs: dict, parts: "list[tuple[Path, dict]]", out: str) -> list[Path]:
    """Write which runs a figure shows and what made them; return the path, if they are known.

    Tables that were copied to another place, without a column ``run``, do not say it. `parts` are
    folders of results with their tables.
    """
    import pandas as pd

    from pyorch.figures import provenance  # reads what runs have left, which few ask for

    known = pd.concat(
        [provenance.runs_of(tables.values(), results) for results, tables in parts],
        ignore_index=True,
    )
    if needs and known.empty:
        return []
    path = Path(out, f"{name}.provenance.csv")
    write_text(path, known.to_csv(index=False, lineterminator="\n"))
    return [path]


def committed(needs: dict[str, str]) -> str:
    """Return the options that draw a figure from tables in docs/results; nothing if they lack."""
    for scale in reversed(SCALES):
        if all(
            Path(needs_of.need_path(need, COMMITTED, scale)).exists() for need in needs.values()
        ):
            return f"--scale {scale} --results {COMMITTED}"
    return ""


def read_table(path: str, instead: str = "", *, may_be_empty: bool = False) -> "pd.DataFrame":
    """Return a small table; `instead` are options that draw the figure from other ones.

    Raises
    ------
    FigureError
        It is not there, or has no rows.
    """
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        metric, known = Path(path).stem, plugins.names("pyorch.metrics")
        if metric not in known:
            raise FigureError(
                f"{path}: no metric is called {quoted(metric)}.{did_you_mean(metric, known)}"
            ) from None
        other = f" (or draw it from the tables of the repository: {instead})" if instead else ""
        raise FigureError(
            f"{path}: no such table. Make it with: snakemake --cores all {path}{other}"
        ) from None
    except pd.errors.EmptyDataError:
        table = pd.DataFrame()
    if table.empty and not may_be_empty:
        raise FigureError(f"{path}: has no rows, so there is nothing to draw.")
    return table
