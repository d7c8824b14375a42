# SPDX-License-Identifier: GPL-2.0-only
"""An algorithm from an execution plan of MSCCL++ (JSON): thread blocks that store, read and signal.

A put stores chunks on another rank, and its thread block goes on at once. A get is a request of 8 B
and its answer, for which the thread block waits. A signal is a message of 8 B. Over a memory
channel it leaves when the puts that its thread block knows of are acknowledged; a relaxed one
leaves at once. Over a port channel it comes with the last put. The k-th wait on a channel waits for
the k-th signal on its other side. Packets have a flag beside each word, so they have twice the
bytes, and what reads them waits for them. Local operations take no time. What chunks hold is
followed: a plan whose ranks do not end with what the operation promises is refused, and so is one
that reads a chunk without waiting for the message that brings it.

Source: microsoft/mscclpp 1f5f065, its documentation and plans; read without its code.
"""

from collections import defaultdict
from functools import lru_cache

import numpy as np

from pyorch.collective._chunks import Chunks, End, Held, Place, counted
from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Call, Counts, Graph, part_bytes
from pyorch.collective._mscclpp import (
    KEEPS_PACKETS,
    PUTS,
    READS_PACKETS,
    REDUCTIONS,
    SENDS_PACKETS,
    Channel,
    Operation,
    Plan,
    read,
)
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile

OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
#: A semaphore, and an address [byte].
SIGNAL_BYTES = 8
_FLAGGED = 2
#: What is followed grows with the square of these.
_MOST_MESSAGES = 2**16


class Params(Closed):
    """The file."""

    file: InputFile

    def __hash__(self) -> int:
        return hash(self.file["sha256"])


def check(call: Call, params: Params) -> None:
    """Raise FieldError unless the plan does this operation among so many, on whole chunks."""
    plan, where = _plan(params)[0], params.file["path"]
    if plan.operation != call.operation:
        raise FieldError("operation", f"{where} does {plan.operation} alone.")
    if len(plan.blocks) != call.ranks:
        raise FieldError("ranks", f"{where} is for {len(plan.blocks)} ranks, not {call.ranks}.")
    if not plan.least_bytes <= call.data_bytes <= plan.most_bytes:
        raise FieldError(
            "bytes", f"{where} is for {plan.least_bytes} to {plan.most_bytes} B, not"
            f" {call.data_bytes}.",
        )  # fmt: skip
    part_bytes(call, plan.chunks)


def graph(call: Call, params: Params) -> Graph:
    """Return the messages in an order in which they can be sent."""
    plan, found, more_bytes = _plan(params)
    return found._replace(bytes=found.bytes * part_bytes(call, plan.chunks) + more_bytes)


def counts(call: Call, params: Params) -> Counts:
    """Return what the graph has; the chain is the one with the most bytes."""
    return counted(graph(call, params), call.ranks)


def remarks(params: Params) -> tuple[str, ...]:
    """Return what of the file is not used."""
    unused = _plan(params)[0].unused
    return (f"{params.file['path']}: not used: {unused}.",) if unused else ()


def _plan(params: Params) -> tuple[Plan, Graph, np.ndarray]:
    return _followed(params.file["path"], params.file["sha256"])


@lru_cache(maxsize=8)
def _followed(path: str, sha256: str) -> tuple[Plan, Graph, np.ndarray]:
    file: FileRef = {"path": path, "sha256": sha256}
    plan = read(file)
    run = _Run(plan, path)
    run.follow()
    run.check()
    found = run.graph()
    return plan, found._replace(bytes=found.bytes * run.times()), run.more_bytes()


class _News:
    """What a thread block knows to have ended, and puts that are under way."""

    def __init__(self) -> None:
        self.known: set[End] = set()
        self.passed = 0  # these, and all that has ended before them, a bit for each
        self.posted: set[int] = set()

    def learn(self, news: "_News") -> None:
        self.known |= news.known
        self.passed |= news.passed
        self.posted |= news.posted


class _Block(_News):
    """A thread block as it goes."""

    def __init__(self) -> None:
        super().__init__()
        self.next = 0
        self.arrived = False  # at the barrier that comes next


class _Run(Chunks):
    """All ranks as they go through their operations."""

    def __init__(self, plan: Plan, where: str):
        super().__init__(plan.operation, plan.chunks, len(plan.blocks), plan.in_place, where)
        self._plan = plan
        self._blocks = [[_Block() for _ in own] for own in plan.blocks]
        #: The messages with which a chunk came; what packets wait for.
        self._came: list[dict[Place, set[int]]] = [defaultdict(set) for _ in plan.blocks]
        self._flagged: dict[tuple[int, Place], set[End]] = {}
        #: Messages of each signal: itself, or puts over the channel, of which the last one is it.
        self._signals: dict[Channel, list[list[int]]] = defaultdict(list)
        self._taken: dict[Channel, int] = defaultdict(int)
        self._puts: dict[tuple[int, int, str, int], list[int]] = defaultdict(list)
        self._barriers: dict[tuple[int, int], list[_Block]] = defaultdict(list)
        self._tokens: dict[tuple[int, int], list[_News]] = defaultdict(list)
        self._kinds: list[tuple[int, int]] = []  # times the bytes of chunks, and bytes more
        self._free = {
            (rank, number): value
            for rank, values in enumerate(plan.semaphores)
            for number, value in enumerate(values)
        }

    def times(self) -> np.ndarray:
        """Return how often the chunks of each message are sent: twice with flags."""
        return np.array([times for times, _ in self._kinds], dtype=np.int64)

    def more_bytes(self) -> np.ndarray:
        """Return what each message has beside chunks [byte]."""
        return np.array([more for _, more in self._kinds], dtype=np.int64)

    def follow(self) -> None:
        """Let every thread block do its operations as soon as it can."""
        waiting = [(rank, tb) for rank, own in enumerate(self._blocks) for tb in range(len(own))]
        while waiting:
            again, moved = [], False
            for rank, tb in waiting:
                block, ops = self._blocks[rank][tb], self._plan.blocks[rank][tb]
                while block.next < len(ops) and self._do(rank, tb, block, ops[block.next]):
                    block.next += 1
                    moved = True
                if block.next < len(ops):
                    again.append((rank, tb))
            if again and not moved:
                rank, tb = again[0]
                at = self._plan.blocks[rank][tb][self._blocks[rank][tb].next].at
                raise self._error(f"{at}: waits for what never comes")
            waiting = again
        for channel, rows in self._signals.items():
            if self._taken[channel] < len(rows):
                kind, src, dst, _ = channel
                raise self._error(
                    f"gpu {src} signals {len(rows)} times to {dst} over a {kind} channel, which"
                    f" waits {self._taken[channel]} times"
                )

    def _do(self, rank: int, tb: int, block: _Block, op: Operation) -> bool:
        """Do one operation if it can be done."""
        if op.name == "barrier":
            return self._barrier(rank, block, op)
        if op.name == "sem_acquire":
            own = [(rank, number) for number in op.numbers]
            if not all(self._free.get(one) or self._tokens[one] for one in own):
                return False
            for one in own:
                if self._free.get(one):
                    self._free[one] -= 1
                else:
                    block.learn(self._tokens[one].pop(0))
        elif op.name == "sem_release":
            for number in op.numbers:
                news = _News()
                news.learn(block)
                self._tokens[rank, number].append(news)
        elif op.name in ("wait", "rlxwait"):
            return self._wait(block, op)
        elif op.name in ("signal", "rlxsignal"):
            for channel in op.channels:
                self._signal(rank, tb, block, channel, op.name == "rlxsignal")
        elif op.name == "flush":
            self._flush(block)
        elif op.name != "nop":
            return self._moved(rank, tb, block, op)
        return True

    def _barrier(self, rank: int, block: _Block, op: Operation) -> bool:
        """Let thread blocks that have all come to a barrier go on, with what each knows."""
        number, needed = op.numbers
        here = self._barriers[rank, number]
        if not block.arrived:
            here.append(block)
            block.arrived = True
        if len(here) < needed:
            return False
        news = _News()
        for other in here:
            news.learn(other)
        news.known = self._least(news.known)
        for other in here:
            other.learn(news)
            other.arrived = False
            other.next += other is not block  # this one goes on by itself
        here.clear()
        return True

    def _wait(self, block: _Block, op: Operation) -> bool:
        """Wait for the next signal of the other side of each channel."""
        theirs = [(kind, peer, rank, number) for kind, rank, peer, number in op.channels]
        if any(self._taken[one] >= len(self._signals[one]) for one in theirs):
            return False
        for one in theirs:
            rows = self._signals[one][self._taken[one]]
            self._learn(block, {(row, AT_RECEIVER) for row in rows})
            self._taken[one] += 1
        return True

    def _learn(self, block: _Block, ends: set[End]) -> None:
        """Let a thread block know that messages have come, or are acknowledged."""
        block.known |= ends
        block.passed |= self._passed(ends)

    def _flush(self, block: _Block) -> None:
        """Let a thread block wait until its puts are acknowledged."""
        self._learn(block, {(row, AT_SENDER) for row in block.posted})
        block.posted = set()

    def _signal(self, rank: int, tb: int, block: _Block, channel: Channel, at_once: bool) -> None:
        """Send a signal, or let the last put over the channel be one."""
        kind, _, peer, _ = channel
        rows = self._puts.pop((rank, tb, kind, peer), []) if kind == "port" else []
        if not rows:
            if not at_once:
                self._flush(block)
            rows = [self._message(rank, peer, [], set(block.known), (1, SIGNAL_BYTES))]
        self._signals[channel].append(rows)

    def _message(
        self, src: int, dst: int, carried: list[Held], before: set[End], kind: tuple[int, int]
    ) -> int:
        self._kinds.append(kind)
        if len(self._kinds) > _MOST_MESSAGES:
            raise self._error(f"more than {_MOST_MESSAGES:,} messages")
        row = self._send(src, dst, carried, before)
        if not carried:
            self._rows[row] = (src, dst, 0, True)
        return row

    def _moved(self, rank: int, tb: int, block: _Block, op: Operation) -> bool:
        """Read, reduce and store what an operation reads, reduces and stores."""
        if op.name in READS_PACKETS and not self._packets_are_there(rank, op):
            return False
        values = []
        for i, (owner, places) in enumerate(op.sources):
            values.append(self._value(rank, block, owner, places, op, added=i > 0))
        if op.name in REDUCTIONS:
            total = values[0]
            for other in values[1:]:
                total = [self._sum(a, b, op.at) for a, b in zip(total, other, strict=True)]
            values = [total] * len(op.targets)
        elif len(values) == 1:
            values *= len(op.targets)
        if len(values) != len(op.targets):
            raise self._error(f"{op.at}: reads {len(values)} operands and stores {len(op.targets)}")
        if op.name in PUTS and any(owner == rank for owner, _ in op.targets):
            raise self._error(f"{op.at}: puts to its own rank")
        for i, ((owner, places), value) in enumerate(zip(op.targets, values, strict=True)):
            channel = op.channels[i] if op.channels else ("", 0, 0, 0)
            self._store(rank, tb, block, owner, places, value, op, channel)
        if op.name == "pwsf":
            self._flush(block)
        return True

    def _packets_are_there(self, rank: int, op: Operation) -> bool:
        """Return whether all packets that an operation reads are under way or have come."""
        return all(
            (rank, self._place(rank, place)) in self._flagged
            for owner, places in op.sources
            for place in places
            if place[0] == "s"
        )

    def _value(
        self, rank: int, block: _Block, owner: int, places: list[Place], op: Operation,
        added: bool,
    ) -> list[Held]:  # fmt: skip
        """Return the chunks of an operand, when they have been read from their rank."""
        held = self._held[owner]
        real = [self._place(owner, place) for place in places]
        found = [held.get(place) for place in real]
        if None in found:
            empty = real[found.index(None)]
            raise self._error(f"{op.at}: there is nothing yet in {empty[0]} {empty[1]}")
        value = [one for one in found if one is not None]
        came = set().union(*(self._came[owner][place] for place in real))
        if op.name in READS_PACKETS:  # it waits until each word is there
            self._learn(block, set().union(*(self._flagged.get((owner, p), ()) for p in real)))
        self._check_read(owner, real, block.passed, op.at)
        if owner == rank:
            if added:
                self._reduced |= came
            return value
        request = self._message(rank, owner, [], set(block.known), (1, SIGNAL_BYTES))
        row = self._message(owner, rank, value, {(request, AT_RECEIVER)}, (1, 0))
        self._learn(block, {(row, AT_RECEIVER)})
        if added:
            self._reduced.add(row)
        return value

    def _store(
        self, rank: int, tb: int, block: _Block, owner: int, places: list[Place],
        value: list[Held], op: Operation, channel: Channel,
    ) -> None:  # fmt: skip
        """Store chunks here, or put them to another rank."""
        real = [self._place(owner, place) for place in places]
        rows: set[int] = set()
        if owner != rank:
            times = _FLAGGED if op.name in SENDS_PACKETS else 1
            row = self._message(rank, owner, value, set(block.known), (times, 0))
            rows = {row}
            if op.name not in SENDS_PACKETS:
                block.posted.add(row)
            self._puts[rank, tb, op.kind, owner].append(row)
            if op.name in ("pws", "pwsf"):
                self._signals[channel].append(self._puts.pop((rank, tb, op.kind, owner)))
        is_packet = owner != rank and op.name in SENDS_PACKETS or op.name in KEEPS_PACKETS
        ends = {(row, AT_RECEIVER) for row in rows} if rows else set(block.known)
        passed = self._passed(ends) if rows else block.passed
        for place, one in zip(real, value, strict=True):
            self._held[owner][place], self._came[owner][place] = one, rows
            self._written[owner][place] = passed
            self._flagged.pop((owner, place), None)
            if is_packet:
                self._flagged[owner, place] = ends
