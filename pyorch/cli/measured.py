# SPDX-License-Identifier: GPL-2.0-only
"""Measured experiments on the screen: what hardware did, what happens here, how they differ."""

from pathlib import Path

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from pyorch import measured


def measure(files: list[Path], cores: int | None, as_csv: bool) -> None:
    """Run experiments and print a row for each value, then why those outside differ."""
    paths = files or measured.files()
    table = measured.table(paths, cores=cores)
    if as_csv:
        typer.echo(table.to_csv(index=False, float_format="%.6g", lineterminator="\n"), nl=False)
        return
    Console(highlight=False).print(_view(table))
    for path in paths:
        its = measured.read(path)
        outside = table[table["experiment"] == path.stem]["verdict"].eq(measured.OUTSIDE).any()
        if outside and its.explained:
            typer.echo(f"{path.stem}: {its.explained}")
    within = int(table["verdict"].eq(measured.WITHIN).sum())
    error = (table["ratio"] - 1).abs().mean()
    typer.echo(f"{within} of {len(table)} values within what was allowed, mean error {error:.1%}.")


def _view(table: pd.DataFrame) -> Table:
    view = Table()
    for name in table.columns:
        is_number = pd.api.types.is_numeric_dtype(table[name])
        view.add_column(name, justify="right" if is_number else "left")
    for row in table.itertuples(index=False):
        view.add_row(
            row.experiment, row.what, f"{row.measured:.4g}", f"{row.ours:.4g}",
            "" if row.unit == "ratio" else row.unit, f"{row.ratio:.3f}", f"{row.allowed:.0%}",
            row.verdict,
        )  # fmt: skip
    return view
