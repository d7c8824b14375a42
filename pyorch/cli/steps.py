# SPDX-License-Identifier: GPL-2.0-only
"""The steps of the pipeline as the Snakefile calls them, each from files to files."""

from pathlib import Path

import typer

from pyorch import spec as specs
from pyorch.errors import SpecError, did_you_mean
from pyorch.runs.claim import claim
from pyorch.simulate import check
from pyorch.spec.overrides import parse_assignment


def spec(
    scenario: Path, run_id: str | None, sets: list[str], scale: str | None, out: Path | None
) -> None:
    """Write the spec of a run; without `run_id`, print the runs."""
    file = specs.read_scenario(scenario)
    assignments = [parse_assignment(text) for text in sets]
    if run_id is None:
        chosen = specs.DEFAULT_SCALE if scale is None else scale
        with check.refusals(installed_only=True) as refusals:
            runs = specs.plan(file, chosen, assignments, refusals=refusals)
        for run in runs:
            names = filter(None, (run.case, run.variant))
            typer.echo(" ".join([run.id, *names, *map(_shown, run.point.items())]))
        return
    run = find_run(file, run_id, specs.SCALES if scale is None else [scale], assignments)
    if out is None:
        raise SpecError(f"--run {run_id}: say where to write it: --out {run.folder}/spec.json")
    specs.write_spec(run, out)


def find_run(file: specs.ScenarioFile, run_id: str, scales, assignments) -> specs.Run:
    """Return the run of this name at the first scale that has it.

    Raises
    ------
    SpecError
        No scale has it: the scenario, a template or the built modules have changed since.
    """
    known: dict[str, specs.Run] = {}
    for scale in scales:
        known |= specs.runs_by_id(specs.plan(file, scale, assignments))
        if run_id in known:
            return known[run_id]
    raise SpecError(
        f"{file.source}: no run {run_id} any more: the scenario, a template or the attributes of"
        f" the built modules have changed since it was named. Start again to get the new names."
        f"{did_you_mean(run_id, known)}"
    )


def schema(out: Path | None) -> None:
    """Print the JSON Schema of scenarios, or write it."""
    from pyorch.spec import json_schema  # imports all topologies, workloads and so on

    if out is None:
        typer.echo(json_schema.schema_text(), nl=False)
    else:
        json_schema.write_schema(out)
        typer.echo(out)


def render(spec_file: Path, out: Path | None) -> None:
    """Write scenario.py and tables.npz, and beside them the spec that they are of."""
    from pyorch import render as package

    spec = specs.read_spec(spec_file)
    out = out or spec_file.parent
    claim(out, spec)
    package.write_run(spec, out)


def simulate(script: Path, out: Path | None, log: Path | None, threads: int) -> int:
    """Run a rendered script; return its exit status."""
    from pyorch.simulate import process

    try:
        compile(script.read_bytes(), script, "exec")
    except (SyntaxError, ValueError) as error:
        raise SpecError(
            f"{script}: is no script of Python: {error}. Name the scenario.py of a run."
        ) from None
    return process.simulate(script, _beside(script.parent, out), log, threads)


def traces(folder: Path, out: Path | None) -> list[Path]:
    """Write the tables of a run as Parquet; return their paths."""
    from pyorch import traces as package

    return package.convert(folder, _beside(folder, out))


def _beside(folder: Path, out: Path | None) -> Path:
    """Return where the result of a run goes; another folder than its own gets its spec as well."""
    if out is None or out.absolute() == folder.absolute():
        return folder
    spec = folder / "spec.json"
    claim(out, specs.read_spec(spec) if spec.exists() else None)
    return out


def metrics(metric: str, scenario: Path, out: Path, scale: str, results: Path) -> None:
    """Write the table of one metric over all runs of a scenario."""
    from pyorch import metrics as package

    runs = specs.plan(specs.read_scenario(scenario), scale)
    package.write_csv(package.collect(metric, runs, results), out)


def _shown(item: tuple[str, object]) -> str:
    return f"{item[0]}={item[1]}"
