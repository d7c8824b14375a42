# SPDX-License-Identifier: GPL-2.0-only
"""Which points of its scenario a run is, so that no scenario is planned again to name a run.

``results/<scenario>/runs.jsonl`` has a line for each point of which a command asked for the run.
Lines are only ever added. A run has several if several points have the same content, as one at
two scales may.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pyorch import spec as specs
from pyorch.errors import OutputError
from pyorch.writing import make_folder

FILE = "runs.jsonl"
Sets = Mapping[str, object] | Iterable[tuple[str, object]]


class Name(BaseModel):
    """One point of a scenario, and the changes with which it was asked for.

    Attributes
    ----------
    run : str
        Folder of the run below that of its scenario.
    changes : tuple of (key path, value)
        From ``--set`` and ``--seed``.
    scale, case, case_label, variant, label, point
        As of `pyorch.spec.Run`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    run: str
    scale: str
    case: str
    case_label: str
    variant: str
    label: str
    point: dict[str, object]
    changes: tuple[tuple[str, object], ...]

    @classmethod
    def of(cls, run: specs.Run, changes: Iterable[tuple[str, object]] = ()) -> "Name":
        """Return the name of a run that was planned with these changes."""
        same = set(cls.model_fields) - {"run", "changes"}
        its = {field: getattr(run, field) for field in same}
        return cls(run=run.id, changes=tuple(changes), **its)


def note(
    runs: Iterable[specs.Run],
    sets: Sets = (),
    seed: int | None = None,
    results: Path | str = "results",
) -> None:
    """Add the names of runs that a command asks for; nothing if all of them are there.

    Otherwise all are added, also those that are there: the last lines have the order of a scenario.

    Parameters
    ----------
    runs : iterable of Run
        In the order of their scenario.
    sets : mapping or iterable of (key path, value)
        The changes with which they were planned.
    seed : int, optional
        One more change.
    results : path
        Folder of the results.

    Raises
    ------
    OutputError
        They cannot be written.
    """
    changes = [*(sets.items() if isinstance(sets, Mapping) else sets)]
    changes += [] if seed is None else [("seed", seed)]
    for scenario, its in groupby(runs, key=lambda run: run.scenario):
        path = Path(results, scenario, FILE)
        lines = [Name.of(run, changes).model_dump_json(fallback=str) for run in its]
        if set(lines) <= set(_lines(path)):
            continue
        make_folder(path.parent)
        try:
            with path.open("a") as file:
                file.write("".join(f"{line}\n" for line in lines))  # one call: lines do not mix
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror}).") from None


def noted(folder: Path) -> list[Name]:
    """Return all names in the folder of a scenario, each once, in the order of the last lines."""
    last = {line: number for number, line in enumerate(_lines(folder / FILE))}
    return [name for line in sorted(last, key=lambda line: last[line]) if (name := _read(line))]


def changes(folder: Path) -> list[tuple]:
    """Return every set of changes with which runs of a scenario were asked for."""
    found = [name.changes for name in noted(folder) if name.changes]
    return [its for number, its in enumerate(found) if its not in found[:number]]


def named(folders: Iterable[Path]) -> dict[Path, Name]:
    """Return a name of each run that has one, in the order of their scenarios.

    What two scales have alike is called by ``laptop``.
    """
    folders = list(folders)
    found = {}
    for parent in dict.fromkeys(folder.parent for folder in folders):
        there = {folder.name: folder for folder in folders if folder.parent == parent}
        for name in sorted(noted(parent), key=lambda name: name.scale != "laptop"):
            if name.run in there:
                found.setdefault(there[name.run], name)
    return found


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []


def _read(line: str) -> Name | None:
    """Return the name of a line; none if somebody has edited it and it is none any more."""
    try:
        return Name.model_validate_json(line)
    except ValidationError:
        return None
