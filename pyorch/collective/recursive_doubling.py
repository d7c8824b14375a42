# SPDX-License-Identifier: GPL-2.0-only
"""The whole vector is exchanged with one rank in each of log2 n steps: few steps, many bytes.

Also called butterfly. The partner in step k is the rank whose number differs in bit k.

Source: Thakur, Rabenseifner and Gropp, International Journal of High Performance Computing
Applications 19, 2005, section 4.4.
"""

import numpy as np

from pyorch.collective._graph import Call, Counts, Graph, all_before, log2_ranks, messages
from pyorch.spec.fields import Closed

OPERATIONS = ("all_reduce",)


class Params(Closed):
    """There are none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless ranks are a power of two."""
    log2_ranks(call)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages by step and rank."""
    n, steps = call.ranks, log2_ranks(call)
    step, rank = np.divmod(np.arange(steps * n), n)
    partner = rank ^ (1 << step)
    waits = [all_before(partner.reshape(steps, n))]
    return messages(
        rank, partner, call.data_bytes, step, own=True, reduced=True, waits=waits
    )  # fmt: skip


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: S in each step."""
    n, steps, size = call.ranks, log2_ranks(call), call.data_bytes
    chain = ((steps, size),)
    return Counts(n * steps, n * steps * size, steps * size, chain, 0, chain)
