# SPDX-License-Identifier: GPL-2.0-only
"""What schedulers share: hosts that are free, and jobs that come and go."""

import heapq
from collections import deque
from collections.abc import Iterable

import numpy as np

from pyorch.spec.fields import FieldError


class Free:
    """The hosts that no job has, counted from 0."""

    def __init__(self, n_hosts: int):
        self.is_free = np.ones(n_hosts, dtype=bool)

    def first(self, size: int) -> np.ndarray | None:
        """Take the first free hosts; None if there are not so many."""
        found = np.flatnonzero(self.is_free)[:size]
        if len(found) < size:
            return None
        self.is_free[found] = False
        return found

    def give_back(self, hosts: np.ndarray) -> None:
        """Take hosts back from a job that has ended."""
        self.is_free[hosts] = True


def handed_out(free: Free, sizes: list[int]) -> list[np.ndarray]:
    """Return the first free hosts for each job in turn.

    Raises
    ------
    FieldError
        There are not so many.
    """
    found = []
    for size in sizes:
        left = int(free.is_free.sum())
        hosts = free.first(size)
        if hosts is None:
            raise FieldError(
                "hosts", f"a job of {size} hosts finds {left} free ones. Ask for less."
            )
        found.append(hosts)
    return found


def after(n_hosts: int, jobs: Iterable[tuple[float, float, int]], until: float) -> Free:
    """Return what is free after jobs have come and gone: first come, first served, first fit.

    Parameters
    ----------
    jobs : iterable of (arrives, lasts, size)
        By arrival. A job begins when it is the first that waits and enough hosts are free.
    until : float
        In the same unit.
    """
    free, ends, waiting = Free(n_hosts), [], deque()

    def begin(now: float) -> None:
        while waiting and (hosts := free.first(waiting[0][1])) is not None:
            lasts, _ = waiting.popleft()
            heapq.heappush(ends, (now + lasts, int(hosts[0]), hosts))

    def end_until(limit: float) -> None:
        while ends and ends[0][0] <= limit:
            now = ends[0][0]
            while ends and ends[0][0] == now:
                free.give_back(heapq.heappop(ends)[2])
            begin(now)

    for arrives, lasts, size in jobs:
        if arrives > until:
            break
        end_until(arrives)
        waiting.append((lasts, size))
        begin(arrives)
    end_until(until)
    return free
