# SPDX-License-Identifier: GPL-2.0-only
"""Makes a run again without one cause or another, and compares how long a message takes."""

from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pyorch.api import run as make
from pyorch.errors import TraceError
from pyorch.explain.causes import CAUSES, Cause
from pyorch.look import bottleneck
from pyorch.runs.run import RunResult
from pyorch.spec.stored import scenario_of_spec

BASE = "as it was"


class Explanation(NamedTuple):
    """Why a message took as long as it did.

    Attributes
    ----------
    run : RunResult
        The run.
    flow : int
        The message.
    path : str
        What its path says, in a sentence; which line records it, if nothing did.
    table : DataFrame
        One row for each way to remove a cause: ``cause``, ``draw``, ``alone_ps``: completion time
        of the message without this cause alone, ``together_ps``: without this one and those above
        (only of the first draw), ``slowest_alone_ps`` and ``slowest_together_ps``: of the slowest
        message of the run. The first row is the run as it was.
    """

    run: RunResult
    flow: int
    path: str
    table: pd.DataFrame

    @property
    def interaction_ps(self) -> int:
        """How much more all removals gain together than the sum of what each gains alone [ps]."""
        first = self.table[self.table["draw"] == 0]
        base = int(first["alone_ps"].iloc[0])
        alone = (base - first["alone_ps"].iloc[1:]).sum()
        return int(base - first["together_ps"].iloc[-1] - alone)


def explain(
    run: RunResult, flow: int | None = None, results: Path | str = "results"
) -> Explanation:  # fmt: skip
    """Return why a message of a run took as long as it did.

    Parameters
    ----------
    run : RunResult
        A finished run.
    flow : int, optional
        Id of the message; the slowest one by default.
    results : path
        Where the further runs go. What is finished there is not run again.

    Raises
    ------
    TraceError
        There is no such message, or it did not end.

    Examples
    --------
    >>> run = pyorch.run("scenarios/incast.yaml")
    >>> explain(run).table
    """
    took = run.fct_ps
    if flow is None:
        if not took.notna().any():
            raise TraceError(f"{run.folder}: no message ended, so nothing can be compared.")
        flow = int(took.astype("Float64").idxmax())
    if flow not in took.index:
        raise TraceError(f"{run.folder}: there is no message {flow}: see its flows.parquet.")
    if pd.isna(took[flow]):
        raise TraceError(f"{run.folder}: message {flow} did not end, so nothing can be compared.")
    scenario = scenario_of_spec(run.spec)
    base = int(took[flow]), int(took.max())
    rows: list[tuple[str, int, *tuple[int | None, ...]]] = [(BASE, 0, *base, *base)]
    removed: list[Cause] = []
    for cause in CAUSES:
        if cause.counter and not run.summary.get(cause.counter):
            continue
        if not cause.remove(deepcopy(scenario), 0):
            continue
        together = _without(scenario, [*removed, cause], 0, flow, results) if removed else None
        for draw in range(cause.draws):
            alone = _without(scenario, [cause], draw, flow, results)
            both = (together or alone) if draw == 0 else (None, None)
            rows.append((cause.name, draw, *alone, *both))
        removed.append(cause)
    columns = ["cause", "draw", "alone_ps", "slowest_alone_ps", "together_ps",
               "slowest_together_ps"]  # fmt: skip
    table = pd.DataFrame(rows, columns=columns)
    numbers = columns[2:]
    return Explanation(
        run, flow, bottleneck(run, flow), table.astype(dict.fromkeys(numbers, "Int64"))
    )


def _without(
    scenario: dict, causes: list[Cause], draw: int, flow: int, results: Path | str
) -> tuple[int | None, int | None]:
    """Return completion times of the message and of the slowest one without some causes [ps]."""
    changed = deepcopy(scenario)
    for cause in causes:
        cause.remove(changed, draw if cause is causes[-1] else 0)
    took = make(changed, results=results).fct_ps
    known = took.dropna()
    own = None if pd.isna(took.get(flow, pd.NA)) else int(took[flow])
    return own, int(known.max()) if len(known) else None
