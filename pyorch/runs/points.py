# SPDX-License-Identifier: GPL-2.0-only
"""Takes folders of runs, leaves which point of its scenario each is, in the order of these."""

import itertools
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import PyorchError
from pyorch.runs import asked
from pyorch.runs.run import RunResult
from pyorch.spec.parameters import order

#: What two scales have alike is called by the first.
_SCALES = sorted(specs.SCALES, key="laptop".__ne__)


def points(folders: Iterable[Path], scenarios: Path | str = "scenarios") -> dict[Path, specs.Run]:
    """Return what the scenarios of a folder call runs, in their order, also as --set changed them.

    A run that no scenario names is left out, and so is what a scenario with a mistake would name.
    """
    missing = {(folder.parent.name, folder.name): folder for folder in folders}
    found = {}
    for path in specs.scenario_files(scenarios):
        with suppress(PyorchError):
            file = specs.read_scenario(path)
            name = file.values.get("name")
            parents = {folder.parent for (parent, _), folder in missing.items() if parent == name}
            changes = [sets for parent in sorted(parents) for sets in asked.noted(parent)]
            for scale, sets in itertools.product(_SCALES, [(), *changes]):
                if not any(parent == name for parent, _ in missing):
                    break
                with suppress(PyorchError):  # a change that it does not take any more
                    for run in specs.plan(file, scale, sets):
                        if folder := missing.pop((run.scenario, run.id), None):
                            found[folder] = run
    return found


def arranged(folders: Iterable[Path], scenarios: Path | str = "scenarios") -> list[RunResult]:
    """Return runs as their scenarios name and order them, then others by what differs."""
    folders = list(folders)
    named = points(folders, scenarios)
    others = [RunResult(folder) for folder in folders if folder not in named]
    ordered = [others[place] for place in order([run.parameters for run in others])]
    return [RunResult.of(run, folder) for folder, run in named.items()] + ordered
