# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes Chakra execution traces: one file of protobuf messages for each rank.

A file is a stream of lengths and messages, first the metadata and then the nodes. COMP lasts
`duration_micros`; accelerator and CPU are a stream each, in the order of ids. The k-th COMM_SEND
and COMM_RECV of the same two ranks and tag are one message; who depends on a send waits for its
acknowledgement. The k-th COMM_COLL of the same communicator is one operation of its ranks.

Source: MLCommons Chakra, et_def.proto (fields of 2023), read and written without its code.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pyorch.collective._graph import Call, Graph
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS
from pyorch.training._protobuf import Message, encoded, fields, framed, frames
from pyorch.training.builder import Builder
from pyorch.training.graph import (
    AT_RECEIVER,
    BARRIER,
    COMPUTE,
    MESSAGE,
    TaskGraph,
    local_waits,
)

_PS_PER_US = 10**6
METADATA, COMP, SEND, RECV, COLL = 1, 4, 5, 6, 7
#: CollectiveCommType of the format, where `pyorch.collective` has it.
OPERATIONS = {
    0: "all_reduce", 1: "reduce", 2: "all_gather", 3: "gather", 5: "broadcast", 6: "all_to_all",
    7: "reduce_scatter",
}  # fmt: skip
_VERSION = "0.0.4"
#: Fields of AttributeProto that hold one whole number, or a word.
_NUMBERS, _TEXT = (7, 9, 11, 13, 27), 29


class _Node(NamedTuple):
    rank: int
    id: int
    kind: int
    duration_us: int
    after: list[int]
    attributes: dict[str, int | str]
    where: str


def read(
    files: Sequence[bytes],
    algorithm: Callable[[Call], Graph],
    groups: Mapping[str, Sequence[int]] | None = None,
    where: str = "trace",
    key: str = "file",
) -> TaskGraph:
    """Return the tasks of one trace.

    Parameters
    ----------
    files : sequence of bytes, one for each rank
        What is in them.
    algorithm : callable
        Messages of a collective operation: `graph` of a module of `pyorch.collective`.
    groups : mapping, optional
        Ranks of each communicator by `pg_name`; none and "0" are all.
    where, key : str
        File, to which the number of the rank is added, and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file and node: what is cut short, has no partner, or is not known here.
    """
    n = len(files)
    nodes = [node for rank, data in enumerate(files) for node in _nodes(rank, n, data, where, key)]
    if not nodes:
        raise FieldError(key, f"{where}: there is no node in any of {n} files.")
    place = {(node.rank, node.id): index for index, node in enumerate(nodes)}
    if len(place) < len(nodes):
        raise FieldError(key, f"{where}: two nodes of a rank have the same id.")
    waits = []
    for index, node in enumerate(nodes):
        for before in node.after:
            if (node.rank, before) not in place:
                raise FieldError(key, f"{node.where}: there is no node {before} to depend on.")
            waits.append((index, place[node.rank, before]))
    sends = _matched(nodes, key)
    together = _collectives(nodes, len(files), groups or {}, key)
    build = Builder(len(files))
    row, begun = {}, {}
    for index in _order(nodes, [*waits, *sends.items()], key):
        node = nodes[index]
        if node.kind == COMP:
            stream = int(bool(node.attributes.get("is_cpu_op", 0)))
            row[index] = int(
                build.compute(node.rank, node.duration_us * _PS_PER_US, "compute", stream)
            )
        elif node.kind == SEND:
            size = node.attributes["comm_size"]
            row[index] = int(build.message(node.rank, node.attributes["comm_dst"], size, "p2p"))
        else:
            row[index] = begun[index] = int(build.barrier(node.rank, "node"))
    ends = dict(row)
    for call, members in together:
        ranks = np.array([[nodes[index].rank for index in members]])
        begin = np.array([[begun[index] for index in members]])
        try:
            messages = algorithm(call)
        except FieldError as error:
            raise FieldError(key, f"{nodes[members[0]].where}: {error}") from None
        done = build.collective(messages, ranks, begin, call.operation)
        ends.update(zip(members, done[0].tolist(), strict=True))
    edges = [(row[a], ends[b], int(nodes[b].kind == SEND)) for a, b in waits]
    edges += [(row[recv], row[send], AT_RECEIVER) for recv, send in sends.items()]
    if edges:
        build.wait(*np.array(edges, dtype=np.int64).T)
    return build.graph()


def _nodes(rank: int, ranks: int, data: bytes, where: str, key: str) -> list[_Node]:
    """Return the nodes of one file."""
    at = f"{where}.{rank}.et"
    found = []
    try:
        messages = list(frames(data))
        if not messages:
            raise ValueError("there is nothing in it")
        for message in messages[1:]:
            found.append(_node(rank, fields(message), at))
    except ValueError as error:
        raise FieldError(key, f"{at}: {error}.") from None
    for node in found:
        _check(node, ranks, key)
    return found


def _node(rank: int, message: Message, at: str) -> _Node:
    number = message.number(1)
    attributes: dict[str, int | str] = {}
    for given in message.messages(10):
        attribute = fields(given)
        for field in _NUMBERS:
            if attribute.has(field):
                attributes[attribute.text(1)] = attribute.number(field)
        if attribute.has(_TEXT):
            attributes[attribute.text(1)] = attribute.text(_TEXT)
    after = [*message.numbers(4), *message.numbers(5)]
    return _Node(
        rank, number, message.number(3), message.number(7), after, attributes,
        f"{at}: node {number}",
    )  # fmt: skip


def _check(node: _Node, ranks: int, key: str) -> None:
    """Raise FieldError for a node that is not known here, or says too little or what cannot be."""
    most = {"comm_dst": ranks - 1, "comm_src": ranks - 1, "comm_size": LARGEST_MESSAGE_BYTES}
    for name, bound in most.items():
        value = node.attributes.get(name, 1 if name == "comm_size" else 0)
        least = int(name == "comm_size")
        if not isinstance(value, int) or not least <= value <= bound:
            raise FieldError(
                key, f"{node.where}: {name} is {str(value)[:40]!r}, not {least} to {bound}."
            )
    if node.duration_us * _PS_PER_US > LONGEST_PS:
        raise FieldError(key, f"{node.where}: lasts {node.duration_us} us; at most ten days.")
    needed = {SEND: ("comm_dst", "comm_size"), RECV: ("comm_src", "comm_size"),
              COLL: ("comm_type", "comm_size")}.get(node.kind, ())  # fmt: skip
    if missing := [name for name in needed if name not in node.attributes]:
        raise FieldError(key, f"{node.where}: has no {missing[0]}, which only its program knew.")
    if node.kind not in (0, METADATA, COMP, SEND, RECV, COLL):
        raise FieldError(key, f"{node.where}: type {node.kind} is of memory; take it out.")
    if node.kind == COLL and node.attributes["comm_type"] not in OPERATIONS:
        raise FieldError(
            key, f"{node.where}: comm_type {node.attributes['comm_type']} is none of"
            f" {', '.join(OPERATIONS.values())}.",
        )  # fmt: skip


def _matched(nodes: list[_Node], key: str) -> dict[int, int]:
    """Return the send of each recv."""
    queues: dict[int, dict[tuple, list[int]]] = {SEND: defaultdict(list), RECV: defaultdict(list)}
    for index in sorted(range(len(nodes)), key=lambda index: nodes[index].id):
        node = nodes[index]
        if node.kind in queues:
            own = node.attributes
            ends = (node.rank, own.get("comm_dst")) if node.kind == SEND else (
                own.get("comm_src"), node.rank)  # fmt: skip
            queues[node.kind][(*ends, own.get("comm_tag", 0))].append(index)
    found = {}
    for pair in sorted({*queues[SEND], *queues[RECV]}):
        sends, recvs = queues[SEND][pair], queues[RECV][pair]
        if len(sends) != len(recvs):
            alone = nodes[(sends + recvs)[-1]]
            raise FieldError(
                key, f"{alone.where}: rank {pair[0]} sends {len(sends)} times to {pair[1]} with tag"
                f" {pair[2]}, which receives {len(recvs)} times.",
            )  # fmt: skip
        for send, recv in zip(sends, recvs, strict=True):
            sizes = [nodes[index].attributes["comm_size"] for index in (send, recv)]
            if sizes[0] != sizes[1]:
                raise FieldError(
                    key, f"{nodes[recv].where}: {sizes[1]} bytes, but {nodes[send].where} sends"
                    f" {sizes[0]}.",
                )  # fmt: skip
            found[recv] = send
    return found


def _collectives(
    nodes: list[_Node], ranks: int, groups: Mapping[str, Sequence[int]], key: str
) -> list[tuple[Call, list[int]]]:
    """Return each operation with the nodes of its ranks, by rank."""
    queues: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index in sorted(range(len(nodes)), key=lambda index: nodes[index].id):
        if nodes[index].kind == COLL:
            name = str(nodes[index].attributes.get("pg_name", ""))
            queues[name, nodes[index].rank].append(index)
    found = []
    for name in sorted({name for name, _ in queues}):
        members = list(groups.get(name, range(ranks) if name in ("", "0") else ()))
        turns = [queues.get((name, rank), []) for rank in members]
        first = next(nodes[own[0]] for (of, _), own in queues.items() if of == name)
        if not members or first.rank not in members or len({len(own) for own in turns}) > 1:
            raise FieldError(
                key, f"{first.where}: not all ranks of communicator {name!r} do as many operations"
                " in it. Give its ranks.",
            )  # fmt: skip
        for turn in zip(*turns, strict=True):
            asked = {(nodes[i].attributes["comm_type"], nodes[i].attributes["comm_size"])
                     for i in turn}  # fmt: skip
            if len(asked) > 1:
                raise FieldError(
                    key, f"{nodes[turn[0]].where}: other ranks of its communicator do something"
                    " else, or with another size.",
                )  # fmt: skip
            kind, size = asked.pop()
            # What is gathered is what each rank has; elsewhere it is the whole vector.
            whole = size * (len(members) if OPERATIONS[kind] == "all_gather" else 1)
            found.append((Call(OPERATIONS[kind], len(members), whole), list(turn)))
    return found


def _order(nodes: list[_Node], edges: list[tuple[int, int]], key: str) -> list[int]:
    """Return nodes so that each comes after what it waits for, else by their ids."""
    then: dict[int, list[int]] = defaultdict(list)
    missing = [0] * len(nodes)
    for a, b in edges:
        then[b].append(a)
        missing[a] += 1
    ready = [(nodes[i].id, i) for i, n in enumerate(missing) if n == 0]
    heapq.heapify(ready)
    found = []
    while ready:
        index = heapq.heappop(ready)[1]
        found.append(index)
        for follower in then[index]:
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, (nodes[follower].id, follower))
    if len(found) < len(nodes):
        stuck = next(node for node, n in zip(nodes, missing, strict=True) if n)
        raise FieldError(key, f"{stuck.where}: waits for itself in a circle, so it never starts.")
    return found


def write(graph: TaskGraph) -> list[bytes]:
    """Return a graph as one file for each device; computations are rounded to whole us.

    Node ids are twice the row of a task, and one more for what receives a message.

    Raises
    ------
    FieldError
        A task waits with a delay, or for an end that its device does not know of.
    """
    after: dict[tuple[int, int], list[int]] = defaultdict(list)  # by device and node
    for device, task, before, is_received in local_waits(graph, "A trace"):
        after[device, 2 * task].append(2 * before + is_received)
    files = [[encoded([(1, _VERSION)])] for _ in range(graph.devices)]
    columns = (graph.kind, graph.device, graph.peer, graph.duration_ps, graph.size_bytes,
               graph.lane, graph.stream)  # fmt: skip
    for row, (kind, device, peer, duration_ps, size, lane, stream) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        name = f"{graph.lanes[lane]} {row}"
        head: list[Any] = [(1, 2 * row), (2, name)]
        waits = [(5, sorted(after[device, 2 * row]))]
        if kind == MESSAGE:
            tag = {"comm_size": (13, size), "comm_tag": (7, row)}
            to, of = {"comm_dst": (7, peer)}, {"comm_src": (7, device)}
            files[device].append(encoded([*head, (3, SEND), *waits, *_attributes(tag | to)]))
            head[0] = (1, 2 * row + 1)
            files[peer].append(encoded([*head, (3, RECV), *_attributes(tag | of)]))
        elif kind == COMPUTE:
            duration = [(7, round(duration_ps / _PS_PER_US))]
            cpu = _attributes({"is_cpu_op": (27, stream)})
            files[device].append(encoded([*head, (3, COMP), *waits, *duration, *cpu]))
        elif kind == BARRIER:
            files[device].append(encoded([*head, (3, METADATA), *waits]))
    return [framed(messages) for messages in files]


def _attributes(given: dict[str, tuple[int, int]]) -> list[tuple[int, bytes]]:
    """Return attributes by name with the field of their type, and its number."""
    return [(10, encoded([(1, name), value], zeros=True)) for name, value in given.items()]
