# SPDX-License-Identifier: GPL-2.0-only
"""Everything is sent at once, straight to whom it is for: one step, however many meet there.

A broadcast sends S to each rank, a gather S/n from each; an all-gather, a reduce-scatter and an
all-to-all S/n from each to each; in an all-reduce everybody sends everything to everybody.
"""

import numpy as np

from pyorch.collective._graph import Call, Counts, Graph, messages, part_bytes
from pyorch.spec.fields import Closed

OPERATIONS = (
    "all_to_all", "all_gather", "reduce_scatter", "all_reduce", "broadcast", "gather",
)  # fmt: skip
#: Each of these sends the whole vector in every message.
_WHOLE = ("broadcast", "all_reduce")
#: In these a rank adds what comes to what it has.
_REDUCED = ("reduce_scatter", "all_reduce")


class Params(Closed):
    """There are none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless the data are as many equal parts as the operation sends."""
    _message_bytes(call)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages; those between all ranks by turn and rank."""
    n, size = call.ranks, _message_bytes(call)
    if call.operation == "broadcast":
        return messages(np.zeros(n - 1), np.arange(1, n), size, 0)
    if call.operation == "gather":
        return messages(np.arange(1, n), np.zeros(n - 1), size, 0)
    turn, rank = np.divmod(np.arange((n - 1) * n), n)
    reduced = call.operation in _REDUCED
    return messages(rank, (rank + turn + 1) % n, size, 0, reduced=reduced)


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: n-1 messages leave or come to one rank, or every rank."""
    n, size = call.ranks, _message_bytes(call)
    senders = 1 if call.operation in ("broadcast", "gather") else n
    each = (n - 1) * size
    reductions = ((1, size),) if call.operation in _REDUCED else ()
    return Counts(senders * (n - 1), senders * each, each, ((1, size),), 0, reductions)


def _message_bytes(call: Call) -> int:
    return call.data_bytes if call.operation in _WHOLE else part_bytes(call, call.ranks)
