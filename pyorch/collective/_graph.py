# SPDX-License-Identifier: GPL-2.0-only
"""Messages among ranks and what they wait for, as arrays; how such graphs are put together."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pyorch.spec.fields import FieldError

AT_RECEIVER, AT_SENDER = 0, 1


class UnequalPartsError(FieldError):
    """The bytes of one of equal `chunks` are not so many equal `parts` as an algorithm sends."""

    def __init__(self, data_bytes: int, parts: int, chunks: int = 1):
        below, step = data_bytes // parts * parts * chunks, parts * chunks
        nearest = f"{below} B or {below + step} B" if below else f"{step} B"
        each = f"each of {chunks} chunks: " * (chunks > 1)
        super().__init__(
            "bytes", f"{each}{data_bytes} B are not {parts} equal parts. Write {nearest}."
        )
        self.parts = parts


class Call(NamedTuple):
    """What is asked of an algorithm.

    Attributes
    ----------
    operation : str
        What every rank has at the end: ``all_reduce``.
    ranks : int
        How many take part; rank 0 is the root.
    data_bytes : int
        The whole vector: what is reduced, broadcast, or gathered from all; of an all-to-all what a
        rank has for all ranks, itself among them [byte].
    """

    operation: str
    ranks: int
    data_bytes: int


class Graph(NamedTuple):
    """Messages, and which of them wait for which; int64 arrays.

    Attributes
    ----------
    src, dst, bytes, step : ndarray, one row per message
        Ranks; payload [byte]; place in the algorithm, from 0, or -1 of what announces a buffer.
    own, needed, reduced : ndarray of bool, one row per message
        Whether it carries what its sender brought along, and not only what came to it; whether its
        receiver has its result only when this has come; whether its receiver adds it to what it
        has.
    flow, after, at_sender : ndarray, one row per dependency
        Row `flow` starts when row `after` has come to its receiver, or, with `at_sender` 1, is
        acknowledged.
    """

    src: np.ndarray
    dst: np.ndarray
    bytes: np.ndarray
    step: np.ndarray
    own: np.ndarray
    needed: np.ndarray
    reduced: np.ndarray
    flow: np.ndarray
    after: np.ndarray
    at_sender: np.ndarray


class Counts(NamedTuple):
    """The size of a graph in closed form.

    Attributes
    ----------
    messages, sent_bytes : int
        Of all ranks together [1], [byte].
    port_bytes : int
        The most that one rank sends or receives [byte].
    chain : tuple of (int, int)
        The messages that must follow each other: how many of how many bytes.
    acks : int
        How many of these wait for the acknowledgement of the one before.
    reductions : tuple of (int, int)
        The reductions that must follow these: how many of how many bytes.
    """

    messages: int
    sent_bytes: int
    port_bytes: int
    chain: tuple[tuple[int, int], ...]
    acks: int = 0
    reductions: tuple[tuple[int, int], ...] = ()

    @property
    def steps(self) -> int:
        """How many messages must follow each other."""
        return sum(n for n, _ in self.chain)

    def chain_ps(
        self,
        alone_ps: Callable[[int], int],
        ack_ps: int = 0,
        reduction_ps: Callable[[int], int] | None = None,
    ) -> int:
        """Return the least time where every message has the network to itself [ps].

        Parameters
        ----------
        alone_ps : callable
            Bytes of a message to the time from its start to its end at the receiver [ps].
        ack_ps : int
            From there until its sender knows [ps].
        reduction_ps : callable, optional
            Bytes to the time that a rank needs to reduce them [ps]; none without it.
        """
        sent_ps = sum(n * alone_ps(size) for n, size in self.chain) + self.acks * ack_ps
        if reduction_ps is None:
            return sent_ps
        return sent_ps + sum(n * reduction_ps(size) for n, size in self.reductions)


def messages(
    src: np.ndarray,
    dst: np.ndarray,
    size_bytes: np.ndarray | int,
    step: np.ndarray | int,
    *,
    own: np.ndarray | bool | None = None,
    needed: np.ndarray | bool = True,
    reduced: np.ndarray | bool = False,
    waits: Sequence[tuple[np.ndarray, np.ndarray, int]] = (),
) -> Graph:
    """Return a graph of columns that are given as arrays or as one value for all.

    Parameters
    ----------
    src, dst, size_bytes, step, own, needed, reduced : array_like
        As in `Graph`; `src` has its full length. Without `own` it is what waits for nothing.
    waits : sequence of tuple
        Parts of the dependencies: flow, after, and at_sender as one value for the part.
    """
    src = np.asarray(src, dtype=np.int64)
    dst, size, step = (
        np.broadcast_to(np.asarray(c, np.int64), src.shape) for c in (dst, size_bytes, step)
    )
    parts = [(flow, after, np.full(len(flow), at_sender)) for flow, after, at_sender in waits]
    empty = np.zeros(0, dtype=np.int64)
    rows = [np.concatenate(part).astype(np.int64) for part in zip(*parts, strict=True)]
    flow, after, at_sender = rows or [empty] * 3
    if own is None:
        own = ~np.isin(np.arange(len(src)), flow)
    own, needed, reduced = (
        np.broadcast_to(np.asarray(c, bool), src.shape) for c in (own, needed, reduced)
    )
    return Graph(src, dst, size, step, own, needed, reduced, flow, after, at_sender)


def side_by_side(graphs: Sequence[Graph]) -> Graph:
    """Return graphs of other ranks, or of other parts of the data, as one."""
    first = np.cumsum([0, *(len(graph.src) for graph in graphs)])
    moved = [
        graph._replace(flow=graph.flow + offset, after=graph.after + offset)
        for graph, offset in zip(graphs, first, strict=False)
    ]
    return Graph(*(np.concatenate(column) for column in zip(*moved, strict=True)))


def among(graph: Graph, ranks: np.ndarray) -> Graph:
    """Return a graph for each row of `ranks`, which says who its ranks are; row after row."""
    parts = [graph._replace(src=row[graph.src], dst=row[graph.dst]) for row in ranks]
    return side_by_side(parts)


def then(first: Graph, second: Graph) -> Graph:
    """Return two graphs one after the other, rank by rank.

    What carries data of its sender in the second waits for all that its sender needs of the first.
    """
    steps = int(first.step.max()) + 1
    joined = side_by_side([first, second._replace(step=second.step + steps)])
    own = np.flatnonzero(second.own)
    index, after = _pairs(second.src[own], np.where(first.needed, first.dst, -1))
    return _with_waits(joined, own[index] + len(first.src), after, AT_RECEIVER)


def in_chunks(graph: Graph, chunks: int) -> Graph:
    """Return a graph once for each chunk of the data; `graph` is that of the first.

    A rank begins with a chunk when what it began with in the chunk before is acknowledged.
    """
    n = len(graph.src)
    begins = np.flatnonzero(~np.isin(np.arange(n), graph.flow))
    flow = (begins + np.arange(1, chunks)[:, None] * n).ravel()
    return _with_waits(side_by_side([graph] * chunks), flow, flow - n, AT_SENDER)


def _with_waits(graph: Graph, flow: np.ndarray, after: np.ndarray, at_sender: int) -> Graph:
    """Return a graph with more dependencies."""
    return graph._replace(
        flow=np.concatenate([graph.flow, flow]),
        after=np.concatenate([graph.after, after]),
        at_sender=np.concatenate([graph.at_sender, np.full(len(flow), at_sender)]),
    )


def counted_in_chunks(counts: Counts, chunks: int) -> Counts:
    """Return the closed form of `in_chunks` from that of one chunk."""
    first_bytes = counts.chain[0][1]
    return Counts(
        messages=counts.messages * chunks,
        sent_bytes=counts.sent_bytes * chunks,
        port_bytes=counts.port_bytes * chunks,
        chain=((chunks - 1, first_bytes), *counts.chain),
        acks=counts.acks + chunks - 1,
        reductions=counts.reductions,
    )


def all_before(partner: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return what an exchange waits for: all that came to its sender in earlier steps.

    Parameters
    ----------
    partner : ndarray, n_steps x n_ranks
        With whom each rank exchanges; the rows of the graph have the same order.
    """
    steps, n = partner.shape
    step, before = np.tril_indices(steps, -1)
    rank = np.arange(n)
    flow = step[:, None] * n + rank
    return flow.ravel(), (before[:, None] * n + partner[before]).ravel(), AT_RECEIVER


def part_bytes(call: Call, parts: int) -> int:
    """Return one of equal parts of the data [byte].

    Raises
    ------
    UnequalPartsError
        There are no such whole bytes.
    """
    if call.data_bytes % parts:
        raise UnequalPartsError(call.data_bytes, parts)
    return call.data_bytes // parts


def log2_ranks(call: Call) -> int:
    """Return the binary logarithm of the number of ranks.

    Raises
    ------
    FieldError
        It is no whole number.
    """
    log = call.ranks.bit_length() - 1
    if call.ranks != 1 << log:
        raise FieldError(
            "ranks", f"{call.ranks} is no power of two. Write {1 << log} or {2 << log}."
        )
    return log


def _pairs(wanted: np.ndarray, given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of rows of `wanted` and of `given` that have the same value."""
    order = np.argsort(given, kind="stable")
    low, high = (np.searchsorted(given[order], wanted, side) for side in ("left", "right"))
    n = high - low
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    return np.repeat(np.arange(len(wanted)), n), order[np.repeat(low, n) + within]
