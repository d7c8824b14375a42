# SPDX-License-Identifier: GPL-2.0-only
"""Finds the folders of runs that no scenario names any more."""

import itertools
from contextlib import nullcontext, suppress
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import SpecError, TraceError
from pyorch.reading import shown
from pyorch.runs import names


def stale(results: Path, scenarios: Path | str = "scenarios") -> list[Path]:
    """Return folders of runs that no scenario names at any scale, also as it was changed by --set.

    A change that the scenario does not take any more names nothing. Only scenarios with folders
    that nothing has named yet are planned.

    Raises
    ------
    TraceError
        There is no such folder.
    """
    if not results.is_dir():
        raise TraceError(f"{shown(results)}: no such folder. Name another one: --results FOLDER")
    unnamed = {path for path in results.glob("*/s*-*") if (path / "spec.json").exists()}
    for path in specs.scenario_files(scenarios):
        file = specs.read_scenario(path)
        folder = results / str(file.values.get("name"))
        for scale, changes in itertools.product(specs.SCALES, [(), *names.changes(folder)]):
            if not any(its.parent == folder for its in unnamed):
                break
            with suppress(SpecError) if changes else nullcontext():
                unnamed -= {results / run.folder for run in specs.plan(file, scale, changes)}
    return sorted(unnamed)
