# SPDX-License-Identifier: GPL-2.0-only
"""The steps of the pipeline as the Snakefile calls them, each from files to files."""

from pathlib import Path

import typer

from pyorch import spec as specs
from pyorch.errors import SpecError, did_you_mean
from pyorch.spec.overrides import parse_assignment


def spec(
    scenario: Path, run_id: str | None, sets: list[str], scale: str | None, out: Path | None
) -> None:
    """Write the spec of a run; without `run_id`, print the runs."""
    file = specs.read_scenario(scenario)
    assignments = [parse_assignment(text) for text in sets]
    if run_id is None:
        chosen = specs.DEFAULT_SCALE if scale is None else scale
        for run in specs.plan(file, chosen, assignments):
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


def render(spec_file: Path, out: Path) -> None:
    """Write scenario.py and tables.npz."""
    from pyorch import render as package

    package.write_run(specs.read_spec(spec_file), out)


def metrics(metric: str, scenario: Path, out: Path, scale: str, results: Path) -> None:
    """Write the table of one metric over all runs of a scenario."""
    from pyorch import metrics as package

    runs = specs.plan(specs.read_scenario(scenario), scale)
    package.write_csv(package.collect(metric, runs, results), out)


def _shown(item: tuple[str, object]) -> str:
    return f"{item[0]}={item[1]}"
