# SPDX-License-Identifier: GPL-2.0-only
"""What was changed of a scenario when its runs were asked for, so that they are not taken for old.

``results/<scenario>/.asked.jsonl`` has a line for each set of changes: key paths with their values.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyorch.errors import OutputError
from pyorch.writing import make_folder

FILE = ".asked.jsonl"
Sets = Mapping[str, object] | Iterable[tuple[str, object]]


def note(folder: Path, sets: Sets, seed: int | None = None) -> None:
    """Add the changes of one command to those of the folder of a scenario; none are not noted.

    Raises
    ------
    OutputError
        They cannot be written.
    """
    changes = [[key, value] for key, value in (sets.items() if isinstance(sets, Mapping) else sets)]
    changes += [] if seed is None else [["seed", seed]]
    if not changes or changes in noted(folder):
        return
    make_folder(folder)
    path = folder / FILE
    try:
        with path.open("a") as file:
            file.write(json.dumps(changes, default=str) + "\n")  # one call, so lines do not mix
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({os.strerror(error.errno)}).") from None


def noted(folder: Path) -> list[list[list]]:
    """Return all changes that were noted, pairs of key path and value; passes over other lines."""
    try:
        lines = (folder / FILE).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for line in lines:
        try:
            changes = json.loads(line)
        except ValueError:
            continue
        if isinstance(changes, list) and all(_is_change(change) for change in changes):
            found.append(changes)
    return found


def _is_change(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2 and isinstance(found[0], str)
