# SPDX-License-Identifier: GPL-2.0-only
"""What is there and what came out, on the screen: results, show, compare, plot."""

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from pyorch.errors import FigureError, OutputError, SpecError, TraceError, quoted
from pyorch.runs import page
from pyorch.runs.catalog import COLUMNS, arranged, catalog, find
from pyorch.runs.compare import compare as differences
from pyorch.runs.names import Name, named
from pyorch.runs.run import RunResult
from pyorch.runs.summary import by_workload, in_words
from pyorch.spec.overrides import parse_assignment
from pyorch.spec.parameters import distinguishing, headings, shown
from pyorch.traces import manifest
from pyorch.units import format_si

#: Of the columns of `catalog`, those that fit a screen: heading and unit.
_SHOWN = {
    "flows": ("flows", ""), "size_bytes": ("size", "B"), "wall_s": ("wall", "s"),
    "cpu_s": ("CPU", "s"), "peak_memory_bytes": ("memory", "B"),
}  # fmt: skip
#: Columns of words.
_WORDS = ("run", "case", "variant", "engine", "state")


def results(
    folder: Path, scenario: str | None, as_csv: bool, where: list[str], columns: str | None
) -> None:
    """List the runs that are there, by scenario, with what differs between them."""
    conditions: dict[str, object] = {}
    for text in where:
        name, value = parse_assignment(text, "--where")
        if name in conditions:
            raise SpecError(
                f"--where {quoted(text)[1:-1]}: {name} has a condition already. For runs with one"
                f" of several values write {name}=[A, B]."
            )
        conditions[name] = value
    chosen = None if columns is None else [name.strip() for name in columns.split(",")]
    table = catalog(folder, scenario, conditions, chosen)
    if as_csv:
        typer.echo(table.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    console = _console()
    if chosen is not None:
        if table.empty:
            typer.echo(_total(table, folder, conditions))
            return
        view = Table()
        for heading, name in zip(headings(table.columns), table.columns, strict=True):
            is_number = pd.api.types.is_numeric_dtype(table[name])
            view.add_column(heading, justify="right" if is_number else "left")
        for row in table.astype(object).itertuples(index=False, name=None):
            view.add_row(*map(_outcome, table.columns, row))
        console.print(view)
        return
    for name, rows in table.groupby("scenario", sort=False):
        names = named(map(Path, rows["folder"]))
        is_named = rows["folder"].isin(map(str, names))
        others = rows[~is_named]
        told = _asked(rows[is_named], names)
        if told is None:
            others = rows
        else:
            console.print(_table(f"{name}: {_runs(told)}", rows.loc[told.index], told))
        if len(others):
            which = " without a name" if told is not None else ""
            title = f"{name}: {_runs(others)}{which}"
            console.print(_table(title, others, _parameters(others)))
    typer.echo(_total(table, folder, conditions))


def verify(names: list[str], results: Path) -> int:
    """Compare the files of runs with their digests; return 1 if one of them is not what it was."""
    folders = [find(name, results) for name in names]
    if not folders:
        folders = sorted(path.parent for path in results.glob("*/s*-*/manifest.json"))
    n_files, wrong = 0, []
    for folder in folders:
        try:
            wrong += manifest.verify(folder)
            n_files += len(manifest.read(folder)["files"])
        except TraceError as error:
            wrong.append(str(error))
    for line in wrong:
        typer.echo(line, err=True)
    said = f"{len(wrong)} not as written" if wrong else "all as written"
    typer.echo(f"{results}: {len(folders)} runs, {n_files} files: {said}.")
    return int(bool(wrong))


def _table(title: str, rows: pd.DataFrame, told: pd.DataFrame) -> Table:
    """Return one line per run: what tells it apart, and what it has cost."""
    view = Table(title=title, title_justify="left")
    shown_of_all = (heading for heading, _ in _SHOWN.values())
    for heading in ("run", *headings(told), "engine", "state", *shown_of_all):
        view.add_column(heading, justify="left" if heading in _WORDS else "right")
    for row, point in zip(rows.to_dict("records"), told.itertuples(index=False), strict=True):
        cost = [_cell(row[key], unit) for key, (_, unit) in _SHOWN.items()]
        view.add_row(row["run"], *point, row["engine"], row["state"], *cost)
    return view


def _asked(rows: pd.DataFrame, names: dict[Path, Name]) -> pd.DataFrame | None:
    """Return which points of its scenario runs are, in its order; none if that tells too little."""
    place = {folder: index for index, folder in rows["folder"].items()}
    told = pd.DataFrame(
        [_point(name) for name in names.values()], [place[str(folder)] for folder in names]
    ).fillna("")
    told = told.loc[:, told.nunique() > 1]
    return None if rows.empty or told.assign(seed=rows["seed"]).duplicated().any() else told


def _parameters(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the parameters that tell runs apart, as text."""
    parameters = rows.drop(columns=list(COLUMNS)).astype(object)
    changed = distinguishing(parameters.where(parameters.notna(), None).to_dict("records"))
    return pd.DataFrame(
        {key: [_parameter(key, value) for value in rows[key]] for key in changed}, rows.index
    )


def _point(name: Name) -> dict[str, str]:
    """Return which point of its scenario a run is, by key path."""
    point = {key: str(value) for key, value in name.point.items()}
    return {"case": name.case, "variant": name.variant, **point, "scale": name.scale}


def _runs(rows: pd.DataFrame) -> str:
    return f"{len(rows)} run{'s' * (len(rows) != 1)}"


def _total(table: pd.DataFrame, folder: Path, conditions: dict) -> str:
    if table.empty and conditions:
        return f"No run in {folder} is so: {', '.join(f'{k}={v}' for k, v in conditions.items())}."
    if table.empty:
        return f"No runs in {folder}. Make some: pyorch run SCENARIO.yaml"
    size, cpu = (table[name].sum() for name in ("size_bytes", "cpu_s"))
    states = ", ".join(f"{n} {state}" for state, n in table["state"].value_counts().items())
    return (
        f"{_runs(table)} ({states}), {format_si(int(size), 'B')},"
        f" {format_si(float(cpu), 's')} of CPU. More: pyorch show RUN"
    )


def show(run: str, folder: Path, everything: bool, as_csv: bool) -> None:
    """Show one finished run: what was run, what came out, what made it."""
    result = RunResult(find(run, folder))
    if as_csv:
        typer.echo(_exactly(result).to_csv(index=False, lineterminator="\n"), nl=False)
        return
    console = _console()
    given = (
        {key: shown(key, value) for key, value in result.parameters.items()}
        if everything
        else page.main_parameters(result)
    )
    facts = result.provenance
    outcome = in_words(result.summary) | by_workload(result)  # read before a word is said
    _two_columns(console, f"{result.scenario}/{result.id}: what was run", given)
    _two_columns(console, "what came out", outcome)
    _two_columns(console, "what made it", _made(facts))
    typer.echo(f"In {result.folder}: {', '.join(sorted(p.name for p in result.folder.iterdir()))}")


def _made(facts: dict) -> dict[str, str]:
    """Return what of a provenance says which program made a run."""
    made = {"engine": facts["engine"], "commit": facts["git_commit"] or "unknown"}
    return {name: str(value) for name, value in (made | facts["versions"]).items()}


def _exactly(result: RunResult) -> pd.DataFrame:
    """Return what `show` shows with all parameters and all digits, in the units of the names."""
    parts = {
        "parameter": result.parameters,
        "outcome": result.summary.to_dict(),
        "made": _made(result.provenance),
    }
    rows = [(what, *row) for what, its in parts.items() for row in its.items()]
    return pd.DataFrame(rows, columns=["what", "name", "value"], dtype=object)


def compare(a: str, b: str, folder: Path, as_csv: bool) -> None:
    """Show what differs between two runs."""
    first, second = (RunResult(find(name, folder)) for name in (a, b))
    table = differences(first, second)
    if as_csv:
        typer.echo(table.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    view = Table(title=f"a: {first.folder}   b: {second.folder}", title_justify="left")
    for heading in ("what", "name", "a", "b", "b / a"):
        view.add_column(heading, justify="left" if heading in ("what", "name") else "right")
    for what, name, left, right, ratio in table.itertuples(index=False, name=None):
        ratio = "" if pd.isna(ratio) else f"{ratio:.3f}"
        view.add_row(what, name, _outcome(name, left), _outcome(name, right), ratio)
    _console().print(view)
    if table.empty:
        typer.echo("They are the same: parameters, libraries and outcome.")


def plot(kind: str, names: list[str], folder: Path, out: Path | None, window: bool) -> None:
    """Draw a view of some runs, in the order of their scenario, to files or to a window."""
    from pyorch import views

    chosen = arranged(find(name, folder) for name in names)
    if window:
        _window(views.draw(kind, chosen))
    elif out is not None and out.suffix:
        views.draw(kind, chosen, out)
        typer.echo(f"{out}\n{out.with_suffix('.txt')}")
    else:
        for path in views.write(kind, chosen, out or Path("figures")):
            typer.echo(path)


def look(names: list[str], folder: Path, out: Path) -> None:
    """Write the page of one run or two, or any number of them as trace events."""
    from pyorch import look as pages

    chosen = [arranged([find(name, folder)])[0] for name in names]
    if out.suffix == ".json":
        pages.write_trace_events(chosen, out)
        typer.echo(f"{out}: open it with ui.perfetto.dev or chrome://tracing")
    else:
        typer.echo(f"{pages.write(chosen, out)}: open it in a browser")


def explain(name: str, flow: int | None, folder: Path, out: Path | None) -> None:
    """Print what a message takes without one cause or another."""
    from pyorch.explain import explain as explained
    from pyorch.explain import words
    from pyorch.views import figure_format

    if out is not None:
        figure_format(out)  # before anything is run
    (run,) = arranged([find(name, folder)])
    found = explained(run, flow, folder)
    message = run.flows.set_index("flow").loc[found.flow]
    typer.echo(
        f"Message {found.flow}, host {message['src']} to host {message['dst']},"
        f" {format_si(int(message['bytes']), 'B')}. {found.path}"
    )
    view = Table()
    view.add_column("what is changed")
    for heading in ("alone", "with those above", "slowest message, alone"):
        view.add_column(heading, justify="right")
    for row in words.rows(found):
        view.add_row(*row)
    _console().print(view)
    typer.echo(words.sentence(found))
    if out is not None:
        for path in words.draw(found, out):
            if path.suffix in (out.suffix, ".txt"):
                typer.echo(path)
            else:
                path.unlink()


def _window(figure) -> None:
    """Show a figure in a window until it is closed."""
    import matplotlib.pyplot as plt

    if plt.get_backend().lower() in ("agg", "pdf", "svg", "ps", "cairo"):
        raise FigureError("there is no display to open a window on. Write a file: --out FILE.png")
    canvas = plt.figure().canvas
    canvas.figure = figure
    figure.set_canvas(canvas)
    plt.show()


def package(folder: Path, crate: bool, licence: str | None) -> list[Path]:
    """Write what describes the tables of a folder, and its runs if that is asked for."""
    from pyorch.runs import crate as crates
    from pyorch.runs import datapackage

    if crate and not licence:
        raise OutputError(
            "package: an RO-Crate says how its tables may be used. Add a licence, for example"
            " --license CC-BY-4.0."
        )
    made = datapackage.describe(folder, licence)
    written = [datapackage.write(made, folder)]
    return [*written, crates.write(folder, made)] if crate else written


def _two_columns(console: Console, title: str, rows: dict[str, str]) -> None:
    view = Table(title=title, title_justify="left", show_header=False)
    view.add_column("name")
    view.add_column("value", justify="right")
    for name, value in rows.items():
        view.add_row(name, value)
    console.print(view)


def _parameter(key: str, value: object) -> str:
    """Return a value of a parameter; a column with gaps has made floats of whole numbers."""
    if pd.isna(value):
        return ""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return shown(key, whole)


def _cell(value: Any, unit: str) -> str:
    return "" if pd.isna(value) else format_si(value, unit).strip()


def _outcome(name: str, value: Any) -> str:
    """Return a number with its unit, by the end of its name; nothing if there is none."""
    if pd.isna(value):
        return ""
    if name.endswith("_s"):
        return format_si(value, "s")
    if isinstance(value, float) and not name.endswith(("_ps", "_bps", "_bytes")):
        return f"{value:.4g}"
    return shown(name, value)


def _console() -> Console:
    """Return the screen; what goes to a file or a pipe is not cut to a width."""
    return Console(width=None if sys.stdout.isatty() else 200)
