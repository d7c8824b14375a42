# SPDX-License-Identifier: GPL-2.0-only
"""Switches add up what all ranks send and copy the sum to them: S up and S down for each rank.

A message from each rank to the next stands for what that rank gives, and is delivered when the next
has the whole sum. It needs ns3::ReductionTransport, and ns3::InNetworkReduction in all switches.

Source: SHARP, Graham et al., COM-HPC 2016.
"""

import numpy as np

from pyorch.collective._graph import Call, Counts, Graph, messages
from pyorch.spec.fields import Closed, FieldError

OPERATIONS = ("all_reduce",)
#: What the network adds up is in no message.
IN_NETWORK = True
#: What a frame can say of whose parts are in it.
MOST_RANKS = 192


class Params(Closed):
    """There are none."""


def check(call: Call, params: Params) -> None:
    """Raise FieldError if there are more ranks than a frame can name."""
    if call.ranks > MOST_RANKS:
        raise FieldError("ranks", f"{call.ranks} ranks; at most {MOST_RANKS} are added up.")


def graph(call: Call, params: Params) -> Graph:
    """Return one message for each rank, in their order."""
    rank = np.arange(call.ranks)
    return messages(rank, (rank + 1) % call.ranks, call.data_bytes, 0)


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: everything leaves a rank once and comes to it once."""
    n, size = call.ranks, call.data_bytes
    return Counts(n, n * size, size, ((1, size),))
