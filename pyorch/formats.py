# SPDX-License-Identifier: GPL-2.0-only
"""Versions of the formats that outlive a release: of scenarios, and of the tables of results.

docs/maintaining.md says which changes need a new one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pyorch.errors import SpecError, quoted

#: Key of a scenario with the version of its format; without it that is the current one.
KEY = "format"
SCENARIO = 1
TABLES = 1
#: By an older version of the scenario format: what has changed in the next one, in a sentence that
#: says what to write, or a function that returns a scenario as the next one has it.
MIGRATIONS: Mapping[int, str | Callable[[dict[str, Any]], dict[str, Any]]] = {}


def current(values: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario in the current version of the format, without the key that says it.

    Raises
    ------
    SpecError
        Its version is newer, is none, or is an older one that only a person can bring up to date.
    """
    version = values.get(KEY, SCENARIO)
    values = {key: value for key, value in values.items() if key != KEY}
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        shown = quoted(version) if isinstance(version, str) else quoted(version)[1:-1]
        raise SpecError(
            f"{KEY}: {shown} is no version of the format. Write {SCENARIO}, or leave it out."
        )
    if version > SCENARIO:
        raise SpecError(
            f"{KEY}: {version} is newer than this pyorch, which reads {SCENARIO}. Install a newer"
            " one."
        )
    for older in range(version, SCENARIO):
        step = MIGRATIONS[older]
        if isinstance(step, str):
            raise SpecError(f"{KEY}: {older} is older than {SCENARIO}. {step}")
        values = step(values)
    return values
