# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes GOAL's binary form, which LogGOPSim and ATLAHS simulate.

Little endian, without padding: a magic number, the number of ranks and of their cpus and NICs,
where the schedule of each rank begins and ends, counted from behind the magic number, and the
schedules. A schedule has operations and, behind them, which operations wait for their end or start.

Source: LogGOPSim 76451de, Parser.hpp, read and written without its code.
"""

import struct
from collections import defaultdict
from io import SEEK_CUR, SEEK_END
from typing import BinaryIO, NoReturn

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_NODES
from pyorch.training.foreign import Trace
from pyorch.training.goal_operations import CALC, NAMES, PS_PER_NS, Operations, built
from pyorch.training.graph import COMPUTE, MESSAGE, TaskGraph, local_waits

MAGIC = 4223
#: LogGOPSim writes this into files that it has used up (``--save-mem``).
_USED_UP = 2342
_HEAD, _JUMP = struct.Struct("<QIBB"), struct.Struct("<QQ")
_COUNTED_FROM = 8
_NODE = np.dtype([
    ("needs", "<u4"), ("kind", "u1"), ("peer", "<u4"), ("size", "<u8"), ("tag", "<u4"),
    ("cpu", "u1"), ("nic", "u1"), ("n_then", "<u4"), ("then", "<u4"), ("n_begin", "<u4"),
    ("begin", "<u4"),
])  # fmt: skip
_CODES = {name: code for code, name in NAMES.items()}
_ANY = 2**32 - 1
#: A byte counts them.
_MOST_CPUS = 255


def is_binary(stream: BinaryIO) -> bool:
    """Return whether a file is of this form: no text begins like it."""
    data = stream.read(8)
    stream.seek(0)
    return len(data) == 8 and int.from_bytes(data, "little") in (MAGIC, _USED_UP)


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
        With file, rank and operation: what is no GOAL, has no partner, or is cut short.
    """
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise FieldError(key, f"{where}: ends within its head: the file is cut short.")
    magic, ranks, _, _ = _HEAD.unpack(head)
    if magic == _USED_UP:
        raise FieldError(key, f"{where}: has been used up by LogGOPSim --save-mem. Make it again.")
    if not 1 <= ranks <= MOST_NODES:
        raise FieldError(key, f"{where}: {ranks} ranks; a file has 1 to {MOST_NODES}.")
    jumps = stream.read(ranks * _JUMP.size)
    if len(jumps) < ranks * _JUMP.size:
        raise FieldError(key, f"{where}: ends within its head: the file is cut short.")
    reader = _Reader(stream, ranks, where, key)
    for rank, (begin, end) in enumerate(reader.places(jumps)):
        reader.read(rank, begin, end)
    return Trace(built(ranks, reader.operations, where, key, reader.place), reader.remarks())


class _Reader:
    """Reads the schedules of a file into `operations`."""

    def __init__(self, stream: BinaryIO, ranks: int, where: str, key: str):
        self._stream, self._ranks, self._where, self._key = stream, ranks, where, key
        self._bytes = stream.seek(0, SEEK_END)
        self._unread = self._bytes
        self._names_nics = False
        self.operations = Operations()

    def place(self, row: int) -> str:
        """Return where an operation is."""
        its = self.operations
        return f"{self._where}: rank {its.rank[row]}, operation {its.number[row]}"

    def remarks(self) -> tuple[str, ...]:
        """Return what is not used."""
        unread = self._unread - _HEAD.size - self._ranks * _JUMP.size
        said = [f"{unread} bytes belong to no operation."] if unread else []
        if self._names_nics:
            said.append("cpus of messages and NICs are not used.")
        return tuple(f"{self._where}: {line}" for line in said)

    def places(self, jumps: bytes) -> list[tuple[int, int]]:
        """Return the first and last byte of each rank; no two ranks have a byte in common."""
        key, where = self._key, self._where
        found = [(begin + _COUNTED_FROM, end + _COUNTED_FROM)
                 for begin, end in _JUMP.iter_unpack(jumps)]  # fmt: skip
        for rank, (begin, end) in enumerate(found):
            if not _HEAD.size <= begin <= end <= self._bytes:
                raise FieldError(
                    key, f"{where}: rank {rank} lies from byte {begin} to {end} of {self._bytes}:"
                    " the file is cut short.",
                )  # fmt: skip
        last = 0, 0
        for rank in sorted(range(len(found)), key=lambda rank: found[rank]):
            if found[rank][0] < last[0]:
                raise FieldError(key, f"{where}: ranks {last[1]} and {rank} have bytes in common.")
            last = found[rank][1], rank
        return found

    def read(self, rank: int, begin: int, end: int) -> None:
        """Read the schedule of a rank."""
        at, first = f"{self._where}: rank {rank}", len(self.operations)
        short = FieldError(
            self._key, f"{at}: is shorter than what it counts: the file is cut short."
        )
        if end - begin < 8:
            raise short
        self._stream.seek(begin)
        n_nodes, n_roots = struct.unpack("<II", self._stream.read(8))
        rest = end - begin - 8 - 4 * n_roots - _NODE.itemsize * n_nodes
        if rest < 0 or rest % 4:
            raise short
        self.operations.check(self._where, self._key, n_nodes)
        self._stream.seek(4 * n_roots, SEEK_CUR)
        nodes = np.frombuffer(self._stream.read(_NODE.itemsize * n_nodes), _NODE)
        self._add(nodes, rank)
        said = int(nodes["n_then"].sum(dtype=np.int64) + nodes["n_begin"].sum(dtype=np.int64))
        if said > rest // 4:
            raise FieldError(
                self._key, f"{at}: {said} dependencies, but there are places for {rest // 4}."
            )
        self.operations.check(self._where, self._key, 0, rest // 4)
        waits = np.frombuffer(self._stream.read(rest), "<u4")
        self._unread -= 8 + 4 * n_roots + nodes.nbytes + 4 * said
        needs = np.zeros(n_nodes, dtype=np.int64)
        for name, (task, after) in (
            ("then", self.operations.ended), ("begin", self.operations.started),
        ):  # fmt: skip
            counts = nodes[f"n_{name}"].astype(np.int64)
            before = np.repeat(np.arange(n_nodes, dtype=np.int32), counts)
            turn = np.arange(len(before)) - np.repeat(np.cumsum(counts) - counts, counts)
            places = nodes[name].astype(np.int64)[before] + turn
            ok = places < len(waits)
            later = waits[np.where(ok, places, 0)] if len(waits) else np.zeros(len(ok), "<u4")
            ok &= later < n_nodes
            if not ok.all():
                raise FieldError(
                    self._key, f"{at}, operation {before[ok.argmin()]}: what waits for it is not"
                    " there.",
                )  # fmt: skip
            needs += np.bincount(later, minlength=n_nodes)
            task.frombytes((later + first).astype(np.int32).tobytes())
            after.frombytes((before + first).astype(np.int32).tobytes())
        if len(wrong := np.flatnonzero(nodes["needs"] != needs)):
            raise FieldError(
                self._key, f"{at}, operation {wrong[0]}: counts other dependencies than it has."
            )

    def _add(self, nodes: np.ndarray, rank: int) -> None:
        """Add the operations of a rank."""
        is_calc = nodes["kind"] == CALC
        peer, size = nodes["peer"], nodes["size"]
        wrong = ~np.isin(nodes["kind"], list(NAMES))
        wrong |= size > np.where(is_calc, LONGEST_PS // PS_PER_NS, LARGEST_MESSAGE_BYTES)
        ends = (peer >= self._ranks) | (peer == rank) | (size < 1) | (nodes["tag"] == _ANY)
        wrong |= ~is_calc & ends
        if wrong.any():
            number = int(wrong.argmax())
            self._refuse(nodes[number], rank, f"{self._where}: rank {rank}, operation {number}")
        self._names_nics |= bool(nodes["nic"].any() or nodes["cpu"][~is_calc].any())
        zeros = np.zeros(len(nodes), dtype=np.int64)
        columns = {
            "kind": nodes["kind"], "rank": zeros + rank, "size": size,
            "peer": np.where(is_calc, 0, peer), "tag": np.where(is_calc, 0, nodes["tag"]),
            "cpu": np.where(is_calc, nodes["cpu"], 0), "number": np.arange(len(nodes)),
        }  # fmt: skip
        for name, column in columns.items():
            whole = getattr(self.operations, name)
            whole.frombytes(column.astype(whole.typecode).tobytes())

    def _refuse(self, node: np.void, rank: int, at: str) -> NoReturn:
        """Raise FieldError for what is wrong with an operation."""
        key, kind, peer, size = self._key, *(int(node[name]) for name in ("kind", "peer", "size"))
        if kind not in NAMES:
            raise FieldError(key, f"{at}: type {kind} is none of 1 (send), 2 (recv), 3 (calc).")
        if kind == CALC:
            raise FieldError(key, f"{at}: lasts {size} ns; at most ten days.")
        if _ANY in (peer, node["tag"]):
            raise FieldError(
                key, f"{at}: takes from anybody or any tag, which only a run can tell."
            )
        if peer >= self._ranks or peer == rank:
            raise FieldError(key, f"{at}: peer {peer} is no other rank of 0 to {self._ranks - 1}.")
        raise FieldError(key, f"{at}: {size} bytes; a message has 1 to {LARGEST_MESSAGE_BYTES}.")


def write(graph: TaskGraph) -> bytes:
    """Return a graph as a file; computations are rounded to ns.

    Raises
    ------
    FieldError
        A task waits with a delay, or for an end that its device does not know of; or there are more
        streams than the format has cpus.
    """
    nodes: list[list[tuple]] = [[] for _ in range(graph.devices)]
    place: dict[tuple[int, int, bool], int] = {}
    if (most := int(graph.stream.max(initial=0))) > _MOST_CPUS - 1:
        raise FieldError("graph", f"stream {most}: GOAL has cpus from 0 to {_MOST_CPUS - 1}.")

    def add(rank: int, row: int, kind: str, peer: int, size: int, tag: int, cpu: int) -> None:
        place[rank, row, kind == "recv"] = len(nodes[rank])
        nodes[rank].append((0, _CODES[kind], peer, size, tag, cpu, 0, 0, 0, 0, 0))

    columns = (graph.kind, graph.device, graph.peer, graph.duration_ps, graph.size_bytes,
               graph.stream)  # fmt: skip
    for row, (kind, device, peer, duration_ps, size, stream) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if kind == MESSAGE:
            add(device, row, "send", peer, size, row, 0)
            add(peer, row, "recv", device, size, row, 0)
        else:
            # A computation of no time still has its place in its stream.
            duration = max(round(duration_ps / PS_PER_NS), 1) if kind == COMPUTE else 0
            add(device, row, "calc", 0, duration, 0, stream)
    then: list[dict[int, set[int]]] = [defaultdict(set) for _ in nodes]
    for device, task, before, is_received in local_waits(graph, "GOAL"):
        its = place[device, task, False]
        then[device][place[device, before, is_received]].add(its)
    schedules = [_bytes(own, later) for own, later in zip(nodes, then, strict=True)]
    ends = np.cumsum([_HEAD.size + len(nodes) * _JUMP.size, *map(len, schedules)]) - _COUNTED_FROM
    jumps = [_JUMP.pack(*pair) for pair in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    head = _HEAD.pack(MAGIC, len(nodes), int(graph.stream.max(initial=0)) + 1, 1)
    return b"".join([head, *jumps, *schedules])


def _bytes(own: list[tuple], later: dict[int, set[int]]) -> bytes:
    """Return the schedule of one rank."""
    table = np.array(own, dtype=_NODE)
    table["n_then"] = [len(later.get(number, ())) for number in range(len(own))]
    ends = np.cumsum(table["n_then"])
    table["then"], table["begin"] = ends - table["n_then"], ends
    appendix = [one for number in range(len(own)) for one in sorted(later.get(number, ()))]
    table["needs"] = np.bincount(np.array(appendix, dtype=np.int64), minlength=len(own))
    roots = np.flatnonzero(table["needs"] == 0)
    return b"".join([
        struct.pack("<II", len(own), len(roots)), roots.astype("<u4").tobytes(), table.tobytes(),
        np.array(appendix, dtype="<u4").tobytes(),
    ])  # fmt: skip
