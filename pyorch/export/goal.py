# SPDX-License-Identifier: GPL-2.0-only
"""tasks.goal of LogGOPSim and ATLAHS: messages and tasks of a run and what they wait for.

A rank is a host, in the order of their ids. Nothing of the network is written.
"""

import numpy as np

from pyorch.errors import SpecError
from pyorch.export._refusals import Tables, refuse_common
from pyorch.spec.resolved import Spec
from pyorch.training import goal
from pyorch.training.graph import COMPUTE, TaskGraph
from pyorch.training.tables import graph_of

NAME = "GOAL"
PS_PER_NS = 1000


def files(spec: Spec, tables: Tables) -> dict[str, str]:
    """Return the text of the file.

    Raises
    ------
    SpecError
        Starts that differ, or what waits with a delay.
    """
    return {"tasks.goal": goal.write(task_graph(tables, NAME))}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return the starts [ps]: they are all the same, and a trace begins at 0."""
    return start_ps


def remarks(tables: Tables) -> list[str]:
    """Return what the file does not say exactly."""
    return rounded(tables, NAME, PS_PER_NS, "ns")


def task_graph(tables: Tables, name: str) -> TaskGraph:
    """Return the graph that the tables hold."""
    refuse_common(tables, name)
    try:
        return graph_of(tables)[0]
    except ValueError as error:
        raise SpecError(f"workload: {error}. {name} has none; take a graph of tasks.") from None


def rounded(tables: Tables, name: str, unit_ps: int, unit: str) -> list[str]:
    """Return a remark on computations that are no whole numbers of a unit, if there are any."""
    own = tables.get("tasks", {"kind": np.zeros(0), "duration_ps": np.zeros(0, dtype=np.int64)})
    durations_ps = own["duration_ps"][own["kind"] == COMPUTE]
    off_ps = abs(durations_ps - np.round(durations_ps / unit_ps).astype(np.int64) * unit_ps)
    if not off_ps.any():
        return []
    return [
        f"{name} has computations in whole {unit}: {(off_ps > 0).sum()} of {len(off_ps)} are"
        f" rounded, by up to {off_ps.max()} ps."
    ]
