# SPDX-License-Identifier: GPL-2.0-only
"""A graph of tasks as the tables of a run: messages are flows, the rest is the table ``tasks``.

Rows of ``dependencies`` count the flows first and then the tasks, each in the order of the graph.
"""

import numpy as np

from pyorch.spec.network import Columns
from pyorch.training.graph import MESSAGE, TaskGraph


def flows(graph: TaskGraph, hosts: np.ndarray, start_ps: int = 0) -> Columns:
    """Return the messages: src, dst, bytes, start_ps.

    Parameters
    ----------
    hosts : ndarray of int, n_devices
        Node id of each device.
    start_ps : int
        Before which no task starts [ps].
    """
    rows = graph.kind == MESSAGE
    return {
        "src": hosts[graph.device[rows]],
        "dst": hosts[graph.peer[rows]],
        "bytes": graph.size_bytes[rows],
        "start_ps": np.full(int(rows.sum()), start_ps, dtype=np.int64),
    }


def tasks(graph: TaskGraph, hosts: np.ndarray, start_ps: int = 0) -> Columns:
    """Return all others: kind, node, stream, duration_ps, start_ps."""
    rows = graph.kind != MESSAGE
    return {
        "kind": graph.kind[rows],
        "node": hosts[graph.device[rows]],
        "stream": graph.stream[rows],
        "duration_ps": graph.duration_ps[rows],
        "start_ps": np.full(int(rows.sum()), start_ps, dtype=np.int64),
    }


def dependencies(graph: TaskGraph) -> Columns:
    """Return which rows wait for which, each pair once: flow, after, at_sender, maybe delay_ps."""
    place = places(graph)
    columns = np.stack(
        [place[graph.task], place[graph.after], graph.at_sender, graph.delay_ps]
    )  # fmt: skip
    columns[2] *= graph.kind[graph.after] == MESSAGE  # the others end once
    # Of two delays between the same ends the longer one holds: the last in this order.
    columns = columns[:, np.lexsort(columns[::-1])]
    last = np.append((np.diff(columns[:3]) != 0).any(axis=0), True)[: columns.shape[1]]
    waits = dict(zip(("flow", "after", "at_sender", "delay_ps"), columns[:, last], strict=True))
    if not waits["delay_ps"].any():
        del waits["delay_ps"]
    return waits


def places(graph: TaskGraph) -> np.ndarray:
    """Return the row of each task in the flows, or behind all of them in the tasks."""
    is_message = graph.kind == MESSAGE
    n_messages = int(is_message.sum())
    return np.where(is_message, np.cumsum(is_message) - 1, n_messages + np.cumsum(~is_message) - 1)
