# SPDX-License-Identifier: GPL-2.0-only
"""A binomial tree: in each step those who have it send to as many who have not, or the way back.

A rank sends to one child after the other, the farthest first, each when the one before is
acknowledged. A reduce goes from the leaves to rank 0, an all-reduce there and back. In a gather
each rank sends what it has collected, twice as much in each step; ranks are then a power of two.

Source: Thakur, Rabenseifner and Gropp, International Journal of High Performance Computing
Applications 19, 2005, sections 4.2 and 4.4.
"""

import numpy as np

from pyorch.collective._graph import (
    AT_RECEIVER,
    AT_SENDER,
    Call,
    Counts,
    Graph,
    log2_ranks,
    messages,
    part_bytes,
    then,
)
from pyorch.spec.fields import Closed

OPERATIONS = ("broadcast", "reduce", "all_reduce", "gather")


class Params(Closed):
    """There are none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless a gather is of equal parts from a power of two."""
    if call.operation == "gather":
        log2_ranks(call)
        part_bytes(call, call.ranks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages by step and rank."""
    if call.operation == "broadcast":
        return _down(call)
    up = _up(call)
    return then(up, _down(call)) if call.operation == "all_reduce" else up


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: a message for each rank but the root, in each direction."""
    n, size = call.ranks, call.data_bytes
    depth, sends = n.bit_length() - 1, (n - 1).bit_length()
    if call.operation == "gather":
        part = part_bytes(call, n)
        chain = tuple((1, part << k) for k in range(depth))
        # A rank that is k steps below the root sends on 2^k parts: in all log2 n times n/2 parts.
        return Counts(n - 1, depth * n // 2 * part, (n - 1) * part, chain)
    passes = 2 if call.operation == "all_reduce" else 1
    # Up: as many as there are ones in a rank. Down: all that the root sends, one after the other.
    steps = {"reduce": depth, "broadcast": sends, "all_reduce": depth + sends}[call.operation]
    acks = 0 if call.operation == "reduce" else sends - 1
    reductions = () if call.operation == "broadcast" else ((depth, size),)
    sent = passes * (n - 1)
    return Counts(sent, sent * size, sends * size, ((steps, size),), acks, reductions)


def _up(call: Call) -> Graph:
    """Return the messages towards rank 0; each rank sends when all of its children have."""
    n = call.ranks
    rank = np.arange(1, n)
    distance = rank & -rank
    order = np.argsort(distance, kind="stable")
    row = np.zeros(n, dtype=np.int64)
    row[rank[order]] = np.arange(n - 1)
    src = rank[order]
    dst = src - distance[order]
    inner = np.flatnonzero(dst > 0)
    size: np.ndarray | int = call.data_bytes
    if call.operation == "gather":
        size = distance[order] * part_bytes(call, n)
    step = np.log2(distance[order]).astype(np.int64)
    return messages(
        src, dst, size, step,
        own=True, needed=dst == 0, reduced=call.operation != "gather",
        waits=[(row[dst[inner]], inner, AT_RECEIVER)],
    )  # fmt: skip


def _down(call: Call) -> Graph:
    """Return the messages from rank 0; a rank sends when it has received, child after child."""
    n, steps = call.ranks, (call.ranks - 1).bit_length()
    src: list[np.ndarray] = []
    dst, step = [], []
    waits: dict[int, list] = {AT_RECEIVER: [], AT_SENDER: []}
    last, sent = np.full(n, -1), np.zeros(n, dtype=bool)
    for k in range(steps):
        distance = 1 << (steps - 1 - k)
        senders = np.arange(0, n - distance, 2 * distance)
        row = sum(len(part) for part in src) + np.arange(len(senders))
        for at, chosen in ((AT_SENDER, sent[senders]), (AT_RECEIVER, ~sent[senders])):
            chosen &= last[senders] >= 0
            waits[at].append((row[chosen], last[senders[chosen]], at))
        last[senders], sent[senders] = row, True
        last[senders + distance] = row
        src.append(senders)
        dst.append(senders + distance)
        step.append(np.full(len(senders), k))
    parts = waits[AT_RECEIVER] + waits[AT_SENDER]
    return messages(
        np.concatenate(src), np.concatenate(dst), call.data_bytes, np.concatenate(step),
        waits=parts,
    )  # fmt: skip
