# SPDX-License-Identifier: GPL-2.0-only
"""Puts a graph of tasks together, many alike at a time: one call, one array of rows."""

import numpy as np

from pyorch.collective import _graph as collective
from pyorch.training.graph import AT_RECEIVER, BARRIER, COMPUTE, MESSAGE, TaskGraph

Rows = np.ndarray
#: Columns of a task in the order of `TaskGraph`, and of a dependency.
_TASK = ("kind", "device", "peer", "duration_ps", "size_bytes", "stream", "lane")
_WAIT = ("task", "after", "at_sender", "delay_ps")


class Builder:
    """A graph that grows.

    Arguments are whole numbers or arrays of them, which are broadcast against each other; rows come
    back in the shape of the first.

    Parameters
    ----------
    devices : int
        How many there are.
    """

    def __init__(self, devices: int):
        self.devices = devices
        self._lanes: dict[str, int] = {}
        self._tasks: list[list[np.ndarray]] = []
        self._waits: list[list[np.ndarray]] = []
        self._n_tasks = 0

    def compute(self, device, duration_ps, lane: str, stream=0) -> Rows:
        """Add computations, each behind those that its stream of the device has already."""
        return self._add(COMPUTE, device, device, duration_ps, 0, stream, lane)

    def message(self, device, peer, size_bytes, lane: str) -> Rows:
        """Add messages from `device` to `peer`."""
        return self._add(MESSAGE, device, peer, 0, size_bytes, 0, lane)

    def barrier(self, device, lane: str) -> Rows:
        """Add points in time, at which all that they wait for has ended."""
        return self._add(BARRIER, device, device, 0, 0, 0, lane)

    def wait(self, task, after, at_sender=AT_RECEIVER, delay_ps=0) -> None:
        """Let tasks wait for others."""
        columns, _ = _broadcast(task, after, at_sender, delay_ps)
        self._waits.append(columns)

    def collective(self, messages: collective.Graph, ranks, begin, lane: str) -> Rows:
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

        Returns
        -------
        ndarray of int, n_groups x n_ranks
            Barriers at which each rank has its result.
        """
        ranks, begin = np.asarray(ranks), np.asarray(begin)
        rows = self.message(
            ranks[:, messages.src], ranks[:, messages.dst], messages.bytes, lane
        )  # n_groups x n_messages
        self.wait(rows[:, messages.flow], rows[:, messages.after], messages.at_sender)
        self.wait(rows[:, messages.own], begin[:, messages.src[messages.own]])
        done = self.barrier(ranks, lane)
        self.wait(done, begin)
        needed = messages.needed
        self.wait(done[:, messages.dst[needed]], rows[:, needed])
        return done

    def graph(self) -> TaskGraph:
        """Return what there is so far."""
        columns = [np.concatenate(parts) for parts in zip(*self._tasks, strict=True)]
        empty = [[np.zeros(0, dtype=np.int64)] * len(_WAIT)]
        waits = [np.concatenate(parts) for parts in zip(*(self._waits or empty), strict=True)]
        named = dict(zip((*_TASK, *_WAIT), (*columns, *waits), strict=True))
        return TaskGraph(self.devices, tuple(self._lanes), **named)

    def _add(self, kind: int, device, peer, duration_ps, size_bytes, stream, lane: str) -> Rows:
        index = self._lanes.setdefault(lane, len(self._lanes))
        columns, shape = _broadcast(kind, device, peer, duration_ps, size_bytes, stream, index)
        self._tasks.append(columns)
        rows = self._n_tasks + np.arange(len(columns[0]))
        self._n_tasks += len(columns[0])
        return rows.reshape(shape)


def _broadcast(*values) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Return flat columns of whole numbers, equally long, and the shape that they had.

    What `numpy.broadcast_arrays` does, for a few small arrays among numbers, at half the cost.
    """
    arrays = [np.asarray(value) for value in values]
    shape = np.broadcast_shapes(*{array.shape for array in arrays})
    columns = [
        np.array(array if array.shape == shape else np.broadcast_to(array, shape), dtype=np.int64)
        if array.ndim
        else np.full(shape, array, dtype=np.int64)
        for array in arrays
    ]
    return [column.ravel() for column in columns], shape
