# SPDX-License-Identifier: GPL-2.0-only
"""The runs of a workflow as one file, so that no job has to plan them again.

One line per run: its folder, a tab, the run as JSON. Whoever needs one run reads one line.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.writing import make_folder, write_text


def write_plan(runs: Iterable[specs.Run], path: Path | str) -> None:
    """Write runs, each under the folder that it has below results/."""
    path = Path(path)
    make_folder(path.parent)
    lines = (f"{run.folder}\t{json.dumps(_plain(run))}\n" for run in runs)
    write_text(path, "".join(lines))


def read_plan(path: Path | str, scenario: str = "") -> list[specs.Run]:
    """Return all runs of a plan, or those of a scenario, in order."""
    start = f"{scenario}/" if scenario else ""
    return [_run(line) for line in _lines(path) if line.startswith(start)]


def planned(path: Path | str, folder: str) -> specs.Run:
    """Return the run of a plan whose folder below results/ this is.

    Raises
    ------
    SpecError
        The plan has no such run, or there is no plan.
    """
    start = f"{folder}\t".encode()
    try:
        with Path(path).open("rb") as file:  # of ten thousand runs no job splits all lines
            for line in file:
                if line.startswith(start):
                    return _run(line.decode())
    except OSError as error:
        raise _unreadable(path, error) from None
    raise SpecError(f"{path}: no run {folder}: it was planned by another Snakemake. Start again.")


def _lines(path: Path | str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path | str, error: OSError) -> SpecError:
    return SpecError(f"{path}: cannot be read ({error.strerror}). Start again.")


def _plain(run: specs.Run) -> dict:
    return vars(run) | {"spec": run.spec.plain()}


def _run(line: str) -> specs.Run:
    plain = json.loads(line.partition("\t")[2])
    return specs.Run(**plain | {"spec": specs.Spec.model_validate(plain["spec"])})
