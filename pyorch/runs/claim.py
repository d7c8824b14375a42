# SPDX-License-Identifier: GPL-2.0-only
"""Makes a folder that somebody has named that of a run; nothing of others is replaced."""

from pathlib import Path
from typing import NoReturn

from pyorch import spec as specs
from pyorch.errors import OutputError, SpecError
from pyorch.reading import read_json, shown
from pyorch.spec.schema import Scenario

#: What each resolved spec has; also one of an older version, which may no longer be read.
_MARKS = {name for name, field in Scenario.model_fields.items() if field.is_required()}


def claim(folder: Path, spec: specs.Spec | None = None) -> None:
    """Make a folder the one of a run, or raise because it is something else.

    Parameters
    ----------
    folder : Path
        Not there yet, empty, or with a ``spec.json`` of ours: whatever else is in it came later.
    spec : Spec, optional
        Is written there; results of another spec must not be there then.

    Raises
    ------
    OutputError
        Something else is in it; nothing has been written.
    """
    if folder.is_dir() and any(folder.iterdir()):
        found = _spec_in(folder)
        if not found.keys() >= _MARKS:
            _refuse(folder, "is neither empty nor the folder of a run (no spec.json of pyorch)")
        if spec is not None and spec.plain() != found and (folder / "manifest.json").exists():
            _refuse(folder, "holds the result of another run")
    if spec is not None:
        specs.write_resolved(spec, folder / "spec.json")


def _spec_in(folder: Path) -> dict:
    try:
        return read_json(folder / "spec.json", SpecError, "")
    except SpecError:
        return {}


def _refuse(folder: Path, why: str) -> NoReturn:
    raise OutputError(
        f"{shown(folder)}: {why}, so nothing was written there. Name a new folder: --out FOLDER"
    )
