# SPDX-License-Identifier: GPL-2.0-only
"""The order of tasks that wait for one another, and messages whose two ends files have apart."""

import heapq
from array import array
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pyorch.spec.fields import FieldError


def in_order(n: int, task: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return what can be done, each behind all that it waits for, else in the order of numbers.

    Parameters
    ----------
    n : int
        Tasks; they are counted from 0.
    task, after : ndarray of int, one row for each dependency
        Which waits for which.

    Returns
    -------
    ndarray of int, at most n
        Fewer, if some wait for each other in a circle.

    Examples
    --------
    >>> in_order(3, np.array([0]), np.array([2])).tolist()
    [1, 2, 0]
    """
    missing = np.bincount(task, minlength=n).astype(np.int32).data
    followers = task[np.argsort(after, kind="stable")].astype(np.int32).data
    ends = np.cumsum(np.bincount(after, minlength=n)).data
    found = array("i")
    ready: list[int] = []  # of those before `first`, which is the first that was not looked at
    first = 0
    while True:
        if ready:
            index = heapq.heappop(ready)
        else:
            while first < n and missing[first]:
                first += 1
            if first == n:
                break
            index = first
            first += 1
        found.append(index)
        begin = ends[index - 1] if index else 0
        for place in range(begin, ends[index]):
            follower = followers[place]
            left = missing[follower] - 1
            missing[follower] = left
            if not left and follower < first:
                heapq.heappush(ready, follower)
    return np.frombuffer(found, dtype=np.int32)


class Ends(NamedTuple):
    """One end of messages, in the order in which the file has them: sender, receiver, tag."""

    src: np.ndarray
    dst: np.ndarray
    tag: np.ndarray

    def sorted(self) -> np.ndarray:
        """Return the order by sender, receiver and tag; alike ones stay as they are."""
        return np.lexsort((self.tag, self.dst, self.src))

    def at(self, rows: np.ndarray) -> "Ends":
        """Return some rows."""
        return Ends(*(column[rows] for column in self))


def partners(sends: Ends, recvs: Ends) -> np.ndarray | None:
    """Return the send of each recv: the k-th of two ranks and tag; None: some have no partner."""
    if len(sends.src) != len(recvs.src):
        return None
    order = sends.sorted(), recvs.sorted()
    for mine, its in zip(sends, recvs, strict=True):
        if not np.array_equal(mine[order[0]], its[order[1]]):
            return None
    found = np.empty(len(order[0]), dtype=np.int64)
    found[order[1]] = order[0]
    return found


def alone(sends: Ends, recvs: Ends) -> tuple[np.ndarray, np.ndarray]:
    """Return the sends and the recvs that are left when the others have met."""
    both = Ends(*(np.concatenate(pair) for pair in zip(sends, recvs, strict=True)))
    n_sends = len(sends.src)
    order = both.sorted()
    its = both.at(order)
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = np.any([column[1:] != column[:-1] for column in its], axis=0)
    group = np.cumsum(begins) - 1
    is_recv = order >= n_sends
    counts = np.stack([np.bincount(group, weights=~is_recv), np.bincount(group, weights=is_recv)])
    # Sends of a group come before its recvs.
    turn = np.arange(len(order)) - np.flatnonzero(begins)[group]
    turn = np.where(is_recv, turn - counts[0][group], turn)
    left = order[turn >= np.where(is_recv, counts[0][group], counts[1][group])]
    return np.sort(left[left < n_sends]), np.sort(left[left >= n_sends]) - n_sends


def check_sizes(
    size: np.ndarray, recvs: np.ndarray, sends: np.ndarray, place: Callable[[int], str], key: str
) -> None:
    """Raise FieldError if a recv and its send differ in bytes; `place` says where they are."""
    wrong = np.flatnonzero(size[recvs] != size[sends])
    if len(wrong):
        recv, send = int(recvs[wrong[0]]), int(sends[wrong[0]])
        raise FieldError(
            key, f"{place(recv)}: {size[recv]} bytes, but {place(send)} sends {size[send]}."
        )
