# SPDX-License-Identifier: GPL-2.0-only
"""One scenario without Snakemake: all steps for one run, then a summary on the screen."""

import json
from pathlib import Path

import typer

from pyorch import metrics, traces
from pyorch import spec as specs
from pyorch.cli import process, steps
from pyorch.errors import SpecError
from pyorch.metrics import RunTables
from pyorch.plugins import load
from pyorch.render import input_tables
from pyorch.spec.overrides import parse_assignment
from pyorch.units import format_si
from pyorch.writing import make_folder, write_text


def run(
    scenario: Path,
    sets: list[str],
    seed: int | None,
    variant: str | None,
    scale: str,
    out: Path | None,
) -> int:
    """Run one point of a scenario; return the exit status."""
    chosen = choose(scenario, sets, seed, variant, scale)
    folder = out or Path("results") / chosen.folder
    specs.write_spec(chosen, folder / "spec.json")
    steps.render(folder / "spec.json", folder)
    status = process.simulate(folder / "scenario.py", folder)
    if status:
        return status
    traces.convert(folder)
    tables = RunTables(chosen.spec, folder)
    show(chosen, tables, folder)
    return 0


def choose(
    scenario: Path, sets: list[str], seed: int | None, variant: str | None, scale: str
) -> specs.Run:
    """Return the first run that these options leave, and say so if there are more."""
    assignments = [parse_assignment(text) for text in sets]
    if seed is not None:
        assignments.append(("seed", seed))
    runs = specs.plan(specs.read_scenario(scenario), scale, assignments, variant=variant)
    if len(runs) > 1:
        typer.echo(
            f"{scenario} has {len(runs)} runs at scale {scale}; this is {_named(runs[0])}."
            " Choose with --variant, --seed and --set; all: snakemake --cores all",
            err=True,
        )
    return runs[0]


def export(
    format_: str,
    scenario: Path,
    sets: list[str],
    seed: int | None,
    variant: str | None,
    scale: str,
    out: Path,
) -> list[Path]:
    """Write the network and the flows of one run for another simulator; return where.

    Raises
    ------
    SpecError
        With the scenario: what the format cannot say.
    """
    module = load("pyorch.export", format_)
    chosen = choose(scenario, sets, seed, variant, scale)
    try:
        tables = input_tables(chosen.spec)
        texts = module.files(chosen.spec, tables)
    except SpecError as error:
        raise SpecError(f"{scenario}: {error}") from None
    start_ps = tables["flows"]["start_ps"]
    off_ps = abs(module.starts_there(start_ps) - start_ps)
    if off_ps.any():
        typer.echo(
            f"{scenario}: workload: {module.NAME} reads {(off_ps > 0).sum()} of {len(off_ps)}"
            f" starts with an error of up to {off_ps.max()} ps.",
            err=True,
        )
    make_folder(out)
    for name, text in texts.items():
        write_text(out / name, text)
    return [out / name for name in texts]


def show(chosen: specs.Run, tables: metrics.RunTables, folder: Path) -> None:
    """Print a summary table of a finished run."""
    from rich.console import Console
    from rich.table import Table

    row = load("pyorch.metrics", "slowdown").measure(tables).iloc[0]
    facts = json.loads((folder / "provenance.json").read_text())
    table = Table(title=f"{chosen.scenario} {_named(chosen)}, scale {chosen.scale}: {chosen.id}")
    table.add_column("quantity")
    table.add_column("value", justify="right")
    quantity = {
        "flows": str(len(tables.flows)),
        "slowest flow": format_si(row["slowest_fct_ps"] * 1e-12, "s"),
        "optimal (headers and ACKs counted)": format_si(row["optimal_fct_ps"] * 1e-12, "s"),
        "slowest over optimal": f"{row['over_optimal_p100']:.3f}",
        "slowdown mean / p50 / p99": " / ".join(
            f"{row[f'slowdown_{name}']:.3f}" for name in ("mean", "p50", "p99")
        ),
        "retransmitted packets": str(row["retransmitted_packets"]),
        "dropped frames": str(row["dropped_frames"]),
        "PAUSE and RESUME frames": str(row["pause_frames"]),
        "events": format_si(facts["events"], ""),
        "simulation CPU": format_si(facts["run_cpu_s"], "s"),
        "peak memory": format_si(facts["peak_memory_bytes"], "B"),
    }
    for name, value in quantity.items():
        table.add_row(name, value.removesuffix(".0"))
    Console(width=100).print(table)
    typer.echo(f"Tables: {folder}/flows.parquet, ports.parquet, paths.parquet")


def _named(chosen: specs.Run) -> str:
    """Return which point a run is."""
    parts = [f"variant {chosen.variant}"] if chosen.variant else []
    parts += [f"{key}={value}" for key, value in chosen.point.items()]
    return ", ".join([*parts, f"seed {chosen.seed}"])
