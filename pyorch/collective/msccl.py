# SPDX-License-Identifier: GPL-2.0-only
"""An algorithm from a file of MSCCL (XML): thread blocks with steps that wait for one another.

The k-th send of a rank to another over a channel meets the k-th receive there. The steps of a
thread block follow each other; after a send that is when it is acknowledged. What chunks hold is
followed from step to step: a file whose ranks do not end with what the operation promises is
refused. Local steps take no time.

Source: microsoft/msccl-tools, the format that its compiler writes; read without its code.
"""

from collections import defaultdict
from functools import lru_cache
from itertools import product

import numpy as np

from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Call, Counts, Graph, part_bytes
from pyorch.collective._msccl import KEY, Place, Program, Step, read
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")

#: Pairs of messages that one step waits for, of all steps together.
_MOST_COMPARED = 10**8
#: A chunk: which one it is, and a bit for each rank whose data are in it.
Held = tuple[int, int]
#: An end of a message: its row, and at which side it is known.
End = tuple[int, int]


class Params(Closed):
    """The file."""

    file: InputFile

    def __hash__(self) -> int:
        return hash(self.file["sha256"])


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless the file does this operation among so many, on whole chunks."""
    program = _program(params)[0]
    if program.operation != call.operation:
        raise FieldError("operation", f"{params.file['path']} does {program.operation} alone.")
    if len(program.blocks) != call.ranks:
        raise FieldError(
            "ranks", f"{params.file['path']} is for {len(program.blocks)} ranks, not {call.ranks}."
        )
    part_bytes(call, program.chunks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages in an order in which they can be sent."""
    program, found = _program(params)
    return found._replace(bytes=found.bytes * part_bytes(call, program.chunks))


def counts(call: Call, params: Params) -> Counts:
    """Return what the graph has; the chain is the one with the most bytes."""
    found = graph(call, params)
    sent, received = (
        np.bincount(end, weights=found.bytes, minlength=call.ranks) for end in found[:2]
    )
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


def _program(params: Params) -> tuple[Program, Graph]:
    return _followed(params.file["path"], params.file["sha256"])


@lru_cache(maxsize=8)
def _followed(path: str, sha256: str) -> tuple[Program, Graph]:
    file: FileRef = {"path": path, "sha256": sha256}
    program = read(file)
    run = _Run(program, path)
    run.follow()
    run.check()
    return program, run.graph()


class _Run:
    """All ranks as they go through their steps; sizes of messages are in chunks."""

    def __init__(self, program: Program, where: str):
        self._program, self._where, self._n = program, where, len(program.blocks)
        self._held: list[dict[Place, Held]] = [self._begins(rank) for rank in range(self._n)]
        #: The message with which a chunk came, unless it has been added to what the rank had.
        self._came: list[dict[Place, int | None]] = [{} for _ in range(self._n)]
        self._rows: list[tuple[int, int, int, bool]] = []
        self._carried: list[list[Held]] = []
        self._reduced: set[int | None] = set()
        self._waits: list[set[End]] = []
        self._implied: list[int] = []
        self._compared = 0
        self._ends: dict[tuple[int, int, int], set[End]] = {}
        self._sent: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self._taken: dict[tuple[int, int, int], int] = defaultdict(int)

    def _error(self, what: str) -> FieldError:
        return FieldError(KEY, f"{self._where}: {what}.")

    def _begins(self, rank: int) -> dict[Place, Held]:
        """Return what a rank has at first."""
        chunks, bit = self._program.chunks, 1 << rank
        operation = self._program.operation
        if operation == "all_gather":
            own = self._own(rank)
            found = {("i", i): (chunk, bit) for i, chunk in enumerate(own)}
            if self._program.in_place:
                found = {("o", chunk): (chunk, bit) for chunk in own}
            return found
        if operation == "all_to_all":
            return {("i", chunk): (rank * chunks + chunk, bit) for chunk in range(chunks)}
        return {("i", chunk): (chunk, bit) for chunk in range(chunks)}

    def _own(self, rank: int) -> range:
        """Return the chunks of a vector that belong to a rank."""
        each, rest = divmod(self._program.chunks, self._n)
        if rest:
            raise self._error(f"{self._program.chunks} chunks are not equal parts of {self._n}")
        return range(rank * each, (rank + 1) * each)

    def _place(self, rank: int, place: Place) -> Place:
        """Return where a chunk lies: input and output are one buffer in place."""
        buffer, chunk = place
        if not self._program.in_place or buffer == "s":
            return place
        if self._program.operation == "all_gather":
            return ("o", chunk + self._own(rank)[0]) if buffer == "i" else place
        if self._program.operation == "reduce_scatter":
            return ("i", chunk + self._own(rank)[0]) if buffer == "o" else place
        return "i", chunk

    def follow(self) -> None:
        """Let every thread block do its steps as soon as it can."""
        at = {(rank, tb): 0 for rank, own in enumerate(self._program.blocks) for tb in own}
        waiting = list(at)
        while waiting:
            again = []
            for rank, tb in waiting:
                steps = self._program.blocks[rank][tb].steps
                begun = at[rank, tb]
                while at[rank, tb] < len(steps) and self._do(rank, tb, at[rank, tb]):
                    at[rank, tb] += 1
                if at[rank, tb] < len(steps):
                    again.append((rank, tb, begun))
            if (
                again
                and all(at[rank, tb] == begun for rank, tb, begun in again)
                and (len(again) == len(waiting))
            ):
                rank, tb, step = again[0]
                raise self._error(
                    f"gpu {rank}, tb {tb}, step {step}: waits for what never comes: a receive"
                    " without a send, a step that is not there, or a circle"
                )
            waiting = [(rank, tb) for rank, tb, _ in again]
        for (src, dst, channel), rows in self._sent.items():
            if self._taken[src, dst, channel] < len(rows):
                raise self._error(
                    f"gpu {src} sends {len(rows)} times to {dst} over channel {channel}, which"
                    f" receives {self._taken[src, dst, channel]} times"
                )

    def _do(self, rank: int, tb: int, number: int) -> bool:
        """Do one step if it can be done."""
        block = self._program.blocks[rank][tb]
        step = block.steps[number]
        before = set(self._ends.get((rank, tb, number - 1), ()))
        if step.after is not None:
            if (rank, *step.after) not in self._ends:
                return False
            before |= self._ends[rank, *step.after]
        at = f"gpu {rank}, tb {tb}, step {number}"
        carried: list[Held] | None = None
        row = -1
        if "r" in step.does:
            pair = (block.receive, rank, block.channel)
            if self._taken[pair] == len(self._sent[pair]):
                return False
            row = self._sent[pair][self._taken[pair]]
            self._taken[pair] += 1
            carried = self._carried[row]
            if len(carried) != step.count:
                raise self._error(f"{at}: {step.count} chunks, but {len(carried)} are sent")
            before.add((row, AT_RECEIVER))
        if step.does:
            carried = self._moved(rank, step, carried, row, at)
        if "s" in step.does:
            row = self._send(rank, block.send, carried or [], before)
            self._sent[rank, block.send, block.channel].append(row)
            before = {(row, AT_SENDER)}
        self._ends[rank, tb, number] = self._least(before)
        return True

    def _moved(
        self, rank: int, step: Step, came: list[Held] | None, row: int, at: str
    ) -> list[Held]:
        """Return the chunks that a step has in hand, when it has stored what it stores."""
        source, target = (
            [self._place(rank, (end[0], end[1] + i)) for i in range(step.count)]
            for end in (step.source, step.target)
        )
        held, brought = self._held[rank], self._came[rank]
        if came is None or "a" in step.does:
            local = [held.get(place) for place in source]
            if None in local:
                raise self._error(f"{at}: there is nothing yet in {source[local.index(None)]}")
            mine = [one for one in local if one is not None]
        found = mine if came is None else came
        if "a" in step.does:
            other = [held.get(place) for place in target] if came is None else mine
            found = [self._sum(a, b, at) for a, b in zip(found, other, strict=True)]
        by = [row] * step.count if came is not None else [brought.get(place) for place in source]
        if "a" in step.does:
            beside = [brought.get(place) for place in (target if came is None else source)]
            # A sum of two that came is a reduction of one; the other is reduced when it is added.
            self._reduced |= {a if a is not None else b for a, b in zip(by, beside, strict=True)}
            by = [None if a is None else b for a, b in zip(by, beside, strict=True)]
        if "c" in step.does or (came is None and "a" in step.does):
            for place, one, its_row in zip(target, found, by, strict=True):
                held[place], brought[place] = one, its_row
        return found

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
        self._carried.append(carried)
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
        for rank, chunk in product(range(self._n), range(self._program.chunks)):
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
        chunks, all_ranks = self._program.chunks, (1 << self._n) - 1
        match self._program.operation:
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
