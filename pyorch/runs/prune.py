# SPDX-License-Identifier: GPL-2.0-only
"""Finds the folders of runs that no scenario names any more, and removes them."""

import itertools
import shutil
from contextlib import nullcontext, suppress
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import OutputError, SpecError, TraceError
from pyorch.reading import shown
from pyorch.runs import names


def unnamed(results: Path, scenarios: Path | str = "scenarios") -> list[Path]:
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
    found = {path for path in results.glob("*/s*-*") if (path / "spec.json").exists()}
    for path in specs.scenario_files(scenarios):
        file = specs.read_scenario(path)
        folder = results / str(file.values.get("name"))
        for scale, changes in itertools.product(specs.SCALES, [(), *names.changes(folder)]):
            if not any(its.parent == folder for its in found):
                break
            with suppress(SpecError) if changes else nullcontext():
                found -= {results / run.folder for run in specs.plan(file, scale, changes)}
    return sorted(found)


def of_scenarios(folders: list[Path], scenarios: Path | str = "scenarios") -> list[Path]:
    """Return the folders whose scenario is there: others may be of a file that lies elsewhere."""
    files = map(specs.read_scenario, specs.scenario_files(scenarios))
    known = {str(file.values.get("name")) for file in files}
    return [path for path in folders if path.parent.name in known]


def size_bytes(folder: Path) -> int:
    """Return how much the files of a folder hold [byte]."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def remove(folders: list[Path]) -> None:
    """Remove folders of runs.

    Raises
    ------
    OutputError
        One of them cannot be removed; those before it are gone.
    """
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise OutputError(f"{shown(folder)}: {error.strerror}.") from None
