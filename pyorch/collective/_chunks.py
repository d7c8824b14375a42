# SPDX-License-Identifier: GPL-2.0-only
"""Programs of ranks that move chunks: which data a chunk holds, which messages wait for which."""

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from itertools import product
from operator import or_

import numpy as np

from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Counts, Graph
from pyorch.spec.fields import FieldError

KEY = "file"
#: Where a chunk lies: input, output or scratch (``i``, ``o``, ``s``), and its number.
Place = tuple[str, int]
#: Pairs of messages that one step waits for, of all steps together.
_MOST_COMPARED = 10**8
#: A chunk: which one it is, and a bit for each rank whose data are in it.
Held = tuple[int, int]
#: An end of a message: its row, and at which side it is known.
End = tuple[int, int]


def counted(found: Graph, ranks: int) -> Counts:
    """Return what a graph has; the chain is the one with the most bytes."""
    sent, received = (np.bincount(end, weights=found.bytes, minlength=ranks) for end in found[:2])
    chain, acks, added = _chain(found)
    sizes = found.bytes[chain]
    return Counts(
        len(found.src), int(found.bytes.sum()), int(max(sent.max(), received.max())),
        tuple((1, int(size)) for size in sizes), acks, tuple((1, int(size)) for size in added),
    )  # fmt: skip


def _chain(found: Graph) -> tuple[list[int], int, np.ndarray]:
    """Return rows that follow each other, how many wait for an acknowledgement, what is added."""
    before: dict[int, list[End]] = defaultdict(list)
    for flow, after, at in zip(*(c.tolist() for c in found[7:]), strict=True):
        before[flow].append((after, at))
    best: list[tuple[int, int]] = []
    last: list[End | None] = []
    for row, size in enumerate(found.bytes.tolist()):
        end = max(before[row], key=lambda end: best[end[0]], default=None)
        done = (0, 0) if end is None else best[end[0]]
        best.append((done[0] + size, done[1] + 1))
        last.append(end)
    row, rows, acks = max(range(len(best)), key=best.__getitem__), [], 0
    added = [row] if found.reduced[row] else []
    while True:
        rows.append(row)
        end = last[row]
        if end is None:
            return rows[::-1], acks, found.bytes[added]
        row = end[0]
        acks += end[1] == AT_SENDER
        if end[1] == AT_RECEIVER and found.reduced[row]:
            added.append(row)


class Chunks:
    """What ranks hold, and the messages that they have sent; sizes of messages are in chunks.

    Parameters
    ----------
    operation : str
        As of `Call`.
    chunks, ranks : int
        Of the whole vector.
    in_place : bool
        Input and output are one buffer.
    where : str
        File, for messages.
    """

    def __init__(self, operation: str, chunks: int, ranks: int, in_place: bool, where: str):
        self._operation, self._chunks, self._n = operation, chunks, ranks
        self._in_place, self._where = in_place, where
        self._held: list[dict[Place, Held]] = [self._begins(rank) for rank in range(ranks)]
        #: Ends of messages that have passed when a chunk lies where it does, a bit for each.
        self._written: list[dict[Place, int]] = [{} for _ in range(ranks)]
        self._rows: list[tuple[int, int, int, bool]] = []
        self._waits: list[set[End]] = []
        self._implied: list[int] = []
        self._reduced: set[int | None] = set()
        self._compared = 0

    def _error(self, what: str) -> FieldError:
        return FieldError(KEY, f"{self._where}: {what}.")

    def _begins(self, rank: int) -> dict[Place, Held]:
        """Return what a rank has at first."""
        chunks, bit = self._chunks, 1 << rank
        operation = self._operation
        if operation == "all_gather":
            own = self._own(rank)
            found = {("i", i): (chunk, bit) for i, chunk in enumerate(own)}
            if self._in_place:
                found = {("o", chunk): (chunk, bit) for chunk in own}
            return found
        if operation == "all_to_all":
            self._own(rank)
            return {("i", chunk): (rank * chunks + chunk, bit) for chunk in range(chunks)}
        return {("i", chunk): (chunk, bit) for chunk in range(chunks)}

    def _own(self, rank: int) -> range:
        """Return the chunks of a vector that belong to a rank."""
        each, rest = divmod(self._chunks, self._n)
        if rest:
            raise self._error(f"{self._chunks} chunks are not equal parts of {self._n}")
        return range(rank * each, (rank + 1) * each)

    def _place(self, rank: int, place: Place) -> Place:
        """Return where a chunk lies: input and output are one buffer in place."""
        buffer, chunk = place
        if not self._in_place or buffer == "s":
            return place
        if self._operation == "all_gather":
            return ("o", chunk + self._own(rank)[0]) if buffer == "i" else place
        if self._operation == "reduce_scatter":
            return ("i", chunk + self._own(rank)[0]) if buffer == "o" else place
        return "i", chunk

    def _sum(self, a: Held, b: Held | None, at: str) -> Held:
        """Return the sum of two chunks."""
        if b is None or a[0] != b[0]:
            raise self._error(f"{at}: adds chunks that do not belong together")
        if a[1] & b[1]:
            twice = (a[1] & b[1]).bit_length() - 1
            raise self._error(f"{at}: adds the data of gpu {twice} twice")
        return a[0], a[1] | b[1]

    def _send(self, src: int, dst: int, carried: list[Held], before: set[End]) -> int:
        """Add a message; return its row."""
        waits = self._least(before)
        own = any(mask >> src & 1 for _, mask in carried) or not waits
        self._rows.append((src, dst, len(carried), own))
        self._waits.append(waits)
        implied = 0
        for row, at in waits:
            implied |= self._known(row, at)
        self._implied.append(implied)
        return len(self._rows) - 1

    def _known(self, row: int, at: int) -> int:
        """Return a bit for each end of a message that has passed when this one has."""
        ends = 1 << 2 * row + at
        if at == AT_SENDER:
            ends |= 1 << 2 * row + AT_RECEIVER
        return ends | self._implied[row]

    def _passed(self, ends: Iterable[End]) -> int:
        """Return a bit for each end of a message that has passed when all of these have."""
        return reduce(or_, (self._known(*end) for end in ends), 0)

    def _check_read(self, rank: int, places: Iterable[Place], passed: int, at: str) -> None:
        """Raise FieldError unless a step that reads chunks waits for what has written them."""
        for place in places:
            if missing := self._written[rank].get(place, 0) & ~passed:
                src, dst, *_ = self._rows[(missing.bit_length() - 1) // 2]
                raise self._error(
                    f"{at}: reads {place[0]} {place[1]} of gpu {rank}, but does not wait for a"
                    f" message from gpu {src} to {dst} that is needed to write it"
                )

    def _least(self, ends: set[End]) -> set[End]:
        """Return ends without those that follow from others."""
        if len(ends) < 2:
            return ends
        self._compared += len(ends) ** 2
        if self._compared > _MOST_COMPARED:
            raise self._error("its steps wait for too many messages at a time")
        found = set(ends)
        for end in ends:
            known = self._known(*end) & ~(1 << 2 * end[0] + end[1])
            found -= {other for other in ends if known >> (2 * other[0] + other[1]) & 1}
        return found

    def check(self) -> None:
        """Raise FieldError unless each rank ends with what the operation promises."""
        for rank, chunk in product(range(self._n), range(self._chunks)):
            place, wanted = self._promised(rank, chunk)
            if place is None:
                continue
            if (got := self._held[rank].get(self._place(rank, place))) != wanted:
                what = "nothing" if got is None else f"chunk {got[0]} of {got[1].bit_count()} ranks"
                raise self._error(
                    f"gpu {rank} ends with {what} in {place[0]} {place[1]}, not with chunk"
                    f" {wanted[0]} of {wanted[1].bit_count()} ranks"
                )

    def _promised(self, rank: int, chunk: int) -> tuple[Place | None, Held]:
        """Return where a chunk of the result is on a rank, and what it holds."""
        chunks, all_ranks = self._chunks, (1 << self._n) - 1
        match self._operation:
            case "all_reduce":
                return ("o", chunk), (chunk, all_ranks)
            case "reduce_scatter":
                own = self._own(rank)
                place = ("o", chunk - own[0]) if chunk in own else None
                return place, (chunk, all_ranks)
            case "all_gather":
                return ("o", chunk), (chunk, 1 << chunk // (chunks // self._n))
        each = chunks // self._n
        sender, part = divmod(chunk, each)
        return ("o", chunk), (sender * chunks + rank * each + part, 1 << sender)

    def graph(self) -> Graph:
        """Return the messages, in chunks."""
        if not self._rows:
            raise self._error("there is no message in it")
        rows = np.array(self._rows, dtype=np.int64)
        src, dst, size, own = rows.T
        edges = [(flow, *end) for flow, ends in enumerate(self._waits) for end in sorted(ends)]
        waits = np.array(edges, dtype=np.int64).reshape(-1, 3).T
        step = np.zeros(len(rows), dtype=np.int64)
        for flow, after, _ in edges:
            step[flow] = max(step[flow], step[after] + 1)
        reduced = np.isin(np.arange(len(rows)), [row for row in self._reduced if row is not None])
        needed = np.ones(len(rows), dtype=bool)
        return Graph(src, dst, size, step, own.astype(bool), needed, reduced, *waits)
