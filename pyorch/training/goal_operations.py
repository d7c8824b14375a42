# SPDX-License-Identifier: GPL-2.0-only
"""Operations of GOAL, whichever of its forms they come from, and the tasks that they are.

A `send` and the `recv` that it meets are one message: the k-th of each with the same two ranks and
tag, in the order of the file. What requires a send waits for its acknowledgement, what requires a
recv for the message. Computations of a cpu are done one after the other; `calc 0` is a point in
time and takes no cpu. What `irequires` another starts when the other has all that it waits for,
whatever the order of lines; that point in time is a barrier.

Source: Hoefler, Siebert and Lumsdaine, ICPP 2009.
"""

from array import array
from collections.abc import Callable

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import MOST_TASKS, MOST_WAITS
from pyorch.training.builder import Builder, pieces
from pyorch.training.graph import AT_RECEIVER, BARRIER, COMPUTE, MESSAGE, TaskGraph
from pyorch.training.order import Ends, alone, check_sizes, in_order, partners

#: Computations are in ns here.
PS_PER_NS = 1000
#: Kinds, as the binary form numbers them.
SEND, RECV, CALC = 1, 2, 3
NAMES = {SEND: "send", RECV: "recv", CALC: "calc"}
_LANES = ("message", "calc", "recv")
#: Columns of operations, with the code of `array` of each.
_COLUMNS = {"kind": "b", "rank": "i", "size": "q", "peer": "i", "tag": "I", "cpu": "i",
            "number": "Q"}  # fmt: skip


class Operations:
    """Columns that grow: operations of all ranks, and which wait for which by their rows.

    Attributes
    ----------
    kind, rank, size, peer, tag, cpu, number : array, one row for each operation
        `number` says where it is.
    ended, started : pair of array, one row for each dependency
        Who waits, and for whose end or start.
    """

    def __init__(self) -> None:
        self.kind, self.rank, self.size, self.peer, self.tag, self.cpu, self.number = (
            array(code) for code in _COLUMNS.values()
        )
        self.ended = array("i"), array("i")
        self.started = array("i"), array("i")

    def __len__(self) -> int:
        return len(self.kind)

    def check(self, where: str, key: str, more: int = 0, more_waits: int = 0) -> None:
        """Raise FieldError if there are too many, maybe with so many more."""
        if len(self) + more > MOST_TASKS:
            raise FieldError(key, f"{where}: more than {MOST_TASKS:,} operations.")
        if len(self.ended[0]) + len(self.started[0]) + more_waits > MOST_WAITS:
            raise FieldError(key, f"{where}: more than {MOST_WAITS:,} dependencies.")

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns; nothing can be added any more."""
        return {name: np.frombuffer(getattr(self, name), dtype=code)
                for name, code in _COLUMNS.items()}  # fmt: skip


#: Where the operation of a row is, for messages.
Place = Callable[[int], str]


def built(
    ranks: int, operations: Operations, where: str, key: str, place: Place | None = None
) -> TaskGraph:
    """Return the tasks of operations.

    Parameters
    ----------
    ranks : int
        How many there are.
    operations : Operations
        Of all ranks, rank by rank.
    where, key : str
        File and key of the scenario, for messages.
    place : callable, optional
        Where the operation of a row is, by default in the line of its number.
    """
    place = place or (lambda row: f"{where}:{operations.number[row]}")
    its, task, after = _with_starts(operations.columns(), operations)
    n = len(its["kind"])
    if not n:
        raise FieldError(key, f"{where}: there is no operation in it.")
    recvs, sends = _matched(its, key, place)
    order = in_order(n, np.concatenate([task, recvs]), np.concatenate([after, sends]))
    if len(order) < n:
        left = np.ones(n, dtype=bool)
        left[order] = False
        raise FieldError(
            key, f"{place(int(left.argmax()))}: waits for itself in a circle, so it never starts."
        )
    build = Builder(ranks)
    for some in pieces(n):
        _add(build, {name: column[order[some]] for name, column in its.items()})
    row = np.empty(n, dtype=np.int32)
    row[order] = np.arange(n, dtype=np.int32)
    for some in pieces(len(task)):
        build.wait(row[task[some]], row[after[some]], its["kind"][after[some]] == SEND)
    for some in pieces(len(recvs)):
        build.wait(row[recvs[some]], row[sends[some]], AT_RECEIVER)
    del its, order, row, task, after, recvs, sends
    return build.graph()


def _add(build: Builder, its: dict[str, np.ndarray]) -> None:
    """Add the tasks of operations in their order."""
    is_message, is_work = its["kind"] == SEND, (its["kind"] == CALC) & (its["size"] > 0)
    lane = np.where(is_message, 0, np.where(its["kind"] == CALC, 1, 2))
    numbers = np.zeros(len(_LANES), dtype=np.int64)
    found, first = np.unique(lane, return_index=True)
    for its_lane in found[np.argsort(first)].tolist():
        numbers[its_lane] = build.lane(_LANES[its_lane])
    build.tasks(
        np.where(is_message, MESSAGE, np.where(is_work, COMPUTE, BARRIER)),
        its["rank"],
        np.where(is_message, its["peer"], its["rank"]),
        np.where(is_work, its["size"] * PS_PER_NS, 0),
        np.where(is_message, its["size"], 0),
        np.where(is_work, its["cpu"], 0),
        numbers[lane],
    )


def _with_starts(
    its: dict[str, np.ndarray], operations: Operations
) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return operations with a point in time for each start that is waited for, and all waits."""
    ended, started = ([np.frombuffer(rows, dtype=np.int32) for rows in pair]
                      for pair in (operations.ended, operations.started))  # fmt: skip
    if not len(started[0]):
        return its, ended[0], ended[1]
    n = len(its["kind"])
    found, first = np.unique(started[1], return_index=True)
    found = found[np.argsort(first)]
    start = np.arange(n, dtype=np.int32)
    start[found] = n + np.arange(len(found), dtype=np.int32)
    points = {name: column[found] for name, column in its.items()}
    points |= {"kind": np.full_like(points["kind"], CALC), "size": np.zeros_like(points["size"])}
    its = {name: np.concatenate([column, points[name]]) for name, column in its.items()}
    task = np.concatenate([start[ended[0]], start[started[0]], found])
    return its, task, np.concatenate([ended[1], start[started[1]], start[found]])


def _matched(its: dict[str, np.ndarray], key: str, place: Place) -> tuple[np.ndarray, np.ndarray]:
    """Return recvs and, of each, its send: the k-th of the same two ranks and tag."""
    sends, recvs = (np.flatnonzero(its["kind"] == kind).astype(np.int32) for kind in (SEND, RECV))
    sent = Ends(its["rank"][sends], its["peer"][sends], its["tag"][sends])
    received = Ends(its["peer"][recvs], its["rank"][recvs], its["tag"][recvs])
    found = partners(sent, received)
    if found is None:
        for rows, left, other in zip(
            (recvs, sends), alone(sent, received)[::-1], ("send", "recv"), strict=True
        ):
            if len(left):
                row = int(rows[left[0]])
                raise FieldError(
                    key, f"{place(row)}: no {other} of rank {its['peer'][row]} with tag"
                    f" {its['tag'][row]} is left.",
                )  # fmt: skip
    sends = sends[found]
    check_sizes(its["size"], recvs, sends, place, key)
    return recvs, sends
