# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes Chakra execution traces: one file of protobuf messages for each rank.

A file is a stream of lengths and messages, first the metadata and then the nodes. COMP lasts
`duration_micros`, or what a roofline says of `num_ops` and `tensor_size`. What is on one stream of
a device, or one thread of its CPU, is done one after the other, in the order of starts, or of ids
where a rank has none. The k-th COMM_SEND and COMM_RECV of the same two ranks and tag are one
message; who depends on a send waits for its acknowledgement. The k-th COMM_COLL of the same
communicator is one operation of its ranks.

Source: MLCommons Chakra, et_def.proto (fields of 2023), read and written without its code.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pyorch.collective._graph import Call, Graph
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LONGEST_PS
from pyorch.training import chakra_nodes as cn
from pyorch.training._protobuf import encoded, framed
from pyorch.training.astra import System
from pyorch.training.builder import Builder, Task
from pyorch.training.chakra_nodes import COLL, COMP, METADATA, PS_PER_US, RECV, SEND, Groups, Node
from pyorch.training.foreign import Algorithm, Padded, Trace
from pyorch.training.graph import (
    AT_RECEIVER,
    BARRIER,
    COMPUTE,
    MESSAGE,
    TaskGraph,
    local_waits,
)

_VERSION = "0.0.4"
#: Streams that no attribute names: of the accelerator, of the CPU. Others are counted from here.
_UNNAMED = {(False, None): 0, (True, None): 1}
#: How many names a remark has at most.
_MOST_NAMES = 30


class Roofline(NamedTuple):
    """The rates of an accelerator: arithmetic [1/s], memory [bit/s]."""

    peak_flops: int
    memory_bps: int

    def duration_ps(self, operations: int, size_bytes: int) -> int:
        """Return the longer time of arithmetic and memory, whole ps upward [ps].

        Source: Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009.
        """
        arithmetic_ps = -(-operations * 10**12 // self.peak_flops)
        return max(arithmetic_ps, -(-8 * size_bytes * 10**12 // self.memory_bps))


class Missing(NamedTuple):
    """What traces leave open.

    Attributes
    ----------
    algorithm : callable
        Module of `pyorch.collective` that does an operation, and its parameters.
    groups : mapping
        Ranks of each communicator by `pg_name`. A trace may name some itself; "" and "0" are all
        ranks unless one of both says something else.
    dimensions : sequence of int
        Of `involved_dim`: ranks are counted through the first dimension first.
    roofline : Roofline, optional
        Of computations that have no duration.
    system : System
        Of ASTRA-sim: how vectors are cut, and what steps cost.
    step_ps : int
        Passes before a message of an operation that waits for others, when they are there [ps].
    """

    algorithm: Algorithm
    groups: Mapping[str, Sequence[int]] = {}
    dimensions: Sequence[int] = ()
    roofline: Roofline | None = None
    system: System = System()
    step_ps: int = 0


def read(
    files: Sequence[bytes], missing: Missing, where: str = "trace", key: str = "file"
) -> Trace:
    """Return the tasks of one trace.

    Parameters
    ----------
    files : sequence of bytes, one for each rank
        What is in them.
    missing : Missing
        What they leave open.
    where, key : str
        File, to which the number of the rank is added, and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file and node: what is cut short, has no partner, or is not known here.
    """
    n = len(files)
    nodes: list[Node] = []
    defined: list[Groups] = []
    for rank, data in enumerate(files):
        own, groups = cn.nodes(rank, n, data, where, key)
        nodes += own
        defined.append(groups)
    if not nodes:
        raise FieldError(key, f"{where}: there is no node in any of {n} files.")
    remarks, padded = _Remarks(), Padded(missing.algorithm, where, key)
    roofline = missing.roofline
    if roofline is None and (peak := missing.system.peak_flops):
        roofline = Roofline(peak, round(missing.system.memory_gbps * 8 * 10**9))
    turn = _turns(nodes, n)
    sends = _matched(nodes, turn, key)
    waits, calls = _waits(nodes, remarks, where, key)
    try:
        order = _order(nodes, turn, [*waits, *calls, *sends.items()], "", key)
        waits += calls
    except FieldError:
        if not calls:
            raise
        order = _order(nodes, turn, [*waits, *sends.items()], "", key)
        what = "control dependencies are left out: they contradict those of data"
        remarks.counts[what] = len(calls)
    if in_stream := _in_stream(nodes, turn, order):
        waits += in_stream
        why = " The order of streams by start_time_micros is a part of it."
        order = _order(nodes, turn, [*waits, *sends.items()], why, key)
    together = _collectives(nodes, turn, defined, missing, remarks, key)
    streams = _streams(nodes)
    build = Builder(n, missing.step_ps)
    tasks = [_task(nodes[index], streams, roofline, remarks, key) for index in order]
    row = dict(zip(order, build.tasks(tasks).tolist(), strict=True))
    ends = dict(row)
    for call, members in together:
        ranks = np.array([[nodes[index].rank for index in members]])
        begin = np.array([[row[index] for index in members]])
        system, first = missing.system, nodes[members[0]]
        if axes := _axes(first, call, ranks[0], defined, missing, remarks):
            done = _in_dimensions(
                build, call, axes, ranks[0], begin[0], padded, missing, first.where
            )
        else:
            messages = padded(system.part(call), system.splits, first.where)
            done = _in_parts(build, messages, ranks, begin, call.operation, system)
        ends.update(zip(members, done[0].tolist(), strict=True))
    edges = [(row[a], ends[b], int(nodes[b].kind == SEND and not nodes[b].works)) for a, b in waits]
    edges += [(row[recv], row[send], AT_RECEIVER) for recv, send in sends.items()]
    if edges:
        build.wait(*np.array(edges, dtype=np.int64).T)
    _check_uses(missing, remarks)
    remarks.unused(nodes)
    return Trace(build.graph(), remarks.sentences(where, padded, missing.system))


def _in_parts(
    build: Builder, messages: Graph, ranks: np.ndarray, begin: np.ndarray, lane: str, system: System
) -> np.ndarray:
    """Add an operation part by part; return when each rank has its result of all."""
    arrived_ps = system.arrived_ps(messages)
    ends: list[np.ndarray] = []
    for number in range(system.splits):
        after = ends[number - system.active] if number >= system.active else begin
        ends.append(build.collective(messages, ranks, after, lane, system.endpoint_ps, arrived_ps))
    if len(ends) == 1:
        return ends[0]
    done = build.barrier(ranks, lane)
    for end in ends[-system.active :]:
        build.wait(done, end)
    return done


def _task(
    node: Node,
    streams: dict[tuple[int, tuple[bool, cn.Value]], int],
    roofline: Roofline | None,
    remarks: "_Remarks",
    key: str,
) -> Task:
    """Return the task of a node; a recv, and the begin of an operation, are points in time."""
    if node.works:
        duration_ps = _duration_ps(node, roofline, remarks, key)
        stream = streams[node.rank, _stream(node)]
        return Task(COMPUTE, node.rank, node.rank, duration_ps, stream, "compute")
    if node.kind == SEND:
        size, peer = node.number("comm_size"), node.number("comm_dst")
        return Task(MESSAGE, node.rank, peer, size, 0, "p2p")
    return Task(BARRIER, node.rank, node.rank, 0, 0, "node")


def _axes(
    node: Node,
    call: Call,
    ranks: np.ndarray,
    defined: list[Groups],
    missing: Missing,
    remarks: "_Remarks",
) -> list[np.ndarray]:
    """Return the groups of each dimension that an operation goes through, as places of its ranks.

    That is none where the system has one dimension, and among ranks that a communicator names,
    unless these are all: ASTRA-sim does these in one ring.
    """
    names = dict(missing.system.algorithms).get(call.operation, ())
    if len(names) < 2:
        return []
    if _known(node, defined, missing) is not None and len(ranks) < len(defined):
        return []
    sizes = tuple(missing.dimensions)
    if len(sizes) != len(names):
        raise FieldError(
            "dimensions", f"{list(sizes)}: the system has {len(names)} dimensions. Write how many"
            " ranks each has: dimensions: [8, 4].",
        )  # fmt: skip
    _check_all(sizes, len(defined))
    remarks.uses.add("dimensions")
    place = np.full(len(defined), -1)
    place[ranks] = np.arange(len(ranks))
    found = []
    for axis, size in enumerate(sizes):
        lines = np.moveaxis(place.reshape(sizes[::-1]), -1 - axis, -1).reshape(-1, size)
        lines = lines[(lines >= 0).all(axis=1)]
        found.append(lines if size * len(lines) == len(ranks) else np.zeros((0, size), int))
    return found


def _in_dimensions(
    build: Builder,
    call: Call,
    axes: list[np.ndarray],
    ranks: np.ndarray,
    begin: np.ndarray,
    padded: Padded,
    missing: Missing,
    where: str,
) -> np.ndarray:
    """Add an operation part by part, dimension by dimension; return when each rank has its result.

    A dimension has so many parts under way at a time, each of which waits for the one before.
    """
    system, sizes = missing.system, missing.dimensions
    taking_part = [axis for axis, groups in enumerate(axes) if len(groups)]
    ends = [begin] * system.splits
    queues: dict[int, list[np.ndarray]] = defaultdict(list)
    for phase in system.phases(system.part(call), sizes, taking_part):
        groups, queue = axes[phase.axis], queues[phase.axis]
        messages = padded(phase.call, system.splits * len(groups), where, phase.module)
        arrived_ps = system.arrived_ps(messages)
        for number in range(system.splits):
            start = ends[number]
            if len(queue) >= system.active:
                start = build.barrier(ranks, call.operation)
                build.wait(start, ends[number])
                build.wait(start, queue[-system.active])
            done = build.collective(
                messages, ranks[groups], start[groups], call.operation, system.endpoint_ps,
                arrived_ps,
            )  # fmt: skip
            by_rank = np.empty_like(start)
            by_rank[groups] = done
            queue.append(by_rank)
            ends[number] = by_rank
    done = build.barrier(ranks, call.operation)
    for end in ends:
        build.wait(done, end)
    return done[None, :]


def _waits(
    nodes: list[Node], remarks: "_Remarks", where: str, key: str
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return which node waits for which, by index: for data, and for its caller."""
    place = {(node.rank, node.id): index for index, node in enumerate(nodes)}
    if len(place) < len(nodes):
        raise FieldError(key, f"{where}: two nodes of a rank have the same id.")
    waits, calls = [], []
    for index, node in enumerate(nodes):
        for before in node.after:
            if (node.rank, before) not in place:
                raise FieldError(key, f"{node.where}: there is no node {before} to depend on.")
            waits.append((index, place[node.rank, before]))
        for parent in node.parents:
            if (node.rank, parent) in place:
                calls.append((index, place[node.rank, parent]))
            else:
                remarks.counts["control dependencies are on nodes that are not there"] += 1
    return waits, calls


def _turns(nodes: list[Node], ranks: int) -> list[tuple[int, int]]:
    """Return a key for the order of nodes: starts where a rank's accelerator has them, then ids."""
    timed = [True] * ranks
    for node in nodes:
        if (node.works or node.kind in cn.NEEDED) and not node.on_cpu:
            timed[node.rank] &= node.start_us > 0
    return [(node.start_us if timed[node.rank] else 0, node.id) for node in nodes]


def _stream(node: Node) -> tuple[bool, cn.Value]:
    """Return what names the stream of a node: Kineto calls it `stream`, and `tid` before 2024."""
    attributes = node.attributes
    return node.on_cpu, attributes.get("tid" if node.on_cpu else "stream", attributes.get("tid"))


def _streams(nodes: list[Node]) -> dict[tuple[int, tuple[bool, cn.Value]], int]:
    """Return the number of each stream that computes, by rank and name."""
    named: dict[int, set] = defaultdict(set)
    for node in nodes:
        if node.works:
            named[node.rank].add(_stream(node))
    found = {}
    for rank, streams in named.items():
        others = sorted(streams - _UNNAMED.keys(), key=lambda one: (one[0], str(one[1]).zfill(20)))
        numbers = _UNNAMED | {one: number for number, one in enumerate(others, len(_UNNAMED))}
        found |= {(rank, one): numbers[one] for one in streams}
    return found


def _in_stream(
    nodes: list[Node], turn: list[tuple[int, int]], order: list[int]
) -> list[tuple[int, int]]:
    """Return what the order of streams with a name says; traces of Kineto say it nowhere else.

    That is the order of starts; without them that of ids, as far as dependencies allow it. Messages
    are left out: two ranks issue theirs to each other together.
    """
    queues: dict[tuple, list[int]] = defaultdict(list)
    for index in order:
        node = nodes[index]
        if node.kind in (COMP, COLL) and not node.on_cpu and _stream(node)[1] is not None:
            queues[node.rank, _stream(node)].append(index)
    edges = []
    for queue in queues.values():
        queue.sort(key=lambda index: turn[index][0])
        edges += list(zip(queue[1:], queue[:-1], strict=True))
    return edges


def _check_uses(missing: Missing, remarks: "_Remarks") -> None:
    """Raise FieldError for a key that no node needs."""
    if missing.roofline is not None and "compute" not in remarks.uses:
        raise FieldError("compute", "every computation has a duration already. Leave it out.")
    if missing.dimensions and "dimensions" not in remarks.uses:
        raise FieldError("dimensions", "every operation involves all of them. Leave it out.")


def _duration_ps(node: Node, roofline: Roofline | None, remarks: "_Remarks", key: str) -> int:
    """Return how long a computation lasts [ps]."""
    amounts = node.number("num_ops"), node.number("tensor_size")
    if node.duration_us or node.on_cpu or not any(amounts):
        if not node.duration_us:
            remarks.counts["computations have no duration and take no time"] += 1
        return node.duration_us * PS_PER_US
    if roofline is None:
        raise FieldError(
            "compute", f"{node.where}: has {amounts[0]} operations on {amounts[1]} B and no"
            " duration. Write compute: {peak: 989 TFLOPS, memory: 26.8 Tb/s}.",
        )  # fmt: skip
    remarks.uses.add("compute")
    duration_ps = roofline.duration_ps(*amounts)
    if duration_ps > LONGEST_PS:
        raise FieldError(key, f"{node.where}: lasts {duration_ps} ps; at most ten days.")
    return duration_ps


class _Remarks:
    """What the tasks do not say of a trace."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.uses: set[str] = set()
        self._names: set[str] = set()

    def unused(self, nodes: Sequence[Node]) -> None:
        """Note which attributes decide nothing."""
        for node in nodes:
            used = {"is_cpu_op", *cn.NEEDED.get(node.kind, ())}
            if node.works and not node.duration_us and not node.on_cpu:
                used |= {"num_ops", "tensor_size"}
            if node.kind in (SEND, RECV):
                used.add("comm_tag")
            if node.kind == COLL:
                named = node.attributes.get("pg_name", "") not in ("", "0")
                by_dimension = not named or "dimensions" in self.uses
                used |= {"pg_name", "involved_dim"} if by_dimension else {"pg_name"}
            if node.works or node.kind == COLL:
                stream = "stream" if "stream" in node.attributes and not node.on_cpu else "tid"
                used.add(stream)
            self._names |= node.attributes.keys() - used
            if node.kind in cn.NEEDED and not node.works and node.duration_us:
                self.counts["durations of communications are not used: the network decides"] += 1

    def sentences(self, where: str, padded: Padded, system: System) -> tuple[str, ...]:
        """Return them, each on one line."""
        found = []
        if system.unused:
            found.append(f"keys {', '.join(system.unused)} of the system are not used")
        if self._names:
            names = sorted(repr(name[:40])[1:-1] for name in self._names)
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            found.append(f"attributes {', '.join(names[:_MOST_NAMES])}{more} are not used")
        found += [f"{n} {what}" for what, n in sorted(self.counts.items())]
        found += padded.remarks()
        return (f"{where}.*.et: {'; '.join(found)}.",) if found else ()


def _matched(nodes: list[Node], turn: list[tuple[int, int]], key: str) -> dict[int, int]:
    """Return the send of each recv."""
    queues: dict[int, dict[tuple, list[int]]] = {SEND: defaultdict(list), RECV: defaultdict(list)}
    for index in sorted(range(len(nodes)), key=lambda index: turn[index]):
        node = nodes[index]
        if node.kind in queues and not node.works:
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
    nodes: list[Node],
    turn: list[tuple[int, int]],
    defined: list[Groups],
    missing: Missing,
    remarks: _Remarks,
    key: str,
) -> list[tuple[Call, list[int]]]:
    """Return each operation with the nodes of its ranks, by rank."""
    queues: dict[tuple[tuple[int, ...], str], dict[int, list[int]]] = {}
    for index in sorted(range(len(nodes)), key=lambda index: turn[index]):
        node = nodes[index]
        if node.kind == COLL and not node.works:
            members = _members(node, defined, missing, remarks, key)
            name = str(node.attributes.get("pg_name", ""))
            turns = queues.setdefault((members, name), {rank: [] for rank in members})
            turns[node.rank].append(index)
    found = []
    for (members, name), turns in queues.items():
        if len({len(own) for own in turns.values()}) > 1:
            first = nodes[min(own[0] for own in turns.values() if own)]
            raise FieldError(
                key, f"{first.where}: not all ranks of communicator {name[:40]!r} do as many"
                " operations in it. Give its ranks.",
            )  # fmt: skip
        if len(members) == 1:
            n_alone = len(turns[members[0]])
            remarks.counts["operations of one rank alone send nothing"] += n_alone
            continue
        for turn_ in zip(*turns.values(), strict=True):
            found.append((_call(nodes, turn_, key), list(turn_)))
    return found


def _call(nodes: list[Node], members: Sequence[int], key: str) -> Call:
    """Return what the nodes of one operation ask for."""
    n = len(members)
    asked = {(nodes[i].number("comm_type"), nodes[i].number("comm_size")) for i in members}
    if len(asked) > 1 and {kind for kind, _ in asked} != {cn.BARRIER_TYPE}:
        raise FieldError(
            key, f"{nodes[members[0]].where}: other ranks of its communicator do something else,"
            " or with another size.",
        )  # fmt: skip
    kind, size = asked.pop()
    if kind == cn.BARRIER_TYPE:  # done by NCCL as an all-reduce of next to nothing
        return Call("all_reduce", n, n)
    operation = cn.OPERATIONS[kind]
    # What is gathered is what each rank has; elsewhere it is the whole vector.
    return Call(operation, n, size * (n if operation == "all_gather" else 1))


def _known(node: Node, defined: list[Groups], missing: Missing) -> Sequence[int] | None:
    """Return the ranks of the communicator that a node names, where something says them."""
    name = str(node.attributes.get("pg_name", ""))
    return missing.groups.get(name, defined[node.rank].get(name))


def _check_all(dimensions: Sequence[int], ranks: int) -> None:
    """Raise FieldError unless dimensions have all ranks."""
    if math.prod(dimensions) != ranks:
        raise FieldError(
            "dimensions", f"{list(dimensions)} have {math.prod(dimensions)} ranks; the trace has"
            f" {ranks}.",
        )  # fmt: skip


def _members(
    node: Node, defined: list[Groups], missing: Missing, remarks: _Remarks, key: str
) -> tuple[int, ...]:
    """Return the ranks that do an operation together."""
    ranks = len(defined)
    name = str(node.attributes.get("pg_name", ""))
    known = _known(node, defined, missing)
    if known is not None:
        members = tuple(known)
        if len(set(members)) < len(members) or not all(0 <= rank < ranks for rank in members):
            raise FieldError(
                key, f"{node.where}: communicator {name[:40]!r} has ranks that there are not, or"
                f" one twice; ranks are 0 to {ranks - 1}.",
            )  # fmt: skip
        if node.rank not in members:
            raise FieldError(
                key, f"{node.where}: rank {node.rank} is not in communicator {name[:40]!r}."
            )
        return members
    along_some = "involved_dim" in node.attributes and missing.dimensions
    if name not in ("", "0") and not along_some:
        raise FieldError(
            key, f"{node.where}: communicator {name[:40]!r} is in no file: not all ranks of"
            " communicators are known. Give its ranks in communicators.",
        )  # fmt: skip
    return _along(node, ranks, missing.dimensions, remarks, key)


def _along(
    node: Node, ranks: int, dimensions: Sequence[int], remarks: _Remarks, key: str
) -> tuple[int, ...]:
    """Return the ranks that differ from that of a node in dimensions that are involved alone."""
    involved = node.attributes.get("involved_dim", ())
    if not isinstance(involved, tuple):
        raise FieldError(key, f"{node.where}: involved_dim is no list of flags.")
    if involved and len(involved) < len(dimensions):
        raise FieldError(
            "dimensions", f"{list(dimensions[:8])}: {node.where} has involved_dim of"
            f" {len(involved)} dimensions. Write as many or fewer.",
        )  # fmt: skip
    if all(involved[: len(dimensions) or None]):
        return tuple(range(ranks))
    if not dimensions:
        raise FieldError(
            "dimensions", f"{node.where}: involved_dim is"
            f" {[bool(one) for one in involved[:8]]}. Write how many ranks each dimension has:"
            " dimensions: [8, 4].",
        )  # fmt: skip
    _check_all(dimensions, ranks)
    remarks.uses.add("dimensions")
    places = np.arange(ranks).reshape(*reversed(dimensions))
    own = np.unravel_index(node.rank, places.shape)
    chosen = tuple(
        slice(None) if axis < len(involved) and involved[axis] else int(own[-1 - axis])
        for axis in reversed(range(len(dimensions)))
    )
    return tuple(np.ravel(places[chosen]).tolist())


def _order(
    nodes: list[Node],
    turn: list[tuple[int, int]],
    edges: list[tuple[int, int]],
    why: str,
    key: str,
) -> list[int]:
    """Return nodes so that each comes after what it waits for, else by their turn."""
    then: dict[int, list[int]] = defaultdict(list)
    missing = [0] * len(nodes)
    for a, b in edges:
        then[b].append(a)
        missing[a] += 1
    ready = [(turn[i], i) for i, n in enumerate(missing) if n == 0]
    heapq.heapify(ready)
    found = []
    while ready:
        index = heapq.heappop(ready)[1]
        found.append(index)
        for follower in then[index]:
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, (turn[follower], follower))
    if len(found) < len(nodes):
        stuck = next(node for node, n in zip(nodes, missing, strict=True) if n)
        raise FieldError(
            key, f"{stuck.where}: waits for itself in a circle, so it never starts.{why}"
        )
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
            duration = [(7, round(duration_ps / PS_PER_US))]
            of = {"is_cpu_op": (27, int(stream == 1))}
            if stream >= len(_UNNAMED):
                of["stream"] = (9, stream)
            files[device].append(encoded([*head, (3, COMP), *waits, *duration, *_attributes(of)]))
        elif kind == BARRIER:
            files[device].append(encoded([*head, (3, METADATA), *waits]))
    return [framed(messages) for messages in files]


def _attributes(given: dict[str, tuple[int, int]]) -> list[tuple[int, bytes]]:
    """Return attributes by name with the field of their type, and its number."""
    return [(10, encoded([(1, name), value], zeros=True)) for name, value in given.items()]
