# SPDX-License-Identifier: GPL-2.0-only
"""tasks.goal and tasks.bin of LogGOPSim and ATLAHS: messages, tasks, and what they wait for.

The second is the binary form, which these simulators read. A rank is a host, in the order of their
ids. Nothing of the network is written.
"""

import numpy as np

from pyorch.errors import SpecError
from pyorch.export._refusals import Tables, refuse_messages
from pyorch.spec.resolved import Spec
from pyorch.training import goal, goal_binary
from pyorch.training.graph import COMPUTE, TaskGraph
from pyorch.training.tables import graph_of
from pyorch.units import TIME, format_exact

NAME = "GOAL"
PS_PER_NS = 1000


def files(spec: Spec, tables: Tables) -> dict[str, str | bytes]:
    """Return what is in both files.

    Raises
    ------
    SpecError
        Starts that differ, or what waits with a delay.
    """
    graph = task_graph(tables, NAME)
    return {"tasks.goal": goal.write(graph), "tasks.bin": goal_binary.write(graph)}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return the starts [ps]: they are all the same, and a trace begins at 0."""
    return start_ps


def remarks(tables: Tables) -> list[str]:
    """Return what the file does not say exactly."""
    return [*later(tables, NAME), *rounded(tables, NAME, PS_PER_NS, "ns")]


def task_graph(tables: Tables, name: str) -> TaskGraph:
    """Return the graph that the tables hold."""
    refuse_messages(tables, name)
    try:
        return graph_of(tables)[0]
    except ValueError as error:
        raise SpecError(f"workload: {error}. {name} has none; take a graph of tasks.") from None


def later(tables: Tables, name: str) -> list[str]:
    """Return a remark on the time until the first message may begin, if there is any."""
    if not (start_ps := int(min(tables["flows"]["start_ps"], default=0))):
        return []
    return [
        f"{name} begins at 0, so all is {format_exact(start_ps, TIME)} earlier there than in this"
        " run, whose messages begin then."
    ]


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
