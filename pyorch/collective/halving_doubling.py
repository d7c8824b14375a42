# SPDX-License-Identifier: GPL-2.0-only
"""Halves are exchanged with ever nearer ranks to reduce, and doubled on the way back to gather.

In step k of log2 n a rank exchanges S/2, S/4 .. S/n with the one whose number differs in one bit,
the highest first; an all-gather is the same backwards. Ranks are a power of two.

Source: Thakur, Rabenseifner and Gropp, International Journal of High Performance Computing
Applications 19, 2005, section 4.4.
"""

import numpy as np

from pyorch.collective._graph import (
    Call,
    Counts,
    Graph,
    all_before,
    log2_ranks,
    messages,
    part_bytes,
)
from pyorch.spec.fields import Closed

OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather")


class Params(Closed):
    """There are none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless ranks are a power of two and the data as many equal parts."""
    log2_ranks(call)
    part_bytes(call, call.ranks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages by step and rank."""
    n, part = call.ranks, part_bytes(call, call.ranks)
    distances = np.array(_distances(call))
    step, rank = np.divmod(np.arange(len(distances) * n), n)
    distance = distances[step]
    partner = rank ^ distance
    waits = [all_before(partner.reshape(-1, n))]
    reduced = step < _reductions(call)
    return messages(rank, partner, distance * part, step, own=True, reduced=reduced, waits=waits)


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: the bytes of a ring in 2 log2 n steps."""
    n, part, distances = call.ranks, part_bytes(call, call.ranks), _distances(call)
    each = sum(distances) * part
    chain = tuple((1, distance * part) for distance in distances)
    reductions = chain[: _reductions(call)]
    return Counts(n * len(distances), n * each, each, chain, 0, reductions)


def _distances(call: Call) -> list[int]:
    """Return how far the partner of each step is; so many parts are exchanged with it."""
    up = [1 << k for k in range(log2_ranks(call))]
    return {"reduce_scatter": up[::-1], "all_gather": up, "all_reduce": up[::-1] + up}[
        call.operation
    ]


def _reductions(call: Call) -> int:
    """Return how many of the steps reduce; these are the first."""
    return 0 if call.operation == "all_gather" else log2_ranks(call)
