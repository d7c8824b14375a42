# SPDX-License-Identifier: GPL-2.0-only
"""Puts a graph of tasks together, many alike at a time: one call, one array of rows."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pyorch.collective import _graph as collective
from pyorch.training.graph import (
    AT_RECEIVER,
    BARRIER,
    COMPUTE,
    MESSAGE,
    TASK_COLUMNS,
    WAIT_COLUMNS,
    TaskGraph,
)

Rows = np.ndarray
_AT_A_TIME = 2**16


def pieces(n: int) -> Iterator[slice]:
    """Yield parts of so many rows that a builder is given one after the other, to keep little."""
    return (slice(begin, begin + _AT_A_TIME) for begin in range(0, n, _AT_A_TIME))


class Builder:
    """A graph that grows.

    Arguments are whole numbers or arrays of them, which are broadcast against each other; rows come
    back in the shape of the first.

    Parameters
    ----------
    devices : int
        How many there are.
    step_ps : int
        Passes before a message of a collective that waits for others, when they are there [ps].
    """

    def __init__(self, devices: int, step_ps: int = 0):
        self.devices = devices
        self._step_ps = step_ps
        self._lanes: dict[str, int] = {}
        self._tasks: list[_Part] = []
        self._waits: list[_Part] = []
        self._n_tasks = 0

    def compute(self, device, duration_ps, lane: str, stream=0) -> Rows:
        """Add computations, each behind those that its stream of the device has already."""
        return self.tasks(COMPUTE, device, device, duration_ps, 0, stream, self.lane(lane))

    def message(self, device, peer, size_bytes, lane: str) -> Rows:
        """Add messages from `device` to `peer`."""
        return self.tasks(MESSAGE, device, peer, 0, size_bytes, 0, self.lane(lane))

    def barrier(self, device, lane: str) -> Rows:
        """Add points in time, at which all that they wait for has ended."""
        return self.tasks(BARRIER, device, device, 0, 0, 0, self.lane(lane))

    def lane(self, name: str) -> int:
        """Return the number of a lane."""
        return self._lanes.setdefault(name, len(self._lanes))

    def tasks(self, kind, device, peer, duration_ps, size_bytes, stream, lane) -> Rows:
        """Add tasks of several kinds, each as `compute`, `message` or `barrier` would."""
        part = _part(kind, device, peer, duration_ps, size_bytes, stream, lane)
        self._tasks.append(part)
        rows = np.arange(self._n_tasks, self._n_tasks + part.n_rows)
        self._n_tasks += part.n_rows
        return rows.reshape(part.shape)

    def wait(self, task, after, at_sender=AT_RECEIVER, delay_ps=0) -> None:
        """Let tasks wait for others."""
        self._waits.append(_part(task, after, at_sender, delay_ps))

    def collective(
        self, messages: collective.Graph, ranks, begin, lane: str, begin_ps=0, arrived_ps=0
    ) -> Rows:
        """Add a collective operation in each of several groups.

        Parameters
        ----------
        messages : Graph
            Of `pyorch.collective`.
        ranks : ndarray of int, n_groups x n_ranks
            Device of each rank.
        begin : ndarray of int, n_groups x n_ranks
            Task after which each rank has what it brings along.
        lane : str
            What the messages are for.
        begin_ps : int
            Passes on each rank before its first message [ps].
        arrived_ps : int or ndarray of int, n_messages
            Passes on the receiver of each message when it has come, before it goes on [ps].

        Returns
        -------
        ndarray of int, n_groups x n_ranks
            Barriers at which each rank has its result.
        """
        ranks, begin = np.asarray(ranks), np.asarray(begin)
        rows = self.message(
            ranks[:, messages.src], ranks[:, messages.dst], messages.bytes, lane
        )  # n_groups x n_messages
        arrived_ps = np.broadcast_to(arrived_ps, messages.src.shape)
        came_ps = np.where(messages.at_sender == AT_RECEIVER, arrived_ps[messages.after], 0)
        after_ps = came_ps + self._step_ps
        self.wait(rows[:, messages.flow], rows[:, messages.after], messages.at_sender, after_ps)
        own = begin[:, messages.src[messages.own]]
        self.wait(rows[:, messages.own], own, AT_RECEIVER, begin_ps)
        done = self.barrier(ranks, lane)
        self.wait(done, begin)
        needed = messages.needed
        at = done[:, messages.dst[needed]]
        self.wait(at, rows[:, needed], AT_RECEIVER, arrived_ps[needed])
        return done

    def graph(self) -> TaskGraph:
        """Return what was added, which the builder then no longer has."""
        named = _filled(TASK_COLUMNS, self._tasks) | _filled(WAIT_COLUMNS, self._waits)
        return TaskGraph(self.devices, tuple(self._lanes), **named)


class _Part(NamedTuple):
    """Rows that were added together: their columns, each a number or an array that is broadcast."""

    n_rows: int
    shape: tuple[int, ...]
    columns: list[int | np.ndarray]


def _part(*values) -> _Part:
    """Return copies of values and the shape that they have together."""
    columns = [value if isinstance(value, int) else np.array(value, np.int64) for value in values]
    shapes = {column.shape for column in columns if not isinstance(column, int)}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    return _Part(math.prod(shape), shape, columns)


def _filled(names: tuple[str, ...], parts: list[_Part]) -> dict[str, np.ndarray]:
    """Return the columns of all rows, each written once; a part is forgotten when it is written."""
    total = sum(part.n_rows for part in parts)
    found = {name: np.empty(total, dtype=np.int64) for name in names}
    begin = 0
    parts.reverse()
    while parts:
        n_rows, shape, columns = parts.pop()
        end = begin + n_rows
        for whole, column in zip(found.values(), columns, strict=True):
            if isinstance(column, int) or column.shape == (n_rows,):
                whole[begin:end] = column
            else:
                whole[begin:end].reshape(shape)[...] = column
        begin = end
    return found
