# SPDX-License-Identifier: GPL-2.0-only
"""A study: a folder of one's own with scenarios, figures and modules, anywhere."""

import os
import shutil
from pathlib import Path

from pyorch import trust
from pyorch.errors import OutputError, SpecError
from pyorch.reading import shown
from pyorch.spec import json_schema, scenario_files
from pyorch.writing import make_folder, write_text

#: What a new study holds; ``gitignore`` gets its dot there.
CONTENT = Path(__file__).resolve().parents[1] / "study"


def init(folder: Path) -> list[Path]:
    """Make a study; return its files.

    Raises
    ------
    OutputError
        The folder has something in it: only what is hidden, as ``.git``, may be there.
    """
    sources = sorted(path for path in CONTENT.rglob("*") if path.is_file() and _belongs(path))
    targets = [folder / _named(path.relative_to(CONTENT)) for path in sources]
    if found := _in_the_way(folder, targets):
        raise OutputError(
            f"{shown(found)}: is there already, and nothing was written."
            " Name another folder: pyorch init my-study"
        )
    for source, target in zip(sources, targets, strict=True):
        make_folder(target.parent)
        shutil.copyfile(source, target)
    trust.grant(folder)
    return [*targets, *_with_schema(folder)]


def _with_schema(folder: Path) -> list[Path]:
    """Write the JSON Schema of scenarios, and name it in those that are there."""
    path = folder / json_schema.FILE
    try:
        json_schema.write_schema(path)
    except SpecError:
        return []  # nothing is built yet: `pyorch schema` says so
    for scenario in scenario_files(folder / "scenarios"):
        write_text(scenario, json_schema.COMMENT + scenario.read_text())
    return [path]


def _in_the_way(folder: Path, targets: list[Path]) -> Path | None:
    """Return something in a folder that no study can be made beside or over."""
    if not folder.is_dir():
        return folder if os.path.lexists(folder) else None
    found = sorted(folder.iterdir())
    return next((path for path in found if path.name[0] != "." or path in targets), None)


def _belongs(path: Path) -> bool:
    return "__pycache__" not in path.parts


def _named(path: Path) -> Path:
    return path.with_name(".gitignore") if path.name == "gitignore" else path
