# SPDX-License-Identifier: GPL-2.0-only
"""An algorithm from a file of MSCCL (XML): thread blocks with steps that wait for one another.

The k-th send of a rank to another over a channel meets the k-th receive there. The steps of a
thread block follow each other; after a send that is when it is acknowledged. What chunks hold is
followed from step to step: a file whose ranks do not end with what the operation promises is
refused, and so is a step that reads a chunk without waiting for the message that brings it. Local
steps take no time.

Source: microsoft/msccl-tools, the format that its compiler writes; read without its code.
"""

from collections import defaultdict
from functools import lru_cache

from pyorch.collective._chunks import Chunks, End, Held, Place, counted
from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Call, Counts, Graph, part_bytes
from pyorch.collective._msccl import Program, Step, read
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


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
    return counted(graph(call, params), call.ranks)


def remarks(params: Params) -> tuple[str, ...]:
    """Return what of the file is not used."""
    unused = _program(params)[0].unused
    return (f"{params.file['path']}: not used: {unused}.",) if unused else ()


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


class _Run(Chunks):
    """All ranks as they go through their steps; sizes of messages are in chunks."""

    def __init__(self, program: Program, where: str):
        super().__init__(
            program.operation, program.chunks, len(program.blocks), program.in_place, where
        )
        self._program = program
        #: The message with which a chunk came, unless it has been added to what the rank had.
        self._came: list[dict[Place, int | None]] = [{} for _ in range(self._n)]
        self._carried: list[list[Held]] = []
        self._ends: dict[tuple[int, int, int], set[End]] = {}
        self._sent: dict[tuple[int, int, int], list[int]] = defaultdict(list)
        self._taken: dict[tuple[int, int, int], int] = defaultdict(int)

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
            carried = self._moved(rank, step, carried, row, self._passed(before), at)
        if "s" in step.does:
            row = self._send(rank, block.send, carried or [], before)
            self._carried.append(carried or [])
            self._sent[rank, block.send, block.channel].append(row)
            before = {(row, AT_SENDER)}
        self._ends[rank, tb, number] = self._least(before)
        return True

    def _moved(
        self, rank: int, step: Step, came: list[Held] | None, row: int, passed: int, at: str
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
                buffer, chunk = source[local.index(None)]
                raise self._error(f"{at}: there is nothing yet in {buffer} {chunk}")
            mine = [one for one in local if one is not None]
            self._check_read(rank, source, passed, at)
        found = mine if came is None else came
        if "a" in step.does:
            other = [held.get(place) for place in target] if came is None else mine
            self._check_read(rank, target if came is None else source, passed, at)
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
                self._written[rank][place] = passed
        return found
