# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes GOAL, the text in which LogGOPSim and ATLAHS have their task graphs.

A `send` and the `recv` that it meets are one message: the k-th of each with the same two ranks and
tag, in the order of the file. What requires a send waits for its acknowledgement, what requires a
recv for the message. Computations of a cpu are done one after the other; `calc 0` is a point in
time and takes no cpu. What `irequires` another starts when the other has all that it waits for,
whatever the order of lines; that point in time is a barrier.

Source: Hoefler, Siebert and Lumsdaine, ICPP 2009, and LogGOPSim's grammar.
"""

import heapq
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_NODES, MOST_TASKS
from pyorch.training.builder import Builder, Task
from pyorch.training.graph import (
    AT_RECEIVER,
    BARRIER,
    COMPUTE,
    MESSAGE,
    TaskGraph,
    local_waits,
)

#: Computations are in ns here.
PS_PER_NS = 1000
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
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


class Operation(NamedTuple):
    """An operation of a rank; `peer` and `tag` are of a message, `number` says where it is."""

    kind: str
    rank: int
    size: int
    peer: int
    tag: int
    cpu: int
    number: int


#: Where an operation is, for messages.
Place = Callable[[Operation], str]
#: Tasks that are added together.
_AT_A_TIME = 2**16


def read(text: str, where: str, key: str = "file") -> TaskGraph:
    """Return the tasks of a file.

    Parameters
    ----------
    text : str
        What is in it.
    where, key : str
        File and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file and line: what is no GOAL, what has no partner, or depends on who comes first.
    """
    return built(*_parse(text, where, key), where, key, lambda at: f"{where}:{at.number}")


def built(
    ranks: int,
    operations: list[Operation],
    ended: list[tuple[int, int]],
    started: list[tuple[int, int]],
    where: str,
    key: str,
    place: Place,
) -> TaskGraph:
    """Return the tasks of operations; by index, which wait for the end or the start of which."""
    operations, waits = _with_starts(operations, ended, started)
    task, after = np.array(waits, dtype=np.int64).reshape(-1, 2).T
    recvs, sends = _matched(operations, key, place)
    both = np.concatenate([task, recvs]), np.concatenate([after, sends])
    order = _order(operations, *both, where, key, place)
    build = Builder(ranks)
    row = np.empty(len(operations), dtype=np.int64)
    for begin in range(0, len(order), _AT_A_TIME):
        some = order[begin : begin + _AT_A_TIME]
        row[some] = build.tasks([_task(operations[index]) for index in some])
    is_send = np.zeros(len(operations), dtype=np.int64)
    is_send[sends] = 1
    build.wait(row[task], row[after], is_send[after])
    build.wait(row[recvs], row[sends], AT_RECEIVER)
    return build.graph()


def _task(at: Operation) -> Task:
    """Return the task of an operation."""
    if at.kind == "send":
        return Task(MESSAGE, at.rank, at.peer, at.size, 0, "message")
    if at.kind == "calc" and at.size:
        return Task(COMPUTE, at.rank, at.rank, at.size * PS_PER_NS, at.cpu, "calc")
    return Task(BARRIER, at.rank, at.rank, 0, 0, at.kind)


def _with_starts(
    operations: list[Operation], ended: list[tuple[int, int]], started: list[tuple[int, int]]
) -> tuple[list[Operation], list[tuple[int, int]]]:
    """Return operations with a point in time for each start that is waited for, and all waits."""
    of_interest = dict.fromkeys(before for _, before in started)
    start = {before: len(operations) + i for i, before in enumerate(of_interest)}
    points = [operations[one]._replace(kind="calc", size=0) for one in start]
    waits = [(start.get(a, a), b) for a, b in ended]
    waits += [(start.get(a, a), start[b]) for a, b in started]
    return [*operations, *points], [*waits, *start.items()]


def _parse(
    text: str, where: str, key: str
) -> tuple[int, list[Operation], list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the number of ranks, all operations, and which wait for ends and starts of which."""
    lines = _lines(_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text))
    head = re.fullmatch(rf"num_ranks\s+({_N})", next(lines, (0, ""))[1])
    if not head:
        raise FieldError(key, f"{where}: begins with num_ranks and how many there are.")
    ranks = _number(head[1], "ranks", where, key)
    operations: list[Operation] = []
    waits: dict[str, list[tuple[int, int]]] = {"requires": [], "irequires": []}
    rank, inside = -1, False
    labels: dict[str, int] = {}
    for number, line in lines:
        at = f"{where}:{number}"
        if inside and (found := _OPERATION.fullmatch(line)):
            if found[1]:
                labels[found[1]] = len(operations)
            operations.append(_operation(found, rank, ranks, number, at, key))
            if len(operations) > MOST_TASKS:
                raise FieldError(key, f"{where}: more than {MOST_TASKS:,} operations.")
        elif inside and (found := _REQUIRES.fullmatch(line)):
            if missing := [name for name in (found[1], found[3]) if name not in labels]:
                shown = quoted(missing[0])[1:-1]
                raise FieldError(key, f"{at}: there is no label {shown} above in this rank.")
            waits[found[2]].append((labels[found[1]], labels[found[3]]))
        elif line == "}" and inside:
            inside = False
        elif begin := _RANK.fullmatch(line):
            begun = _number(begin[1], "rank", at, key)
            if inside or begun != rank + 1:
                raise FieldError(key, f"{at}: rank {begun}; ranks follow each other from 0.")
            rank, inside, labels = rank + 1, True, {}
        else:
            raise FieldError(
                key, f"{at}: {quoted(line)} is no line of GOAL here. Write 'calc <ns>', 'send"
                " <bytes>b to <rank>', 'recv <bytes>b from <rank>', each maybe with 'name: ' before"
                " it, or 'name requires name'.",
            )  # fmt: skip
    if inside:
        raise FieldError(key, f"{where}: ends inside rank {rank}: the file is cut short.")
    if rank + 1 != ranks:
        raise FieldError(
            key, f"{where}: num_ranks is {ranks}, but there are {rank + 1}: is it cut short?"
        )
    return ranks, operations, waits["requires"], waits["irequires"]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and content of each line that is not empty."""
    begin, number = 0, 0
    while begin <= len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        number += 1
        if line := text[begin:end].strip():
            yield number, line
        begin = end + 1


def _number(digits: str, what: str, at: str, key: str) -> int:
    """Return a whole number that is not too large for what it counts."""
    value = int(digits if len(digits) < 20 else digits.lstrip("0")[:20] or "0")
    if value > _MOST[what]:
        raise FieldError(key, f"{at}: {what} {quoted(digits)}: at most {_MOST[what]}.")
    return value


def _operation(found: re.Match, rank: int, ranks: int, line: int, at: str, key: str) -> Operation:
    """Return one line that does something; wildcards and what is no message are refused."""

    def number(group: int, what: str) -> int:
        return _number(digits, what, at, key) if (digits := found[group]) else 0

    if found[9]:
        return Operation("calc", rank, number(10, "ns"), -1, -1, number(11, "cpu"), line)
    kind = found[2]
    if (found[4] == "to") != (kind == "send"):
        raise FieldError(key, f"{at}: write send ... to, recv ... from.")
    if "-1" in (found[5], found[6]):
        raise FieldError(key, f"{at}: -1 is whoever comes first, which only a run can tell.")
    size, peer, tag = number(3, "bytes"), number(5, "rank"), number(6, "tag")
    for group in (7, 8):  # cpu and nic of a message change nothing here
        number(group, "cpu")
    if peer >= ranks or peer == rank:
        raise FieldError(
            key, f"{at}: rank {rank} cannot {kind} {found[4]} rank {peer}; write another one of 0"
            f" to {ranks - 1}.",
        )  # fmt: skip
    if size < 1:
        raise FieldError(key, f"{at}: a message has one byte or more.")
    return Operation(kind, rank, size, peer, tag, 0, line)


def _matched(operations: list[Operation], key: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return recvs and, of each, its send: the k-th of the same two ranks and tag."""
    of_kind = {
        kind: np.array([i for i, at in enumerate(operations) if at.kind == kind], dtype=np.int64)
        for kind in ("send", "recv")
    }
    names = {
        kind: np.array(
            [
                (at.rank, at.peer, at.tag) if kind == "send" else (at.peer, at.rank, at.tag)
                for at in map(operations.__getitem__, rows.tolist())
            ],
            dtype=np.int64,
        ).reshape(-1, 3)
        for kind, rows in of_kind.items()
    }
    sends, recvs = of_kind["send"], of_kind["recv"]
    _, number = np.unique(
        np.concatenate([_counted(names["send"]), _counted(names["recv"])]),
        axis=0, return_inverse=True,
    )  # fmt: skip
    number = number.reshape(-1)
    sent, received = number[: len(sends)], number[len(sends) :]
    for mine, its, rows, other in (
        (received, sent, recvs, "send"), (sent, received, sends, "recv"),
    ):  # fmt: skip
        if (alone := np.flatnonzero(~np.isin(mine, its))).size:
            at = operations[rows[alone[0]]]
            raise FieldError(
                key, f"{place(at)}: no {other} of rank {at.peer} with tag {at.tag} is left."
            )
    partner = np.empty(len(number), dtype=np.int64)
    partner[sent] = sends
    found = partner[received]
    for recv, send in zip(recvs.tolist(), found.tolist(), strict=True):
        at, other_end = operations[recv], operations[send]
        if at.size != other_end.size:
            raise FieldError(
                key, f"{place(at)}: {at.size} bytes, but {place(other_end)} sends"
                f" {other_end.size}.",
            )  # fmt: skip
    return recvs, found


def _counted(names: np.ndarray) -> np.ndarray:
    """Return rows with a further column: the how manieth of its kind each is."""
    order = np.lexsort(names.T[::-1])
    alike = names[order]
    begins = np.ones(len(names), dtype=bool)
    begins[1:] = (alike[1:] != alike[:-1]).any(axis=1)
    place = np.arange(len(names))
    turn = np.empty(len(names), dtype=np.int64)
    turn[order] = place - np.maximum.accumulate(np.where(begins, place, 0))
    return np.column_stack([names, turn])


def _order(
    operations: list[Operation], task: np.ndarray, after: np.ndarray, where: str, key: str,
    place: Place,
) -> list[int]:  # fmt: skip
    """Return operations so that each comes after what it waits for, else in their order."""
    n = len(operations)
    missing = np.bincount(task, minlength=n).tolist()
    followers = task[np.argsort(after, kind="stable")]
    ends = np.cumsum(np.bincount(after, minlength=n)).tolist()
    ready = [index for index in range(n) if missing[index] == 0]
    found = []
    while ready:
        index = heapq.heappop(ready)
        found.append(index)
        for follower in followers[ends[index - 1] if index else 0 : ends[index]].tolist():
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, follower)
    if len(found) < n:
        stuck = next(at for at, count in zip(operations, missing, strict=True) if count)
        raise FieldError(key, f"{place(stuck)}: waits for itself in a circle, so it never starts.")
    if not found:
        raise FieldError(key, f"{where}: there is no operation in it.")
    return found


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
