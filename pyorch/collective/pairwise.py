# SPDX-License-Identifier: GPL-2.0-only
"""An all-to-all in turns: rank r sends to r+1, r+2 .. around, with so many messages on their way.

The next message goes when the one that many before it is acknowledged. `direct` has no such limit.

Source: Thakur, Rabenseifner and Gropp, International Journal of High Performance Computing
Applications 19, 2005, section 4.3.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.collective._graph import AT_SENDER, Call, Counts, Graph, messages, part_bytes
from pyorch.spec.fields import Closed

OPERATIONS = ("all_to_all",)


class Params(Closed):
    """`outstanding`: messages of a rank that are not acknowledged."""

    outstanding: Annotated[int, Field(strict=True, ge=1)] = 1


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless the data are equal parts and somebody has to wait."""
    part_bytes(call, call.ranks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages by turn and rank."""
    n = call.ranks
    turn, rank = np.divmod(np.arange((n - 1) * n), n)
    later = np.arange(params.outstanding * n, len(turn))
    waits = [(later, later - params.outstanding * n, AT_SENDER)]
    return messages(rank, (rank + turn + 1) % n, part_bytes(call, n), turn, waits=waits)


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: (n-1) S/n for each rank."""
    n, part = call.ranks, part_bytes(call, call.ranks)
    rounds = -(-(n - 1) // params.outstanding)
    each = (n - 1) * part
    return Counts(n * (n - 1), n * each, each, ((rounds, part),), rounds - 1)
