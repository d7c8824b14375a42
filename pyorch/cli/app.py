# SPDX-License-Identifier: GPL-2.0-only
"""The command line: one command per arrow of the pipeline, one that walks them all, and lists.

Packages are imported by the command that needs them, so that every command starts quickly.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pyorch import __version__
from pyorch import jobs as workflow_jobs
from pyorch.cli import complete
from pyorch.cli.help import PLAIN
from pyorch.cli.words import complaint
from pyorch.errors import BuildError, PyorchError, SpecError
from pyorch.reading import shown

app = typer.Typer(
    **PLAIN,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    help="Simulate AI-datacenter networks: from a YAML scenario to tables and figures.",
)

#: Environment of a process that completes what is typed.
_COMPLETING = "_PYORCH_COMPLETE"
#: Headings of the help.
_RUN, _LOOK = "Scenarios", "Results"
_THEORY, _EXTEND, _STEP = "Analytical model", "Extending", "Steps of the pipeline"
#: Groups of commands: the module that has them, the heading, and their help.
_GROUPS = {
    "new": ("pyorch.cli.new", _EXTEND, "Write the skeleton of a plug-in that works as it is."),
    "theory": (
        "pyorch.cli.theory.app", _THEORY, "Ask the analytical model; no simulation is run."
    ),
}  # fmt: skip
#: Commands that lie elsewhere: module and function, the heading, and their help.
_COMMANDS = {
    "design": (
        "pyorch.cli.theory.design", "choose", _THEORY,
        "Choose planes, rails and oversubscription: what a network costs and how long GPUs wait.",
    ),
}  # fmt: skip

ScaleOption = Annotated[
    str, typer.Option(help="smoke, laptop or paper.", autocompletion=complete.scales)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY.PATH=VALUE", help="Change a key of the scenario; may be repeated."
    ),
]
SeedOption = Annotated[int | None, typer.Option(help="Seed (default: the scenario's first).")]
VariantOption = Annotated[
    str | None, typer.Option(help="Variant (default: the first).", autocompletion=complete.variants)
]
CaseOption = Annotated[
    str | None, typer.Option(help="Case (default: the first).", autocompletion=complete.cases)
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(min=1, max=1024, help="Threads of the run (default: the scenario's)."),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV with all columns.")]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
OutFile = Annotated[Path, typer.Option("--out", help="File to write.")]


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"pyorch {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Simulate AI-datacenter networks: from a YAML scenario to tables and figures."""


@app.command(rich_help_panel=_RUN)
def run(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    sets: SetOption = None,
    seed: SeedOption = None,
    variant: VariantOption = None,
    case: CaseOption = None,
    scale: ScaleOption = "laptop",
    out: Annotated[
        Path | None, typer.Option(help="Folder (default: results/SCENARIO/RUN).")
    ] = None,
    force: Annotated[bool, typer.Option(help="Run again even if it is finished.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Make all variants, cases and seeds, this many at a time."
        ),
    ] = None,
    threads: ThreadsOption = None,
) -> None:
    """Simulate one run of a scenario and print its summary."""
    from pyorch.cli import run as one

    choice = one.Choice(scenario, sets or [], seed, variant, case, scale, asks=True)
    if jobs is not None:
        if out is not None or force or threads is not None:
            raise SpecError("run: -j makes many runs; --out, --force and --threads are for one.")
        raise typer.Exit(one.run_all(choice, jobs))
    raise typer.Exit(one.run(choice, out, force, threads))


@app.command(rich_help_panel=_RUN)
def sweep(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    sets: SetOption = None,
    variant: Annotated[
        str | None,
        typer.Option(help="Only this variant (default: all).", autocompletion=complete.variants),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(help="Only this case (default: all).", autocompletion=complete.cases),
    ] = None,
    scale: ScaleOption = "laptop",
    cores: Annotated[int | None, typer.Option(help="Cores to use (default: all).", min=1)] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric, or none; may be repeated (default: all that apply).",
            autocompletion=complete.metrics,
        ),
    ] = None,
) -> None:
    """Make all runs and metrics of a scenario with Snakemake; finished runs are kept."""
    from pyorch.cli import sweep as many
    from pyorch.cli.run import Choice

    choice = Choice(scenario, sets or [], None, variant, case, scale, asks=True)
    raise typer.Exit(many.sweep(choice, cores, metric))


@app.command(rich_help_panel=_RUN)
def measured(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files (default: measured/*.yaml).")
    ] = None,
    cores: Annotated[int | None, typer.Option(help="Cores to use (default: all).", min=1)] = None,
    csv: CsvOption = False,
) -> None:
    """Run experiments that were measured on hardware; print measured values beside ours."""
    from pyorch.cli import measured as view

    view.measure(files or [], cores, csv)


@app.command(rich_help_panel=_RUN)
def export(
    format_: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="See: list exports", autocompletion=complete.exports),
    ],
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    out: OutFolder,
    sets: SetOption = None,
    seed: SeedOption = None,
    variant: VariantOption = None,
    case: CaseOption = None,
    scale: ScaleOption = "laptop",
) -> None:
    """Write network, flows or tasks of a run as input files of another simulator."""
    from pyorch.cli import run as one

    choice = one.Choice(scenario, sets or [], seed, variant, case, scale)
    for path in one.export(format_, choice, out):
        typer.echo(path)


@app.command(rich_help_panel=_RUN)
def session(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    out: OutFile,
    sets: SetOption = None,
    seed: SeedOption = None,
    variant: VariantOption = None,
    case: CaseOption = None,
    scale: ScaleOption = "laptop",
) -> None:
    """Write the network of a scenario for a program in C that sends messages on it."""
    from pyorch.cli import run as one
    from pyorch.runs.session_file import advice, text_of
    from pyorch.writing import write_text

    choice = one.Choice(scenario, sets or [], seed, variant, case, scale, asks=True)
    chosen = one.choose(choice)
    one.say_remarks([chosen])
    write_text(out, text_of(chosen))
    typer.echo(f"{out}\n{advice()}")


ResultsOption = Annotated[Path, typer.Option(help="Folder of the results.")]
RunArgument = Annotated[
    str,
    typer.Argument(metavar="RUN", help="Folder or name of a run.", autocompletion=complete.runs),
]


@app.command(rich_help_panel=_LOOK)
def results(
    scenario: Annotated[str | None, typer.Argument(help="Only the runs of this scenario.")] = None,
    results: ResultsOption = Path("results"),
    csv: CsvOption = False,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Only runs with this value, or one of a list: seed=[1,2]; may be repeated.",
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="These columns: parameters, numbers of the summary, and those of --csv.",
        ),
    ] = None,
) -> None:
    """List runs: the parameters in which they differ, state, size, cost; or chosen columns."""
    from pyorch.cli import results as view

    view.results(results, scenario, csv, where or [], columns)


@app.command(rich_help_panel=_LOOK)
def show(
    run: RunArgument,
    results: ResultsOption = Path("results"),
    every: Annotated[bool, typer.Option("--all", help="All parameters.")] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV: all parameters and results, all digits.")
    ] = False,
) -> None:
    """Show a run: its parameters, results and provenance."""
    from pyorch.cli import results as view

    view.show(run, results, every, csv)


@app.command(rich_help_panel=_LOOK)
def verify(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="Folders or names of runs (default: all).",
            autocompletion=complete.runs,
        ),
    ] = None,
    results: ResultsOption = Path("results"),
) -> None:
    """Compare every file of finished runs with the digest that was taken when it was written."""
    from pyorch.cli import results as view

    raise typer.Exit(view.verify(runs or [], results))


@app.command(rich_help_panel=_LOOK)
def compare(
    a: RunArgument, b: RunArgument, results: ResultsOption = Path("results"), csv: CsvOption = False
) -> None:
    """Compare two runs: parameters and results that differ."""
    from pyorch.cli import results as view

    view.compare(a, b, results, csv)


@app.command(rich_help_panel=_LOOK)
def plot(
    kind: Annotated[str, typer.Argument(help="See: list plots", autocompletion=complete.plots)],
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Folders or names of runs, in any order.",
            autocompletion=complete.runs,
        ),
    ],
    results: ResultsOption = Path("results"),
    out: Annotated[
        Path | None, typer.Option(help="File (.pdf, .svg, .png) or folder (default: figures).")
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Open a window instead of writing a file.")
    ] = False,
) -> None:
    """Draw runs: completion times, slowdown, queues, links, pauses, throughput."""
    from pyorch.cli import results as view

    view.plot(kind, runs, results, out, show)


@app.command(rich_help_panel=_LOOK)
def look(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [RUN]",
            help="Folders or names of one run or two.",
            autocompletion=complete.runs,
        ),
    ],
    results: ResultsOption = Path("results"),
    out: Annotated[Path, typer.Option(help="File of HTML, or of JSON for ui.perfetto.dev.")] = Path(
        "look.html"
    ),
) -> None:
    """Write a page on which links, queues and messages of a run are seen over time."""
    from pyorch.cli import results as view

    view.look(runs, results, out)


@app.command(rich_help_panel=_LOOK)
def explain(
    run: RunArgument,
    flow: Annotated[
        int | None, typer.Argument(help="Id of a message (default: the slowest).")
    ] = None,
    results: ResultsOption = Path("results"),
    out: Annotated[
        Path | None, typer.Option(help="File of a figure as well (.png, .pdf or .svg).")
    ] = None,
) -> None:
    """Say why a message was slow: run again without one cause or another."""
    from pyorch.cli import results as view

    view.explain(run, flow, results, out)


@app.command(name="list", rich_help_panel=_RUN)
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="What to list (default: what can be listed).", autocompletion=complete.lists
        ),
    ] = None,
    name: Annotated[str | None, typer.Argument(help="One of them: its attributes.")] = None,
) -> None:
    """List transports, topologies, workloads, metrics, attributes and other choices."""
    from pyorch.cli import list as listing

    rows = listing.rows(kind, name) if kind else list(listing.kinds().items())
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        typer.echo("  ".join([*cells, row[-1]]).rstrip())


@app.command(rich_help_panel=_RUN)
def topology(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    sets: SetOption = None,
    variant: VariantOption = None,
    case: CaseOption = None,
    scale: ScaleOption = "laptop",
    draw: Annotated[
        Path | None, typer.Option(help="Draw it to this file (.png, .pdf, .svg).")
    ] = None,
    nodes: Annotated[
        Path | None, typer.Option(help="Write its nodes, as from_file reads them (.csv).")
    ] = None,
    links: Annotated[Path | None, typer.Option(help="Write its links, with --nodes.")] = None,
) -> None:
    """Show the network of a scenario: node ids, links, oversubscription, and where hosts are."""
    from pyorch.cli import topology as network
    from pyorch.cli.run import Choice, choose

    if (nodes is None) != (links is None):
        raise SpecError("topology: --nodes and --links go together: from_file reads both.")
    spec = choose(Choice(scenario, sets or [], None, variant, case, scale)).spec
    given = network.tables(spec)
    if draw is not None:
        network.draw(given, draw)
    if nodes is not None and links is not None:  # who reads the lines may stop early
        for remark in network.write(spec, nodes, links):
            typer.echo(f"{scenario}: topology: {remark}", err=True)
    for line in network.lines(given):
        typer.echo(line)
    for written in filter(None, (draw, nodes, links)):
        typer.echo(written)


@app.command(rich_help_panel=_EXTEND)
def schema(
    out: Annotated[Path | None, typer.Option(help="File (default: the terminal).")] = None,
) -> None:
    """Print the JSON Schema of scenarios, by which editors complete and check them."""
    from pyorch.cli import steps

    steps.schema(out)


@app.command(rich_help_panel=_STEP)
def spec(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    run_id: Annotated[str | None, typer.Option("--run", help="Name of one run.")] = None,
    sets: SetOption = None,
    scale: Annotated[
        str | None, typer.Option(help="smoke, laptop or paper.", autocompletion=complete.scales)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the spec of --run.")] = None,
) -> None:
    """List the runs of a scenario, or write the resolved spec of one."""
    from pyorch.cli import steps

    steps.spec(scenario, run_id, sets or [], scale, out)


@app.command(rich_help_panel=_STEP)
def render(
    spec_file: Annotated[Path, typer.Argument(metavar="SPEC.json")],
    out: Annotated[Path | None, typer.Option(help="Folder (default: the spec's).")] = None,
) -> None:
    """Write scenario.py and tables.npz from a resolved spec."""
    from pyorch.cli import steps

    steps.render(spec_file, out)


@app.command(rich_help_panel=_STEP)
def simulate(
    script: Annotated[Path, typer.Argument(metavar="SCENARIO.py")],
    out: Annotated[Path | None, typer.Option(help="Folder (default: the script's).")] = None,
    log: Annotated[
        Path | None, typer.Option(help="File for its messages (default: the terminal).")
    ] = None,
    threads: ThreadsOption = None,
) -> None:
    """Run a rendered script; write raw columns."""
    from pyorch.cli import steps

    raise typer.Exit(steps.simulate(script, out, log, threads or 1))


@app.command(rich_help_panel=_STEP)
def traces(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Folder (default: the run's).")] = None,
) -> None:
    """Check the raw columns of a run; write Parquet."""
    from pyorch.cli import steps

    for path in steps.traces(folder, out):
        typer.echo(path)


@app.command(rich_help_panel=_STEP)
def metrics(
    metric: Annotated[
        str, typer.Argument(help="See: list metrics", autocompletion=complete.metrics)
    ],
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    out: OutFile,
    scale: ScaleOption = "laptop",
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Compute one metric over all runs of a scenario; write CSV."""
    from pyorch.cli import steps

    steps.metrics(metric, scenario, out, scale, results)


@app.command(rich_help_panel=_LOOK)
def benchmarks(
    out: OutFile,
    scenarios: Annotated[
        list[Path] | None, typer.Argument(help="scenarios/NAME.yaml ... (default: all).")
    ] = None,
    scale: ScaleOption = "laptop",
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Write time, memory and events of finished runs as CSV and HTML."""
    from pyorch import spec as specs
    from pyorch.report import benchmarks as report

    files = map(specs.read_scenario, scenarios or specs.scenario_files())
    table = report.collect([run for file in files for run in specs.plan(file, scale)], results)
    report.write(table, out)
    typer.echo(report.summary(table))


@app.command(rich_help_panel=_LOOK)
def package(
    folder: Annotated[Path, typer.Argument(help="Study, results, or one run.")],
    crate: Annotated[bool, typer.Option("--crate", help="Write an RO-Crate as well.")] = False,
    licence: Annotated[
        str | None, typer.Option("--license", help="Of the tables, for example CC-BY-4.0.")
    ] = None,
) -> None:
    """Describe the tables of a folder, so that others and their programs can read them."""
    from pyorch.cli import results as view

    for path in view.package(folder, crate, licence):
        typer.echo(path)


@app.command(rich_help_panel=_LOOK)
def prune(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    yes: Annotated[bool, typer.Option("--yes", help="Remove them.")] = False,
) -> None:
    """List folders of runs that no scenario of scenarios/ names, and how much they hold."""
    from pyorch.runs import prune as pruning
    from pyorch.units import format_si

    folders = pruning.unnamed(results)
    for path in folders:
        typer.echo(path)
    old = pruning.of_scenarios(folders)
    held = format_si(sum(map(pruning.size_bytes, old)), "B")
    if yes:
        pruning.remove(old)
    if old:
        what = "removed" if yes else "nothing was removed: --yes does"
        typer.echo(f"{len(old)} folder{'s' * (len(old) > 1)}, {held}; {what}.", err=True)
    if others := {path.parent for path in folders} - {path.parent for path in old}:
        typer.echo(
            f"Not removed by --yes: {', '.join(map(str, sorted(others)))}, for no file of"
            " scenarios/ has such a scenario. It may lie elsewhere.",
            err=True,
        )


@app.command(rich_help_panel=_EXTEND)
def init(folder: Annotated[Path, typer.Argument(help="New folder; . is this one.")]) -> None:
    """Create a study: a folder of your own for scenarios, figures and C++ modules."""
    from pyorch.cli import init as study

    for path in study.init(folder):
        typer.echo(path)
    typer.echo(
        f"\ncd {quote(str(folder))}\n"
        "pyorch sweep scenarios/incast.yaml --scale smoke    # runs and metrics of one\n"
        "snakemake --cores all --config scale=smoke          # every figure"
    )


@app.command(rich_help_panel=_EXTEND)
def attributes() -> None:
    """Update the attribute tables in the README.md of each C++ module of this study or clone."""
    from pyorch.cli import attributes as tables

    for path in tables.write_readmes():
        typer.echo(path)


def main() -> None:
    """Run the command line; an error of the user is one message and status 1."""
    workflow_jobs.join()
    first = next(iter(sys.argv[1:]), "--help")
    for name, (module, panel, words) in _GROUPS.items():  # imported only when asked for
        asked = first == name or _COMPLETING in os.environ
        group = import_module(module).app if asked else typer.Typer(**PLAIN)
        app.add_typer(group, name=name, help=words, rich_help_panel=panel)
    for name, (module, function, panel, words) in _COMMANDS.items():
        asked = first == name or _COMPLETING in os.environ
        command = getattr(import_module(module), function) if asked else lambda: None
        app.command(name, help=words, rich_help_panel=panel)(command)
    try:
        status = app(prog_name="pyorch", standalone_mode=False)
    except PyorchError as error:
        said = str(error) if isinstance(error, BuildError) else shown(error)
        typer.echo(said, err=True)
        raise SystemExit(1) from None
    except OSError as error:
        if error.filename is None:
            raise
        typer.echo(shown(f"{error.filename}: {error.strerror}. Name another one."), err=True)
        raise SystemExit(1) from None
    except typer.Abort:
        raise SystemExit(130) from None
    except Exception as error:  # typer's, which have no base of their own in all its versions
        status = getattr(error, "exit_code", None)
        if status is None or not hasattr(error, "format_message"):
            raise
        if error.format_message():  # without: the help has been printed
            names = [_command_name(command) for command in app.registered_commands]
            said = complaint(error, sys.argv[1:], [*names, *_GROUPS])
            typer.echo(said, err=True)
        raise SystemExit(status) from None
    raise SystemExit(status or 0)


def _command_name(command: typer.models.CommandInfo) -> str:
    return str(command.name or getattr(command.callback, "__name__", ""))
