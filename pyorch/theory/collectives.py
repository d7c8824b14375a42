# SPDX-License-Identifier: GPL-2.0-only
"""Takes a buffer and a group, returns the bytes, messages and rounds of a collective operation.

An all-reduce is a reduce-scatter and an all-gather; "sent" counts every byte once, at its sender.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pyorch.errors import TheoryError, did_you_mean
from pyorch.theory._quantities import Real


@dataclass(frozen=True)
class Collective:
    """What one collective puts on the network."""

    sent_bytes: Real  #: by all members together
    messages: Real
    rounds: Real  #: messages that must follow each other


def ring_all_reduce(buffer_bytes: Real, members: Real) -> Collective:
    """Return the ring: each member sends a chunk of S/n to its neighbour 2 (n-1) times."""
    n = np.asarray(members)
    return Collective(2 * (n - 1) * np.asarray(buffer_bytes, float), 2 * n * (n - 1), 2 * (n - 1))


def tree_all_reduce(buffer_bytes: Real, members: Real) -> Collective:
    """Return the binary tree: whole buffers up to the root and down again, over n-1 edges."""
    n = np.asarray(members)
    rounds = 2 * np.ceil(np.log2(n))
    return Collective(2 * (n - 1) * np.asarray(buffer_bytes, float), 2 * (n - 1), rounds)


def direct_all_reduce(buffer_bytes: Real, members: Real) -> Collective:
    """Return the direct way: everybody sends the whole buffer to everybody, in one round."""
    n = np.asarray(members)
    pairs = n * (n - 1)
    return Collective(pairs * np.asarray(buffer_bytes, float), pairs, np.minimum(n - 1, 1))


#: All-reduce by algorithm.
ALL_REDUCES: dict[str, Callable[[Real, Real], Collective]] = {
    "ring": ring_all_reduce,
    "tree": tree_all_reduce,
    "direct": direct_all_reduce,
}


def all_reduce(algorithm: str, buffer_bytes: Real, members: Real) -> Collective:
    """Return an all-reduce by the name of its algorithm.

    Raises
    ------
    TheoryError
        There is no such algorithm.
    """
    if algorithm not in ALL_REDUCES:
        raise TheoryError(
            f"no all-reduce '{algorithm}'. Known: {', '.join(ALL_REDUCES)}."
            f"{did_you_mean(algorithm, ALL_REDUCES)}"
        )
    return ALL_REDUCES[algorithm](buffer_bytes, members)
