# SPDX-License-Identifier: GPL-2.0-only
"""Each rank sends to the next one around: a part of the data goes once or twice round the ring.

A reduce-scatter takes n-1 steps of S/n, an all-gather as many, an all-reduce both; a broadcast
hands everything on from rank to rank, so it wants chunks.

Source: Patarasuk and Yuan, Journal of Parallel and Distributed Computing 69, 2009, section 3.
"""

import numpy as np

from pyorch.collective._graph import AT_RECEIVER, Call, Counts, Graph, messages, part_bytes
from pyorch.spec.fields import Closed

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather", "broadcast")


class Params(Closed):
    """A ring has none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless the data are as many equal parts as there are ranks."""
    if call.operation != "broadcast":
        part_bytes(call, call.ranks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages by step and rank."""
    n = call.ranks
    if call.operation == "broadcast":
        row = np.arange(n - 1)
        waits = [(row[1:], row[:-1], AT_RECEIVER)]
        return messages(row, row + 1, call.data_bytes, row, waits=waits)
    steps = _steps(call)
    step, rank = np.divmod(np.arange(steps * n), n)
    later = np.flatnonzero(step > 0)
    before = (step[later] - 1) * n + (rank[later] - 1) % n
    # What a rank adds to, and the part that it has reduced; the last that comes to reduce, and all
    # that is gathered.
    own_steps = {"all_gather": 1, "reduce_scatter": n - 1, "all_reduce": n}[call.operation]
    first_needed = 0 if call.operation == "all_gather" else n - 2
    return messages(
        rank, (rank + 1) % n, part_bytes(call, n), step,
        own=step < own_steps, needed=step >= first_needed, reduced=step < _reductions(call),
        waits=[(later, before, AT_RECEIVER)],
    )  # fmt: skip


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: 2 (n-1) S/n for each rank of an all-reduce."""
    n = call.ranks
    if call.operation == "broadcast":
        return Counts(
            n - 1, (n - 1) * call.data_bytes, call.data_bytes, ((n - 1, call.data_bytes),)
        )
    steps, part = _steps(call), part_bytes(call, n)
    reductions = ((_reductions(call), part),)
    return Counts(n * steps, n * steps * part, steps * part, ((steps, part),), 0, reductions)


def _steps(call: Call) -> int:
    return (call.ranks - 1) * (2 if call.operation == "all_reduce" else 1)


def _reductions(call: Call) -> int:
    """Return how many of the steps reduce; these are the first."""
    return 0 if call.operation == "all_gather" else call.ranks - 1
