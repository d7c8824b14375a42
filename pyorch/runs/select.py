# SPDX-License-Identifier: GPL-2.0-only
"""Takes what is known of runs, returns those that meet conditions, and the columns asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.runs import summary
from pyorch.spec.parameters import column_names, short, without_unit
from pyorch.spec.typeids import UNITS
from pyorch.units import BY_SUFFIX, parse

#: Name of a column to the value that is wanted, or to several of which one is wanted.
Where = Mapping[str, object]
#: The end of a name says what its value measures.
_DIMENSIONS = BY_SUFFIX | UNITS


@dataclass(frozen=True)
class Known:
    """What is known of a run.

    Attributes
    ----------
    facts : mapping
        Which run it is, its state and its cost, by the names of `catalog.COLUMNS`.
    parameters : mapping
        Its spec by key path.
    outcome : callable
        Returns its summary; asked only if a number of that is wanted.
    """

    facts: Mapping[str, object]
    parameters: Mapping[str, object]
    outcome: Callable[[], Mapping[str, object]]

    def find(self, name: str) -> tuple[str, object] | None:
        """Return a value with its full name; a key path may be as the scenario has it.

        A section with a type is that type: ``transport`` is ``ns3::RoceTransport``. A file is its
        path.
        """
        if name in self.facts:
            return name, self.facts[name]
        if name in summary.NAMES:
            return name, self.outcome().get(name)
        for wanted in (name, f"{name}.type", f"{name}.path"):
            for key, value in self.parameters.items():
                if wanted in (key, without_unit(key), short(key)):
                    return key, value
        return None


def where(runs: Sequence[Known], conditions: Where) -> list[int]:
    """Return the places of the runs that meet all conditions.

    Raises
    ------
    SpecError
        No run has a column of that name, or a text has no unit that its value could have.
    """
    for name in conditions:
        _check(runs, name)
    return [
        place for place, run in enumerate(runs)
        if all(_is(run.find(name), wanted) for name, wanted in conditions.items())
    ]  # fmt: skip


def table(runs: Sequence[Known], columns: Iterable[str]) -> pd.DataFrame:
    """Return columns by their full names, one row per run; whole numbers are Int64.

    Raises
    ------
    SpecError
        No run has a column of that name.
    """
    found = {}
    for name in columns:
        _check(runs, name)
        cells = [run.find(name) for run in runs]
        full = next((cell[0] for cell in cells if cell), name)
        values = [cell and cell[1] for cell in cells]
        is_whole = {type(value) for value in values} - {type(None)} == {int}
        found[full] = pd.Series(values, dtype="Int64" if is_whole else None)
    names = column_names((run.parameters for run in runs), found)
    return pd.DataFrame(found).rename(columns=names)


def _check(runs: Sequence[Known], name: str) -> None:
    """Raise SpecError for a name that no run has."""
    if runs and not any(run.find(name) for run in runs):
        keys = dict.fromkeys(short(key) for run in runs for key in run.parameters)
        hint = did_you_mean(name, [*runs[0].facts, *summary.NAMES, *keys])
        raise SpecError(
            f"no run has a column {quoted(name)}. There are {', '.join(runs[0].facts)}, the numbers"
            f" of the summary, and the key paths of scenarios.{hint}"
        )


def _is(cell: tuple[str, object] | None, wanted: object) -> bool:
    """Return whether a value is the wanted one, or one of these."""
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        return any(_is(cell, one) for one in wanted)
    name, value = cell or ("", None)
    if value is None or wanted is None or value is pd.NA:
        return value is not pd.NA and value == (None if wanted == "none" else wanted)
    dimension = next((its for end, its in _DIMENSIONS.items() if name.endswith(end)), None)
    if isinstance(wanted, str) and isinstance(value, int) and dimension:
        try:
            return value == parse(wanted, dimension)
        except SpecError as error:
            raise SpecError(f"{name}: {error}") from None
    if isinstance(wanted, str) or isinstance(value, str):
        return str(value).replace(" ", "") == str(wanted).replace(" ", "")  # 4ms is 4 ms
    return bool(value == wanted)
