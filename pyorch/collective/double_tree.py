# SPDX-License-Identifier: GPL-2.0-only
"""Two binary trees, each with half of the data: a rank that has children in one has none in both.

An all-reduce goes up to the root of each tree and down again. Ranks that follow each other share a
node: `local` of them, in a chain whose first rank is in the trees of nodes. The second tree is the
first one mirrored, or moved on by a node where their number is odd.

Source: Sanders, Speck and Traeff, Parallel Computing 35, 2009; the trees are those of NCCL 2.30.7,
src/graph/trees.cc.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.collective._graph import (
    AT_RECEIVER,
    Call,
    Counts,
    Graph,
    messages,
    part_bytes,
    side_by_side,
)
from pyorch.spec.fields import FieldError, Grown

OPERATIONS = ("all_reduce",)


_Place = Annotated[int, Field(strict=True, ge=0)]


class Params(Grown):
    """Ranks of a node, and to which places of a node its two children send."""

    LATER = ("children",)

    local: Annotated[int, Field(strict=True, ge=1)] = 1
    children: tuple[_Place, _Place] = (0, 0)


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless nodes are alike and each tree has half of the bytes."""
    if call.ranks % params.local:
        raise FieldError(
            "ranks", f"{call.ranks} ranks are not nodes of {params.local}. Write a multiple of"
            f" {params.local}.",
        )  # fmt: skip
    if max(params.children) >= params.local:
        raise FieldError(
            "children", f"{max(params.children)} is no place in a node of {params.local}. Write 0"
            f" to {params.local - 1}.",
        )  # fmt: skip
    part_bytes(call, 2)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages of the first tree, then those of the second: up by depth, then down."""
    return side_by_side([_up_and_down(parent, call) for parent in _parents(call, params)])


def counts(call: Call, params: Params) -> Counts:
    """Return the closed form: a message up and one down for each rank but the root, twice."""
    n, half = call.ranks, part_bytes(call, 2)
    parents = _parents(call, params)
    passes = [2 * int(_depths(parent).max()) for parent in parents]
    # Up a rank sends to its parent and receives from its children, down the other way round.
    busiest = np.sum(
        [(parent >= 0) + np.bincount(parent[parent >= 0], minlength=n) for parent in parents], 0
    ).max()
    sent = 2 * 2 * (n - 1)
    chain = ((max(passes), half),)
    reductions = ((max(passes) // 2, half),)
    return Counts(sent, sent * half, int(busiest) * half, chain, 0, reductions)


def _parents(call: Call, params: Params) -> list[np.ndarray]:
    """Return the parent of each rank in both trees, -1 of the root."""
    n_nodes = call.ranks // params.local
    first = _parents_of_nodes(n_nodes)
    entry = np.array(params.children)[(np.arange(n_nodes) > first).astype(int)]
    if n_nodes % 2:
        before = np.arange(n_nodes) - 1
        second = np.where(first < 0, -1, (first + 1) % n_nodes)[before], entry[before]
    else:
        second = np.where(first < 0, -1, n_nodes - 1 - first)[::-1], entry[::-1]
    node, place = np.divmod(np.arange(call.ranks), params.local)
    found = []
    for tree, at in ((first, entry), second):
        above = np.where(tree < 0, -1, tree * params.local + at)[node]
        found.append(np.where(place == 0, above, np.arange(call.ranks) - 1))
    return found


def _parents_of_nodes(n: int) -> np.ndarray:
    """Return the parent of each of n nodes; 0 is the root, odd ones have no children."""
    node = np.arange(n)
    lowest = node & -node
    above = (node ^ lowest) | (lowest << 1)
    above = np.where(above < n, above, node ^ lowest)
    above[0] = -1
    return above


def _depths(parent: np.ndarray) -> np.ndarray:
    """Return how far each rank is from the root."""
    depth, at = np.zeros(len(parent), dtype=np.int64), np.arange(len(parent))
    while (inner := parent[at] >= 0).any():
        depth += inner
        at = np.where(inner, parent[at], at)
    return depth


def _up_and_down(parent: np.ndarray, call: Call) -> Graph:
    """Return the messages of one tree; a rank sends up what all its children have sent it."""
    n, depth = call.ranks, _depths(parent)
    others = np.flatnonzero(parent >= 0)
    up = others[np.argsort(-depth[others], kind="stable")]
    down = up[::-1]
    row_up, row_down = np.full(n, -1), np.full(n, -1)
    row_up[up], row_down[down] = np.arange(n - 1), n - 1 + np.arange(n - 1)
    deepest = int(depth.max())
    # Up: a rank waits for its children. Down: for its parent, and the root for all its children.
    inner = up[parent[parent[up]] >= 0]
    below = down[parent[parent[down]] >= 0]
    root = int(np.flatnonzero(parent < 0)[0])
    first = np.flatnonzero(parent == root)
    at_root, child = np.meshgrid(row_down[first], row_up[first])
    waits = [
        (row_up[parent[inner]], row_up[inner], AT_RECEIVER),
        (row_down[below], row_down[parent[below]], AT_RECEIVER),
        (at_root.ravel(), child.ravel(), AT_RECEIVER),
    ]
    src, dst = np.concatenate([up, parent[down]]), np.concatenate([parent[up], down])
    is_up = np.arange(2 * (n - 1)) < n - 1
    step = np.concatenate([deepest - depth[up], deepest + depth[down] - 1])
    return messages(
        src, dst, part_bytes(call, 2), step,
        own=is_up | (src == root), needed=~is_up | (dst == root), reduced=is_up, waits=waits,
    )  # fmt: skip
