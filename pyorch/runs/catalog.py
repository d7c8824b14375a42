# SPDX-License-Identifier: GPL-2.0-only
"""Takes a folder of results, returns one row per run: which, how large, what it has cost."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pyorch import spec as specs
from pyorch import traces
from pyorch.errors import PyorchError, TraceError
from pyorch.runs import select
from pyorch.runs.finished import why_outdated
from pyorch.runs.names import Name, named
from pyorch.runs.run import RunResult
from pyorch.spec.parameters import column_names, differing, flat, order
from pyorch.traces import manifest

#: Columns that every row has; those after them are the parameters that differ.
COLUMNS = (
    "scenario", "run", "scale", "case", "variant", "seed", "engine", "state", "flows",
    "flows_done", "size_bytes", "wall_s", "cpu_s", "engine_cpu_s", "peak_memory_bytes", "folder",
)  # fmt: skip

#: States of runs that have a result.
_DONE = ("finished", "stopped", "outdated")


def arranged(folders: Iterable[Path]) -> list[RunResult]:
    """Return runs as they were asked for, in the order of their scenarios, then all others."""
    folders = list(folders)
    its = named(folders)
    others = [RunResult(folder) for folder in folders if folder not in its]
    ordered = [others[place] for place in order([run.parameters for run in others])]
    return [RunResult.of(name, folder) for folder, name in its.items()] + ordered


def catalog(
    results: Path | str = "results",
    scenario: str | None = None,
    where: select.Where | None = None,
    columns: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return what is there: one row per folder of a run, by scenario and what differs.

    Parameters
    ----------
    results : path
        Folder of the results.
    scenario : str, optional
        Only the runs of this one.
    where : mapping, optional
        Only the runs whose column or parameter has this value, or one of several.
    columns : iterable of str, optional
        These columns, parameters and numbers of the summary instead of what follows.

    Returns
    -------
    DataFrame
        ``scenario``, ``run``, ``scale``, ``case``, ``variant``, ``seed``, ``engine``; ``state``:
        ``finished``, ``stopped`` (some flows did not end), ``outdated`` (made by code or libraries
        that have changed since), ``unfinished`` (a file is missing or was changed) or ``damaged``;
        ``flows``, ``flows_done``; ``size_bytes`` on disk; ``wall_s``, ``cpu_s``, ``engine_cpu_s``,
        ``peak_memory_bytes``: cost of the simulation; ``folder``; then one column for each
        parameter that is not the same in all runs of a scenario.

    Raises
    ------
    TraceError
        There is no such folder.
    SpecError
        No run has a column that is asked for.
    """
    results = Path(results)
    if not results.is_dir():
        raise TraceError(
            f"{results}: no such folder, so there are no results."
            " Make some: pyorch run SCENARIO.yaml"
        )
    folders = sorted(path.parent for path in results.glob(f"{scenario or '*'}/s*-*/spec.json"))
    its = named(folders)
    known = [_known(folder, its.get(folder)) for folder in folders]
    found = [known[place] for place in select.where(known, where or {})]
    by_scenario: dict[object, list[select.Known]] = {}
    for run in found:
        by_scenario.setdefault(run.facts["scenario"], []).append(run)
    ordered = [
        [runs[place] for place in order([run.parameters for run in runs])]
        for runs in by_scenario.values()
    ]
    if columns is not None:
        return select.table([run for runs in ordered for run in runs], columns)
    rows = []
    for runs in ordered:
        changed = [key for key in differing(run.parameters for run in runs) if key != "seed"]
        rows += [{**run.facts, **{key: run.parameters.get(key) for key in changed}} for run in runs]
    table = pd.DataFrame(rows, columns=None if rows else list(COLUMNS))
    names = column_names((run.parameters for run in found), table.columns)
    whole = ["seed", "flows", "flows_done", "size_bytes", "peak_memory_bytes"]
    return table.astype(dict.fromkeys(whole, "Int64")).rename(columns=names)


def _known(folder: Path, name: Name | None) -> select.Known:
    """Return what is known of the run in a folder, and how to get at its summary."""
    row, parameters = _row(folder)
    if name is not None:
        row |= {"scale": name.scale, "case": name.case, "variant": name.variant}

    def outcome() -> Mapping[str, object]:
        return RunResult(folder).summary.to_dict() if row["state"] in _DONE else {}

    return select.Known(row, parameters, outcome)


def _row(folder: Path) -> tuple[dict[str, Any], dict[str, object]]:
    """Return the row of a run and its parameters by key path."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"scenario": folder.parent.name, "run": folder.name, "folder": str(folder)}
    row["size_bytes"] = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    try:
        spec = specs.read_recorded(folder / "spec.json")
        row |= {"scenario": spec.name, "seed": spec.seed, "engine": spec.engine.type}
    except PyorchError:
        return row | {"state": "damaged"}, {}
    if not manifest.looks_whole(folder):
        return row | {"state": "unfinished"}, flat(spec.plain())
    try:
        row |= _cost(folder)
    except TraceError:
        row["state"] = "damaged"
    else:
        row["state"] = "outdated" if why_outdated(folder) else row["state"]
    return row, flat(spec.plain())


def _cost(folder: Path) -> dict[str, object]:
    """Return how a run has ended and what it has cost."""
    facts, outcome = traces.read_provenance(folder), traces.read_outcome(folder)
    done, total = int(outcome["flows_done"]), int(outcome["flows_total"])
    return {
        "state": "finished" if done == total else "stopped",
        "flows": total,
        "flows_done": done,
        "wall_s": facts["wall_s"],
        "cpu_s": facts["cpu_user_s"] + facts["cpu_system_s"],
        "engine_cpu_s": facts["run_cpu_s"],
        "peak_memory_bytes": facts["peak_memory_bytes"],
    }


def find(name: Path | str, results: Path | str = "results") -> Path:
    """Return the folder of a run from its path, ``scenario/run``, its name, or the start of that.

    Raises
    ------
    TraceError
        No run is called so, or several are.
    """
    path = Path(name)
    for candidate in (path, Path(results) / path):
        if (candidate / "spec.json").exists():
            return candidate
    known = {p.parent for p in Path(results).glob("*/s*-*/spec.json")}

    def is_called_so(found: Path) -> bool:
        whole = f"{found.parent.name}/{found.name}"
        start = whole if "/" in str(name) else found.name
        return whole.endswith(str(name)) or start.startswith(str(name))

    near = sorted(filter(is_called_so, known))
    if len(near) == 1:
        return near[0]
    if near:
        listed = ", ".join(f"{p.parent.name}/{p.name}" for p in near[:5])
        raise TraceError(f"{name}: {len(near)} runs are called so: {listed}. Say which.")
    raise TraceError(
        f"{name}: no run of that name in {results} ({len(known)} runs)."
        " List them with: pyorch results"
    )
