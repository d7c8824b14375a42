# SPDX-License-Identifier: GPL-2.0-only
"""The command line: one command per arrow of the pipeline, one that walks them all, and lists.

Rooms are imported by the command that needs them, so that every command starts quickly.
"""

import sys
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from pyorch.errors import PyorchError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Simulate AI-datacenter networks: from a YAML scenario to tables and figures.",
)

ScaleOption = Annotated[str, typer.Option(help="smoke, laptop or paper.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Change a key; may be repeated."),
]
SeedOption = Annotated[int | None, typer.Option(help="Seed; the first of the scenario.")]
VariantOption = Annotated[str | None, typer.Option(help="Variant; the first.")]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder to write to.")]
OutFile = Annotated[Path, typer.Option("--out", help="File to write.")]


class Kind(StrEnum):
    """What there is to list."""

    transports = "transports"
    topologies = "topologies"
    workloads = "workloads"
    metrics = "metrics"
    exports = "exports"
    scenarios = "scenarios"


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    sets: SetOption = None,
    seed: SeedOption = None,
    variant: VariantOption = None,
    scale: ScaleOption = "laptop",
    out: Annotated[Path | None, typer.Option(help="Folder; results/SCENARIO/RUN.")] = None,
) -> None:
    """Run one point of a scenario without Snakemake and print what came out."""
    from pyorch import cli_run

    raise typer.Exit(cli_run.run(scenario, sets or [], seed, variant, scale, out))


@app.command()
def export(
    format_: Annotated[str, typer.Argument(metavar="FORMAT", help="See: list exports")],
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    out: OutFolder,
    sets: SetOption = None,
    seed: SeedOption = None,
    variant: VariantOption = None,
    scale: ScaleOption = "laptop",
) -> None:
    """Write the network and the flows of one run as files of another simulator."""
    from pyorch import cli_run

    for path in cli_run.export(format_, scenario, sets or [], seed, variant, scale, out):
        typer.echo(path)


@app.command(name="list")
def list_(kind: Kind) -> None:
    """List what there is to choose from, with the first line of its description."""
    from pyorch import cli_list

    for name, text in cli_list.rows(kind.value):
        typer.echo(f"{name:28} {text}".rstrip())


@app.command()
def spec(
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    run_id: Annotated[str | None, typer.Option("--run", help="Name of one run.")] = None,
    sets: SetOption = None,
    scale: Annotated[str | None, typer.Option(help="smoke, laptop or paper.")] = None,
    out: Annotated[Path | None, typer.Option(help="File for the spec of --run.")] = None,
) -> None:
    """List the runs of a scenario, or write the resolved spec of one of them."""
    from pyorch import cli_steps

    cli_steps.spec(scenario, run_id, sets or [], scale, out)


@app.command()
def render(
    spec_file: Annotated[Path, typer.Argument(metavar="SPEC.json")], out: OutFolder = Path(".")
) -> None:
    """Write scenario.py and tables.npz from a resolved spec."""
    from pyorch import cli_steps

    cli_steps.render(spec_file, out)


@app.command()
def simulate(
    script: Annotated[Path, typer.Argument(metavar="SCENARIO.py")],
    out: Annotated[Path | None, typer.Option(help="Folder; that of the script.")] = None,
    log: Annotated[Path | None, typer.Option(help="File for its messages; here.")] = None,
) -> None:
    """Run a scenario script in a process of its own."""
    from pyorch import cli_process

    raise typer.Exit(cli_process.simulate(script, out or script.parent, log))


@app.command()
def traces(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    out: Annotated[Path | None, typer.Option(help="Folder; that of the run.")] = None,
) -> None:
    """Check the raw columns of a run and write them as Parquet."""
    from pyorch import traces as room

    for path in room.convert(folder, out):
        typer.echo(path)


@app.command()
def metrics(
    metric: Annotated[str, typer.Argument(help="See: list metrics")],
    scenario: Annotated[Path, typer.Argument(help="scenarios/NAME.yaml")],
    out: OutFile,
    scale: ScaleOption = "laptop",
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """Write the small table that answers one question about all runs of a scenario."""
    from pyorch import cli_steps

    cli_steps.metrics(metric, scenario, out, scale, results)


@app.command()
def benchmarks(
    out: OutFile,
    scenarios: Annotated[
        list[Path] | None, typer.Argument(help="scenarios/NAME.yaml ...; all there are.")
    ] = None,
    scale: ScaleOption = "laptop",
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
    logs: Annotated[Path, typer.Option(help="Folder of the logs.")] = Path("logs"),
) -> None:
    """Write time, memory and events of the finished runs as CSV, and as HTML beside it."""
    from pyorch import cli_benchmarks, cli_list

    files = scenarios or cli_list.scenario_files()
    table = cli_benchmarks.collect(files, scale, results, logs)
    cli_benchmarks.write(table, out)
    typer.echo(cli_benchmarks.summary(table))


@app.command()
def attributes() -> None:
    """Write the tables of attributes in the README.md of each C++ module, from the build."""
    from pyorch import cli_attributes

    for path in cli_attributes.write_readmes():
        typer.echo(path)


@app.command()
def stale(
    results: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("results"),
) -> None:
    """List folders of runs that no scenario names any more; nothing is deleted."""
    from pyorch import cli_list

    for path in cli_list.stale(results):
        typer.echo(path)


def main() -> None:
    """Run the command line; an error of the user is one message and status 1."""
    first = next(iter(sys.argv[1:]), "--help")
    for name in ("new", "theory"):  # imported only when asked for
        if first in (name, "--help"):
            app.add_typer(import_module(f"pyorch.cli_{name}").app, name=name)
    try:
        app(prog_name="python -m pyorch")
    except PyorchError as error:
        typer.echo(str(error), err=True)
        raise SystemExit(1) from None
