# SPDX-License-Identifier: GPL-2.0-only
"""Random draws: streams by purpose, and permutations that keep everyone out of his own group."""

import zlib

import numpy as np

#: Swaps per element; a few times ln(8192), after which a random transposition shuffle has mixed.
_MIXING_SWAPS = 10


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the random stream of one purpose: no other draw, before or after, changes it.

    Parameters
    ----------
    seed : int
        Seed of the run.
    purpose : str
        What the numbers are for: ``"permutation"``.
    """
    key = zlib.crc32(purpose.encode())
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, key])))


def nth_seed(index: int, seed: int) -> int:
    """Return the seed of the n-th entry of a list, whose streams no seed of a run has.

    Those are below 2^64; the first entry has the streams of a scenario with one.
    """
    return seed + (index << 64)


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
