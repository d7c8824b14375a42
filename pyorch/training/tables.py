# SPDX-License-Identifier: GPL-2.0-only
"""A graph of tasks as the tables of a run: messages are flows, the rest is the table ``tasks``.

Rows of ``dependencies`` count the flows first and then the tasks, each in the order of the graph.
"""

import numpy as np

from pyorch.spec.network import Columns
from pyorch.training.graph import MESSAGE, TaskGraph


def flows(graph: TaskGraph, hosts: np.ndarray, start_ps: int | np.ndarray = 0) -> Columns:
    """Return the messages: src, dst, bytes, start_ps.

    Parameters
    ----------
    hosts : ndarray of int, n_devices
        Node id of each device.
    start_ps : int, or ndarray of int, n_devices
        Before which no task starts, maybe of each device [ps].
    """
    rows = graph.kind == MESSAGE
    return {
        "src": hosts[graph.device[rows]],
        "dst": hosts[graph.peer[rows]],
        "bytes": graph.size_bytes[rows],
        "start_ps": _starts(graph, rows, start_ps),
    }


def tasks(graph: TaskGraph, hosts: np.ndarray, start_ps: int | np.ndarray = 0) -> Columns:
    """Return all others: kind, node, stream, duration_ps, start_ps."""
    rows = graph.kind != MESSAGE
    return {
        "kind": graph.kind[rows],
        "node": hosts[graph.device[rows]],
        "stream": graph.stream[rows],
        "duration_ps": graph.duration_ps[rows],
        "start_ps": _starts(graph, rows, start_ps),
    }


def _starts(graph: TaskGraph, rows: np.ndarray, start_ps: int | np.ndarray) -> np.ndarray:
    return np.broadcast_to(start_ps, graph.devices)[graph.device[rows]].astype(np.int64)


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


def graph_of(input_tables: dict[str, Columns]) -> tuple[TaskGraph, int]:
    """Return the graph that tables of a run hold, and the time before which nothing starts [ps].

    Devices are the hosts in the order of their ids.

    Raises
    ------
    ValueError
        Their starts differ, so they are no graph of tasks alone.
    """
    nodes, flows = input_tables["nodes"], input_tables["flows"]
    own = input_tables.get("tasks", {})
    start_ps = np.unique(np.concatenate([flows["start_ps"], own.get("start_ps", [])]))
    if len(start_ps) != 1:
        raise ValueError("messages and tasks have different starts")
    hosts = np.sort(nodes["node"][nodes["is_switch"] == 0])
    n_flows, none = len(flows["src"]), np.zeros(0, dtype=np.int64)
    zeros = np.zeros(n_flows, dtype=np.int64)
    device = np.searchsorted(hosts, np.concatenate([flows["src"], own.get("node", none)]))
    peer = np.searchsorted(hosts, np.concatenate([flows["dst"], own.get("node", none)]))
    ids = np.concatenate([flows["flow"], own.get("task", none)])
    order = np.argsort(ids)
    waits = input_tables.get("dependencies", {})
    rows = {
        name: order[np.searchsorted(ids, waits.get(column, none), sorter=order)]
        for name, column in (("task", "flow"), ("after", "after"))
    }
    n_waits = len(rows["task"])
    return TaskGraph(
        devices=len(hosts),
        lanes=("task",),
        kind=np.concatenate([np.full(n_flows, MESSAGE), own.get("kind", none)]),
        device=device,
        peer=peer,
        duration_ps=np.concatenate([zeros, own.get("duration_ps", none)]),
        size_bytes=np.concatenate([flows["bytes"], np.zeros(len(ids) - n_flows, dtype=np.int64)]),
        stream=np.concatenate([zeros, own.get("stream", none)]),
        lane=np.zeros(len(ids), dtype=np.int64),
        **rows,
        at_sender=waits.get("at_sender", np.zeros(n_waits, dtype=np.int64)),
        delay_ps=waits.get("delay_ps", np.zeros(n_waits, dtype=np.int64)),
    ), int(start_ps[0])
