# SPDX-License-Identifier: GPL-2.0-only
"""Tasks and what each waits for, as arrays, however they were made; and what no graph may have."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_TASKS

#: Kinds of tasks.
COMPUTE, MESSAGE, BARRIER = 0, 1, 2
#: Which end of a message is waited for: the last byte is there, or its sender knows.
AT_RECEIVER, AT_SENDER = 0, 1
#: Key of a scenario that a message is about, unless the caller has another.
KEY = "graph"


class TaskGraph(NamedTuple):
    """Tasks, and which of them wait for which; arrays of integers.

    Computations of one device and stream are done one after the other, in the order of their rows,
    whatever else they wait for. Everything else starts when all that it waits for has ended.

    Attributes
    ----------
    devices : int
        How many there are; they are counted from 0.
    lanes : tuple of str
        What tasks are for: ``forward``, ``TP``.
    kind : ndarray, one row per task
        `COMPUTE`, `MESSAGE`, or `BARRIER`: a point in time.
    device : ndarray, one row per task
        Who computes, sends, or passes the barrier.
    peer : ndarray, one row per task
        Who receives the message; of other tasks `device`.
    duration_ps, size_bytes : ndarray, one row per task
        Of a computation [ps]; of a message [byte]; else 0.
    stream, lane : ndarray, one row per task
        Of a computation, counted from 0 on each device, else 0; index into `lanes`.
    task, after, at_sender, delay_ps : ndarray, one row per dependency
        Row `task` starts `delay_ps` or more [ps] after row `after` has ended. A message has ended
        when its last byte is at `peer`, or with `at_sender` 1 when `device` has its
        acknowledgement. Between other devices than that and the one that waits there is a delay.
    """

    devices: int
    lanes: tuple[str, ...]
    kind: np.ndarray
    device: np.ndarray
    peer: np.ndarray
    duration_ps: np.ndarray
    size_bytes: np.ndarray
    stream: np.ndarray
    lane: np.ndarray
    task: np.ndarray
    after: np.ndarray
    at_sender: np.ndarray
    delay_ps: np.ndarray


#: Columns with one row for each task, and for each dependency.
TASK_COLUMNS = ("kind", "device", "peer", "duration_ps", "size_bytes", "stream", "lane")
WAIT_COLUMNS = ("task", "after", "at_sender", "delay_ps")


def check(graph: TaskGraph, key: str = KEY) -> None:
    """Raise FieldError, about `key`, for the first thing that makes a graph impossible to run."""
    n_tasks = len(graph.kind)
    if not n_tasks:
        raise FieldError(key, "there is no task in it.")
    if n_tasks > MOST_TASKS:
        raise FieldError(key, f"{n_tasks:,} tasks; at most {MOST_TASKS:,}.")
    _check_tasks(graph, key)
    ends = np.concatenate([graph.task, graph.after])
    if (unknown := ends[(ends < 0) | (ends >= n_tasks)]).size:
        raise FieldError(
            key, f"a dependency names task {unknown[0]}; the tasks are 0 to {n_tasks - 1}."
        )
    _check_news(graph, key)
    if (stuck := cycle(graph)).size:
        shown = ", ".join(map(str, stuck[:10].tolist())) + ", ..." * (len(stuck) > 10)
        raise FieldError(
            key, f"{len(stuck)} tasks wait for each other, so none of them ever starts: {shown}."
        )


def _check_tasks(graph: TaskGraph, key: str) -> None:
    is_message = graph.kind == MESSAGE
    most = np.where(is_message, LARGEST_MESSAGE_BYTES, 0)
    wrong = {
        "kind": ~np.isin(graph.kind, [COMPUTE, MESSAGE, BARRIER]),
        "device": (graph.device < 0) | (graph.device >= graph.devices),
        "peer": (graph.peer < 0) | (graph.peer >= graph.devices),
        "self": is_message & (graph.peer == graph.device),
        "size_bytes": (graph.size_bytes < is_message) | (graph.size_bytes > most),
        "duration_ps": (graph.duration_ps < 0)
        | (graph.duration_ps > np.where(graph.kind == COMPUTE, LONGEST_PS, 0)),
        "stream": graph.stream < 0,
        "lane": (graph.lane < 0) | (graph.lane >= len(graph.lanes)),
    }
    bad = np.flatnonzero(np.any(list(wrong.values()), axis=0))
    if not bad.size:
        return
    row = int(bad[0])
    what = next(name for name, mask in wrong.items() if mask[row])
    if what in ("device", "peer"):
        raise FieldError(
            key, f"task {row}: there is no device {getattr(graph, what)[row]}; the"
            f" {graph.devices} devices are 0 to {graph.devices - 1}.",
        )  # fmt: skip
    if what == "self":
        raise FieldError(key, f"task {row}: device {graph.device[row]} sends to itself.")
    raise FieldError(key, f"task {row}: {what} is {getattr(graph, what)[row]}.")


def _check_news(graph: TaskGraph, key: str) -> None:
    """Raise FieldError if a device would know of the end of a task before it can."""
    at_peer = (graph.at_sender == AT_RECEIVER) & (graph.kind[graph.after] == MESSAGE)
    known_at = np.where(at_peer, graph.peer[graph.after], graph.device[graph.after])
    early = (graph.delay_ps < 0) | ((graph.delay_ps == 0) & (known_at != graph.device[graph.task]))
    if (bad := np.flatnonzero(early)).size:
        row = int(bad[0])
        raise FieldError(
            key, f"task {graph.task[row]} of device {graph.device[graph.task[row]]} starts"
            f" {graph.delay_ps[row]} ps after task {graph.after[row]}, of whose end device"
            f" {known_at[row]} knows. Give the news a delay, or a message that carries them.",
        )  # fmt: skip


def stream_edges(graph: TaskGraph) -> tuple[np.ndarray, np.ndarray]:
    """Return which computation follows which on its stream: rows that wait, rows before them."""
    rows = np.flatnonzero(graph.kind == COMPUTE)
    rows = rows[np.lexsort([rows, graph.stream[rows], graph.device[rows]])]
    same = (np.diff(graph.device[rows]) == 0) & (np.diff(graph.stream[rows]) == 0)
    return rows[1:][same], rows[:-1][same]


def local_waits(graph: TaskGraph, what: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield what a file of one device each has to say: dependencies, then the order of streams.

    Parameters
    ----------
    graph : TaskGraph
        Whatever is waited for, the device that waits must know of.
    what : str
        The format, as a message begins: ``GOAL``.

    Yields
    ------
    device, task, before : int
        Who waits, with which task, for which one.
    is_received : bool
        Whether that is a message which the device receives: its last byte is waited for.

    Raises
    ------
    FieldError
        A task waits with a delay, or for an end that its device does not know of.
    """
    for task, before, at_sender, delay_ps in zip(
        *(column.tolist() for column in (graph.task, graph.after, graph.at_sender, graph.delay_ps)),
        strict=True,
    ):
        is_received = bool(graph.kind[before] == MESSAGE and at_sender != AT_SENDER)
        known_at = int((graph.peer if is_received else graph.device)[before])
        if delay_ps or known_at != graph.device[task]:
            raise FieldError(
                KEY, f"task {task} starts {delay_ps} ps after task {before}, of whose end device"
                f" {known_at} knows. {what} has neither delays nor news without a message.",
            )  # fmt: skip
        yield known_at, task, before, is_received
    for task, before in zip(*(rows.tolist() for rows in stream_edges(graph)), strict=True):
        yield int(graph.device[task]), task, before, False


def cycle(graph: TaskGraph) -> np.ndarray:
    """Return the rows of tasks that wait for each other, if there are any."""
    if (graph.after < graph.task).all():  # and so do streams
        return graph.task[:0]
    from scipy.sparse import coo_array  # few graphs come so far
    from scipy.sparse.csgraph import connected_components

    later, before = stream_edges(graph)
    task, after = (
        np.concatenate(both, dtype=np.int32, casting="unsafe")
        for both in ((graph.task, later), (graph.after, before))
    )
    if (alone := task[task == after]).size:
        return alone[:1]
    n_tasks = len(graph.kind)
    edges = coo_array((np.ones(len(task), dtype=np.int8), (task, after)), shape=(n_tasks, n_tasks))
    _, member = connected_components(edges, directed=True, connection="strong")
    first = int(np.argmax(np.bincount(member)[member] > 1))
    together = np.flatnonzero(member == member[first])
    return together if len(together) > 1 else together[:0]
