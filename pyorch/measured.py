# SPDX-License-Identifier: GPL-2.0-only
"""Sets values that were measured on hardware beside those of the same experiment here.

A measured experiment is a scenario with a section ``measured``, a file of ``measured/`` in a clone
or a study. Nothing is fitted to it: its tolerance stands in the file before the first run.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from pyorch import api
from pyorch.calls import checked
from pyorch.errors import SpecError, quoted
from pyorch.runs.choose import choose
from pyorch.runs.run import Runs
from pyorch.spec import read_scenario
from pyorch.spec.measured import UNITS, Measured, Of, Ours, Value

FOLDER = Path("measured")
COLUMNS = ("experiment", "what", "measured", "ours", "unit", "ratio", "allowed", "verdict")
#: Ours is as far from the measured value as was allowed before, or farther.
WITHIN, OUTSIDE = "within", "outside"


def files(folder: Path | str = FOLDER) -> list[Path]:
    """Return the files of all measured experiments of a folder, sorted.

    Raises
    ------
    SpecError
        There are none.
    """
    found = sorted(Path(folder).glob("*.yaml"))
    if not found:
        raise SpecError(f"{folder}: no measured experiment (*.yaml). Name a file.")
    return found


def read(path: Path | str) -> Measured:
    """Return what a scenario says of a measurement.

    Raises
    ------
    SpecError
        It says nothing of one, or what cannot be used.
    """
    found = read_scenario(path).planning().measured
    if found is None:
        raise SpecError(f"{path}: has no section measured. See docs/hardware.md.")
    return found


@checked
def table(
    scenarios: Iterable[Path | str] | None = None, *, cores: int | None = None
) -> pd.DataFrame:
    """Run measured experiments that are not finished; return measured values beside ours.

    Parameters
    ----------
    scenarios : list of path, optional
        Files; those of ``measured/`` by default.
    cores : int, optional
        How many runs at a time; all cores by default.

    Returns
    -------
    DataFrame
        One row for each value: ``experiment``, ``what``, ``measured``, ``ours`` (mean over seeds),
        ``unit``, ``ratio`` (ours over measured), ``allowed`` (share by which they may differ) and
        ``verdict`` (``within`` or ``outside``).

    Raises
    ------
    SpecError
        A file cannot be used, or names runs or columns that there are not.

    Examples
    --------
    >>> from pyorch import measured
    >>> measured.table(["measured/lost_port.yaml"])["verdict"].tolist()
    ['within']
    """
    paths = [Path(path) for path in (files() if scenarios is None else scenarios)]
    experiments = {path: read(path) for path in paths}
    for path in paths:
        choose(path, asks=True)  # all are checked before the first one runs
    rows = [
        row
        for path, its in experiments.items()
        for row in _rows(path, its, api.sweep(path, cores=cores))
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _rows(path: Path, its: Measured, runs: Runs) -> Iterator[dict[str, object]]:
    for index, value in enumerate(its.values):
        try:
            ours = _ours(value, runs)
        except SpecError as error:
            raise SpecError(f"{path}: measured.values.{index}.ours: {error}") from None
        allowed = max(its.tolerance_ppm, value.uncertainty_ppm) / 1e6
        ratio = ours / value.value
        yield {
            "experiment": path.stem, "what": value.what, "measured": value.value, "ours": ours,
            "unit": value.unit, "ratio": ratio, "allowed": allowed,
            "verdict": WITHIN if abs(ratio - 1) <= allowed else OUTSIDE,
        }  # fmt: skip


def _ours(value: Value, runs: Runs) -> float:
    """Return our value in the unit of the measured one."""
    its = value.ours
    found = _mean(its, its, runs)
    if its.minus:
        found -= _mean(its, its.minus, runs)
    if its.over:
        return found / _mean(its, its.over, runs)
    if its.data_bytes is not None:
        found = 8e12 * its.data_bytes / found  # bytes over a time [bit/s]
    return found / UNITS[value.unit]


def _mean(its: Ours, of: Of, runs: Runs) -> float:
    """Return the mean of a column over the rows of some runs."""
    chosen = Runs(
        [
            run for run in runs
            if of.variant in (None, run.variant) and of.case in (None, run.case)
        ]
    )  # fmt: skip
    if not len(chosen):
        raise SpecError(f"no run of variant {quoted(of.variant)} and case {quoted(of.case)}.")
    found = chosen.metric(its.metric)
    for name in (its.column, *its.where):
        if name not in found:
            raise SpecError(
                f"{its.metric} has no column {quoted(name)}. It has {', '.join(found.columns)}."
            )
    for name, wanted in its.where.items():
        found = found[found[name].astype(str) == str(wanted)]
    if found.empty:
        raise SpecError(f"{its.metric} has no row with {its.where}.")
    return float(found[its.column].mean())
