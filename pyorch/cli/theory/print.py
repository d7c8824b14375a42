# SPDX-License-Identifier: GPL-2.0-only
"""Prints the rows of an answer as a table, CSV or JSON; and the options that commands share."""

import csv
import io
import json
import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyorch.spec.overrides import parse_assignment

if TYPE_CHECKING:
    from pyorch.theory.parallelism import Setup

MS, GB, GBPS = 1e9, 1e9, 1e9

#: Up to so many rows are printed beside each other if they have more columns than that.
_FEW, _NARROW = 4, 6
#: Width where there is no terminal [character].
_FILE_WIDTH = 160


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    csv = "csv"
    json = "json"


FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]
PresetOption = Annotated[str, typer.Option(help="Name of a preset, or path of a .yaml file.")]
PresetsOption = Annotated[
    list[str] | None,
    typer.Option("--preset", help="Name of a preset, or path of a .yaml file; may be repeated."),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Change a key of the preset: model.layers=96.")
]


def say_idle(preset: str, setup: "Setup") -> None:
    """Say on standard error if a job leaves GPUs without work."""
    if idle := setup.idle():
        typer.echo(f"{preset}: {idle}", err=True)


def emit(rows: list[dict], form: Format) -> None:
    """Print rows that all have the same keys."""
    match form:
        case Format.csv:
            typer.echo(to_csv(rows), nl=False)
        case Format.json:
            typer.echo(json.dumps([_plain(row) for row in rows], indent=2))
        case Format.table:
            _print_table(rows)


def to_csv(rows: list[dict]) -> str:
    """Return rows as CSV with ten significant digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value, 10) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any, digits: int) -> str:
    """Return a value as text; what does not exist is empty, and no rate is enough is never."""
    if value is None:
        return ""
    if isinstance(value, int | str):
        return str(value)
    if math.isinf(value):
        return "never"
    return f"{value:.{digits}g}"


def _plain(row: dict) -> dict:
    """Return a row that JSON can hold: it has no infinity."""
    return {
        key: "never" if isinstance(value, float) and math.isinf(value) else value
        for key, value in row.items()
    }


def _print_table(rows: list[dict]) -> None:
    """Print rows below each other, or, where there are few of many columns, beside each other."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    table = Table(box=box.SIMPLE_HEAD, show_header=len(rows) > _FEW or len(rows[0]) <= _NARROW)
    if table.show_header:
        for key, value in rows[0].items():
            is_text = isinstance(value, str)
            table.add_column(key, justify="left" if is_text else "right", overflow="fold")
        for row in rows:
            table.add_row(*(_cell(value, 6) for value in row.values()))
    else:
        for key in rows[0]:
            table.add_row(key, *(_cell(row[key], 6) for row in rows))
    console.print(table)


def assignments(texts: list[str] | None) -> list[tuple[str, object]]:
    """Return key paths and values of ``--set``."""
    return [parse_assignment(text) for text in texts or []]
