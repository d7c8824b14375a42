# SPDX-License-Identifier: GPL-2.0-only
"""Collects one metric over the runs of a scenario in one table: which run, then its values."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from pyorch import plugins
from pyorch.errors import PyorchError, TraceError
from pyorch.metrics._run import RunTables, refuse
from pyorch.spec import Run
from pyorch.writing import make_folder, write_text

#: What the first columns of every table say; those of swept keys follow.
ABOUT = {
    "scenario": "Name of the scenario",
    "scale": "Scale at which it was run",
    "case": "Name of the case",
    "case_label": "Label of the case",
    "variant": "Name of the variant",
    "label": "Label of the variant",
    "seed": "Seed of the run",
    "run": "Name of the run",
}


def ask(metric: str, run: RunTables) -> pd.DataFrame:
    """Return the answer of one run.

    Raises
    ------
    TraceError
        The run cannot be asked, or its tables are missing or incomplete.
    """
    module = plugins.load("pyorch.metrics", metric)
    if hasattr(module, "refusal"):
        refuse(module.refusal(run.spec))
    return module.measure(run)


def collect(metric: str, runs: Iterable[Run], results: Path | str) -> pd.DataFrame:
    """Return the rows of all runs, in their order.

    Parameters
    ----------
    metric : str
        Name of a module of this package.
    runs : iterable of Run
        From `pyorch.spec.plan`.
    results : path
        Folder of the results.

    Raises
    ------
    PyorchError
        A run's tables are missing or incomplete, with the name of the run.
    """
    module = plugins.load("pyorch.metrics", metric)
    parts = []
    for run in runs:
        folder = Path(results) / run.folder
        if not (folder / "flows.parquet").exists():
            raise TraceError(
                f"{metric}: {folder}: this run of {run.scenario} is not made. Make all and their"
                f" metrics: pyorch sweep scenarios/{run.scenario}.yaml"
                f" --scale {run.scale}"
            )
        try:
            measured = ask(metric, RunTables(run.spec, folder))
        except PyorchError as error:
            raise type(error)(f"{metric}: run {run.id} of {run.scenario}: {error}") from None
        case = {"case": run.case, "case_label": run.case_label} if run.case else {}
        about = {
            "scenario": run.scenario, "scale": run.scale, **case, "variant": run.variant,
            "label": run.label, "seed": run.seed, "run": run.id, **run.point,
        }  # fmt: skip
        parts.append(measured.assign(**about)[[*about, *measured.columns]])
    filled = [part for part in parts if len(part)]
    table = pd.concat(filled, ignore_index=True) if filled else parts[0]
    return module.across(table) if hasattr(module, "across") else table


def write_csv(table: pd.DataFrame, path: Path | str) -> None:
    """Write a small table: ten significant digits, empty cells for what does not exist."""
    path = Path(path)
    make_folder(path.parent)
    write_text(path, table.to_csv(index=False, float_format="%.10g", lineterminator="\n"))
