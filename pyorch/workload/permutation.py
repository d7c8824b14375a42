# SPDX-License-Identifier: GPL-2.0-only
"""Every host sends one message to one other host and receives one: a random permutation.

With `inter_leaf` no message stays below one leaf, so each crosses the spines.
"""

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, FieldError, MessageBytes, TimePs
from pyorch.workload._hosts import hosts, leaf_of, stream


class Params(Closed):
    """One message for each host, all started at once."""

    message_bytes: MessageBytes = Field(alias="message")
    start_ps: TimePs = Field(0, alias="start")
    inter_leaf: bool = True


#: Swaps per host; a few times ln(8192), after which a random transposition shuffle has mixed.
_MIXING_SWAPS = 10


def check(params: Params, counts: dict[str, int]) -> None:
    """Raise FieldError where no such permutation exists: one host, or one leaf."""
    if counts["hosts"] < 2:
        raise FieldError("type", "a permutation needs at least 2 hosts; the topology has 1.")
    if params.inter_leaf and counts["hosts_per_leaf"] * 2 > counts["hosts"]:
        raise FieldError(
            "inter_leaf",
            f"with {counts['hosts_per_leaf']} of {counts['hosts']} hosts below one leaf some"
            " message must stay below its leaf. Add leaves, or set inter_leaf: false.",
        )


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return one flow for each host, by source."""
    ids = hosts(nodes)
    group = leaf_of(nodes, links) if params.inter_leaf else ids
    dst = ids[derangement(group, stream(seed, "permutation"))]
    return {
        "src": ids,
        "dst": dst,
        "bytes": np.full(len(ids), params.message_bytes, dtype=np.int64),
        "start_ps": np.full(len(ids), params.start_ps, dtype=np.int64),
    }


def derangement(group: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return a random permutation p with group[p[i]] != group[i] for every i.

    Starts from a uniform permutation, swaps each forbidden target with that of a host drawn at
    random if that leaves both allowed, and then mixes: random swaps between allowed permutations
    are symmetric, so their limit is the uniform distribution over all allowed permutations.

    Parameters
    ----------
    group : ndarray, n rows
        Group of each element; none may hold more than half of all elements.
    random : Generator
        Source of the draws.
    """
    n = len(group)
    groups, target = group.tolist(), random.permutation(n).tolist()

    def swap(i: int, j: int) -> None:
        if groups[target[j]] != groups[i] and groups[target[i]] != groups[j]:
            target[i], target[j] = target[j], target[i]

    while bad := [i for i in range(n) if groups[target[i]] == groups[i]]:
        for i, j in zip(bad, random.integers(n, size=len(bad)).tolist(), strict=True):
            swap(i, j)
    for i, j in random.integers(n, size=(_MIXING_SWAPS * n, 2)).tolist():
        swap(i, j)
    return np.array(target, dtype=np.int64)
