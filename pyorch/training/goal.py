# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes GOAL, the text in which LogGOPSim and ATLAHS have their task graphs.

A file is read line by line; `goal_operations` says what its operations are.

Source: Hoefler, Siebert and Lumsdaine, ICPP 2009, and LogGOPSim's grammar.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import blocks
from pyorch.spec.limits import (
    LARGEST_MESSAGE_BYTES,
    LONGEST_PS,
    MOST_NODES,
    MOST_TASKS,
    MOST_WAITS,
)
from pyorch.training.foreign import Trace
from pyorch.training.goal_operations import CALC, PS_PER_NS, RECV, SEND, Operations, built
from pyorch.training.graph import COMPUTE, MESSAGE, TaskGraph, local_waits

#: Comments; the last one may not have ended.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(\*/|\Z)", re.S)
_N = r"[0-9]+"
_LABEL = r"[A-Za-z][A-Za-z0-9_]*"
_OPERATION = re.compile(
    rf"(?:({_LABEL})\s*:\s*)?(?:(send|recv)\s+({_N})b\s+(to|from)\s+(-1|{_N})"
    rf"(?:\s+tag\s+(-1|{_N}))?(?:\s+cpu\s+({_N}))?(?:\s+nic\s+({_N}))?"
    rf"|(calc)\s+({_N})(?:\s+cpu\s+({_N}))?)"
)
_RANK = re.compile(rf"rank\s+({_N})\s*\{{")
#: What is the most that a number may say, by what it counts.
_MOST = {
    "bytes": LARGEST_MESSAGE_BYTES, "ns": LONGEST_PS // PS_PER_NS, "ranks": MOST_NODES,
    "rank": 2**32 - 1, "tag": 2**32 - 1, "cpu": 2**31 - 1,
}  # fmt: skip
_REQUIRES = re.compile(rf"({_LABEL})\s+(i?requires)\s+({_LABEL})")
_MOST_LINE_BYTES = 2**16


def read(stream: BinaryIO, where: str, key: str = "file") -> Trace:
    """Return the tasks of a file.

    Parameters
    ----------
    stream : binary file
        What is in it.
    where, key : str
        File and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file and line: what is no GOAL, what has no partner, or depends on who comes first.
    """
    reader = _Reader(where, key)
    reader.read(_lines(stream, where, key))
    said = (f"{where}: cpu and nic of messages are not used.",) if reader.names_cpus else ()
    return Trace(built(reader.ranks, reader.operations, where, key), said)


class _Reader:
    """Reads the lines of a file: `ranks`, `operations`, and whether messages name cpus or NICs."""

    def __init__(self, where: str, key: str):
        self._where, self._key = where, key
        self.operations, self.ranks, self.names_cpus = Operations(), 0, False

    def read(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read all lines."""
        where, key, operations = self._where, self._key, self.operations
        head = re.fullmatch(rf"num_ranks\s+({_N})", next(lines, (0, ""))[1])
        if not head:
            raise FieldError(key, f"{where}: begins with num_ranks and how many there are.")
        self.ranks = self._number(head[1], "ranks", where)
        waits = {"requires": operations.ended, "irequires": operations.started}
        rank, inside = -1, False
        labels: dict[str, int] = {}
        for number, line in lines:
            if inside and (found := _OPERATION.fullmatch(line)):
                if found[1] in labels:
                    raise FieldError(
                        key, f"{where}:{number}: label {quoted(found[1])} stands twice in rank"
                        f" {rank}. Give each operation its own.",
                    )  # fmt: skip
                if found[1]:
                    labels[found[1]] = len(operations)
                self._add(found, rank, number)
                if len(operations) > MOST_TASKS:
                    operations.check(where, key)
            elif inside and (found := _REQUIRES.fullmatch(line)):
                if missing := [name for name in (found[1], found[3]) if name not in labels]:
                    shown = quoted(missing[0])[1:-1]
                    raise FieldError(
                        key, f"{where}:{number}: there is no label {shown} above in this rank."
                    )
                task, after = waits[found[2]]
                task.append(labels[found[1]])
                after.append(labels[found[3]])
                if len(task) > MOST_WAITS:
                    operations.check(where, key)
            elif line == "}" and inside:
                inside = False
            elif begin := _RANK.fullmatch(line):
                begun = self._number(begin[1], "rank", f"{where}:{number}")
                if inside or begun != rank + 1:
                    raise FieldError(
                        key, f"{where}:{number}: rank {begun}; ranks follow each other from 0."
                    )
                rank, inside, labels = rank + 1, True, {}
            else:
                raise FieldError(
                    key, f"{where}:{number}: {quoted(line)} is no line of GOAL here. Write 'calc"
                    " <ns>', 'send <bytes>b to <rank>', 'recv <bytes>b from <rank>', each maybe"
                    " with 'name: ' before it, or 'name requires name'.",
                )  # fmt: skip
        if inside:
            raise FieldError(key, f"{where}: ends inside rank {rank}: the file is cut short.")
        if rank + 1 != self.ranks:
            raise FieldError(
                key, f"{where}: num_ranks is {self.ranks}, but there are {rank + 1}: is it cut"
                " short?",
            )  # fmt: skip

    def _add(self, found: re.Match, rank: int, line: int) -> None:
        """Add one line that does something; wildcards and what is no message are refused."""
        its = self.operations
        if found[9]:
            kind, peer, tag = CALC, 0, 0
            size, cpu = self._at(found[10], "ns", line), self._at(found[11], "cpu", line)
        else:
            kind, size, peer, tag = self._message(found, rank, line)
            cpu = 0
        its.kind.append(kind)
        its.rank.append(rank)
        its.size.append(size)
        its.peer.append(peer)
        its.tag.append(tag)
        its.cpu.append(cpu)
        its.number.append(line)

    def _message(self, found: re.Match, rank: int, line: int) -> tuple[int, int, int, int]:
        """Return kind, size, peer and tag of a send or a recv."""
        key, at = self._key, f"{self._where}:{line}"
        kind = found[2]
        if (found[4] == "to") != (kind == "send"):
            raise FieldError(key, f"{at}: write send ... to, recv ... from.")
        if "-1" in (found[5], found[6]):
            raise FieldError(key, f"{at}: -1 is whoever comes first, which only a run can tell.")
        size, peer, tag = (
            self._at(found[group], what, line)
            for group, what in ((3, "bytes"), (5, "rank"), (6, "tag"))
        )
        for group in (7, 8):  # cpu and nic of a message change nothing here
            self.names_cpus |= self._at(found[group], "cpu", line) > 0
        if peer >= self.ranks or peer == rank:
            raise FieldError(
                key, f"{at}: rank {rank} cannot {kind} {found[4]} rank {peer}; write another one of"
                f" 0 to {self.ranks - 1}.",
            )  # fmt: skip
        if size < 1:
            raise FieldError(key, f"{at}: a message has one byte or more.")
        return SEND if kind == "send" else RECV, size, peer, tag

    def _at(self, digits: str | None, what: str, line: int) -> int:
        """Return a whole number of a line, 0 if it is not there."""
        return self._number(digits, what, f"{self._where}:{line}") if digits else 0

    def _number(self, digits: str, what: str, at: str) -> int:
        """Return a whole number that is not too large for what it counts."""
        value = int(digits if len(digits) < 20 else digits.lstrip("0")[:20] or "0")
        if value > _MOST[what]:
            raise FieldError(self._key, f"{at}: {what} {quoted(digits)}: at most {_MOST[what]}.")
        return value


def _lines(stream: BinaryIO, where: str, key: str) -> Iterator[tuple[int, str]]:
    """Yield number and content of each line that has more than comments."""
    is_open = False  # whether a comment has begun and not ended
    number = 0
    for block in blocks(stream, _MOST_LINE_BYTES):
        for place, raw in enumerate(block.split(b"\n"), number + 1):
            if len(raw) > _MOST_LINE_BYTES:
                raise FieldError(
                    key, f"{where}:{place}: a line of more than {_MOST_LINE_BYTES} bytes."
                )
        try:
            text = block.decode("utf-8" if number else "utf-8-sig")
        except UnicodeDecodeError:
            raise FieldError(key, f"{where}: is not a text file. Name one.") from None
        if is_open or "/" in text:
            text = "/*" * is_open + text
            ends = [found[1] for found in _COMMENT.finditer(text)]
            is_open = bool(ends) and ends[-1] == ""
            text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
        for line in text.removesuffix("\n").split("\n"):
            number += 1
            if line := line.strip():
                yield number, line
    if is_open:
        raise FieldError(key, f"{where}: ends inside a comment: the file is cut short.")


def write(graph: TaskGraph) -> str:
    """Return a graph as GOAL; computations are rounded to ns.

    Raises
    ------
    FieldError
        A task waits with a delay, or for an end that its device does not know of.
    """
    lines: list[list[str]] = [[] for _ in range(graph.devices)]
    cpu = graph.stream.tolist()
    columns = (graph.kind, graph.device, graph.peer, graph.duration_ps, graph.size_bytes)
    for row, (kind, device, peer, duration_ps, size) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if kind == MESSAGE:
            lines[device].append(f"t{row}: send {size}b to {peer} tag {row}")
            lines[peer].append(f"r{row}: recv {size}b from {device} tag {row}")
        else:
            duration = round(duration_ps / PS_PER_NS)
            # A computation of no time still has its place in its stream.
            duration = max(duration, 1) if kind == COMPUTE else 0
            lines[device].append(f"t{row}: calc {duration} cpu {cpu[row]}")
    for device, task, before, is_received in local_waits(graph, "GOAL"):
        lines[device].append(f"t{task} requires {'r' if is_received else 't'}{before}")
    blocks = [f"rank {rank} {{\n" + "\n".join(own) + "\n}" for rank, own in enumerate(lines)]
    return "\n".join([f"num_ranks {graph.devices}", *blocks, ""])
