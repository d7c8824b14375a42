# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes GOAL's binary form, which LogGOPSim and ATLAHS simulate.

Little endian, without padding: a magic number, the number of ranks and of their cpus and NICs,
where the schedule of each rank begins and ends, counted from behind the magic number, and the
schedules. A schedule has operations and, behind them, which operations wait for their end or start.

Source: LogGOPSim 76451de, Parser.hpp, read and written without its code.
"""

import struct
from collections import defaultdict
from functools import partial

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_NODES, MOST_TASKS
from pyorch.training.goal import PS_PER_NS, Operation, built
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
_KINDS = {1: "send", 2: "recv", 3: "calc"}
_CODES = {name: code for code, name in _KINDS.items()}
_ANY = 2**32 - 1
#: A byte counts them.
_MOST_CPUS = 255


def is_binary(data: bytes) -> bool:
    """Return whether a file is of this form: no text begins like it."""
    return len(data) >= 8 and int.from_bytes(data[:8], "little") in (MAGIC, _USED_UP)


def read(data: bytes, where: str, key: str = "file") -> TaskGraph:
    """Return the tasks of a file.

    Parameters
    ----------
    data : bytes
        What is in it.
    where, key : str
        File and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file, rank and operation: what is no GOAL, has no partner, or is cut short.
    """
    if len(data) < _HEAD.size:
        raise FieldError(key, f"{where}: ends within its head: the file is cut short.")
    magic, ranks, _, _ = _HEAD.unpack_from(data)
    if magic == _USED_UP:
        raise FieldError(key, f"{where}: has been used up by LogGOPSim --save-mem. Make it again.")
    if not 1 <= ranks <= MOST_NODES:
        raise FieldError(key, f"{where}: {ranks} ranks; a file has 1 to {MOST_NODES}.")
    if len(data) < _HEAD.size + ranks * _JUMP.size:
        raise FieldError(key, f"{where}: ends within its head: the file is cut short.")
    operations: list[Operation] = []
    ended: list[tuple[int, int]] = []
    started: list[tuple[int, int]] = []
    for rank, (begin, end) in enumerate(_jumps(data, ranks, where, key)):
        nodes, appendix = _schedule(data[begin:end], f"{where}: rank {rank}", key)
        first = len(operations)
        if first + len(nodes) > MOST_TASKS:
            raise FieldError(key, f"{where}: more than {MOST_TASKS:,} operations.")
        operations += [
            _operation(node, rank, ranks, number, where, key)
            for number, node in enumerate(nodes.tolist())
        ]
        ends, starts = _waits(nodes, appendix, first, f"{where}: rank {rank}", key)
        ended += ends
        started += starts
    return built(ranks, operations, ended, started, where, key, partial(_place, where))


def _place(where: str, at: Operation) -> str:
    return f"{where}: rank {at.rank}, operation {at.number}"


def _jumps(data: bytes, ranks: int, where: str, key: str) -> list[tuple[int, int]]:
    """Return the first and last byte of each rank; no two ranks have a byte in common."""
    found = [
        (begin + _COUNTED_FROM, end + _COUNTED_FROM)
        for begin, end in _JUMP.iter_unpack(data[_HEAD.size : _HEAD.size + ranks * _JUMP.size])
    ]
    for rank, (begin, end) in enumerate(found):
        if not _HEAD.size <= begin <= end <= len(data):
            raise FieldError(
                key, f"{where}: rank {rank} lies from byte {begin} to {end} of {len(data)}: the"
                " file is cut short.",
            )  # fmt: skip
    last = 0, 0
    for rank in sorted(range(ranks), key=lambda rank: found[rank]):
        if found[rank][0] < last[0]:
            raise FieldError(key, f"{where}: ranks {last[1]} and {rank} have bytes in common.")
        last = found[rank][1], rank
    return found


def _schedule(data: bytes, at: str, key: str) -> tuple[np.ndarray, np.ndarray]:
    """Return operations of a rank, and the list that they point into."""
    short = FieldError(key, f"{at}: is shorter than what it counts: the file is cut short.")
    if len(data) < 8:
        raise short
    n_nodes, n_roots = struct.unpack_from("<II", data)
    begin = 8 + 4 * n_roots
    end = begin + _NODE.itemsize * n_nodes
    if len(data) < end or (len(data) - end) % 4:
        raise short
    nodes = np.frombuffer(data, _NODE, n_nodes, begin)
    return nodes, np.frombuffer(data, "<u4", offset=end)


def _operation(node: tuple, rank: int, ranks: int, number: int, where: str, key: str) -> Operation:
    """Return one operation."""
    _, code, peer, size, tag, cpu, *_ = node
    at = f"{where}: rank {rank}, operation {number}"
    if code not in _KINDS:
        raise FieldError(key, f"{at}: type {code} is none of 1 (send), 2 (recv), 3 (calc).")
    if code == _CODES["calc"]:
        if size > LONGEST_PS // PS_PER_NS:
            raise FieldError(key, f"{at}: lasts {size} ns; at most ten days.")
        return Operation("calc", rank, size, -1, -1, cpu, number)
    if _ANY in (peer, tag):
        raise FieldError(key, f"{at}: takes from anybody or any tag, which only a run can tell.")
    if peer >= ranks or peer == rank:
        raise FieldError(key, f"{at}: peer {peer} is no other rank of 0 to {ranks - 1}.")
    if not 1 <= size <= LARGEST_MESSAGE_BYTES:
        raise FieldError(key, f"{at}: {size} bytes; a message has 1 to {LARGEST_MESSAGE_BYTES}.")
    return Operation(_KINDS[code], rank, size, peer, tag, 0, number)


def _waits(
    nodes: np.ndarray, appendix: np.ndarray, first: int, at: str, key: str
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return which operations wait for the end of which, and for the start of which."""
    said = int(nodes["n_then"].sum(dtype=np.int64) + nodes["n_begin"].sum(dtype=np.int64))
    if said > len(appendix):
        raise FieldError(
            key, f"{at}: {said} dependencies, but there are places for {len(appendix)}."
        )
    needs = np.zeros(len(nodes), dtype=np.int64)
    found: dict[str, list[tuple[int, int]]] = {"then": [], "begin": []}
    for begin, waits in found.items():
        for number in np.flatnonzero(nodes[f"n_{begin}"]).tolist():
            low, count = int(nodes[begin][number]), int(nodes[f"n_{begin}"][number])
            later = appendix[low : low + count]
            if len(later) < count or (later >= len(nodes)).any():
                raise FieldError(key, f"{at}, operation {number}: what waits for it is not there.")
            np.add.at(needs, later, 1)
            waits += [(first + one, first + number) for one in later.tolist()]
    if len(wrong := np.flatnonzero(nodes["needs"] != needs)):
        raise FieldError(key, f"{at}, operation {wrong[0]}: counts other dependencies than it has.")
    return found["then"], found["begin"]


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
