# SPDX-License-Identifier: GPL-2.0-only
"""Compares two runs: parameters and results that differ."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from pyorch.spec.parameters import differing, short, shown

if TYPE_CHECKING:
    from pyorch.runs.run import RunResult

#: Times and memory differ from day to day, also between equal runs.
_COST = ("engine_cpu_s", "peak_memory_bytes")


def compare(a: "RunResult", b: "RunResult") -> pd.DataFrame:
    """Return one row for each parameter and each number of the summary that differs.

    Returns
    -------
    DataFrame
        ``what``: parameter, library or outcome; ``name``; ``a``, ``b``: values, <NA> where one has
        none; ``ratio``: b over a, for numbers of the outcome other than ids.
    """
    rows: list[tuple[str, str, Any, Any, float | None]] = []
    for key in differing([a.parameters, b.parameters]):
        left, right = a.parameters.get(key), b.parameters.get(key)
        rows.append(("parameter", short(key), shown(key, left), shown(key, right), None))
    libraries = [run.provenance["libraries_sha256"] for run in (a, b)]
    for name in differing(libraries):
        left, right = (found.get(name, "none")[:16] for found in libraries)
        rows.append(("library", name, left, right, None))
    for name in dict.fromkeys([*a.summary.index, *b.summary.index]):
        left, right = a.summary.get(name), b.summary.get(name)
        if left != right and name not in _COST:
            rows.append(("outcome", name, left, right, _ratio(name, left, right)))
    return pd.DataFrame(rows, columns=["what", "name", "a", "b", "ratio"])


def _ratio(name: str, left: Any, right: Any) -> float | None:
    """Return right over left where that means something."""
    numbers = all(isinstance(value, int | float) for value in (left, right))
    return right / left if numbers and left and not name.endswith("_flow") else None
