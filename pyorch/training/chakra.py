# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes Chakra execution traces: one file of protobuf messages for each rank.

A file is a stream of lengths and messages, first the metadata and then the nodes. COMP lasts
`duration_micros`, or what a roofline says of `num_ops` and `tensor_size`. What is on one stream of
a device, or one thread of its CPU, is done one after the other, in the order of starts, or of ids
where a rank has none. The k-th COMM_SEND and COMM_RECV of the same two ranks and tag are one
message; who depends on a send waits for its acknowledgement. The k-th COMM_COLL of the same
communicator is one operation of its ranks; one that waits for another comes behind it.

Source: MLCommons Chakra, et_def.proto (fields of 2023), read and written without its code.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pyorch import plugins
from pyorch.collective._graph import Call, Graph
from pyorch.spec.fields import FieldError
from pyorch.spec.files import listed
from pyorch.spec.limits import LONGEST_PS
from pyorch.training import astra
from pyorch.training import chakra_nodes as cn
from pyorch.training._protobuf import encoded, framed
from pyorch.training.astra import System
from pyorch.training.builder import Builder, pieces
from pyorch.training.chakra_nodes import (
    COLL,
    COMP,
    METADATA,
    PS_PER_US,
    RECV,
    SEND,
    Groups,
    Node,
    Nodes,
)
from pyorch.training.foreign import Algorithm, Padded, Trace
from pyorch.training.graph import (
    AT_RECEIVER,
    BARRIER,
    COMPUTE,
    MESSAGE,
    TaskGraph,
    cycle,
    local_waits,
)
from pyorch.training.order import Ends, alone, check_sizes, in_order, partners

_VERSION = "0.0.4"
#: Streams that no attribute names: of the accelerator, of the CPU. Others are counted from here.
_UNNAMED = {(False, None): 0, (True, None): 1}
#: Nodes that wait, and for which.
Pair = tuple[np.ndarray, np.ndarray]
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
    files: Iterable[BinaryIO], ranks: int, missing: Missing, where: str = "trace", key: str = "file"
) -> Trace:
    """Return the tasks of one trace.

    Parameters
    ----------
    files : iterable of binary files, one for each rank
        What is in them.
    ranks : int
        How many there are.
    missing : Missing
        What they leave open.
    where, key : str
        File, to which the number of the rank is added, and key of the scenario, for messages.

    Raises
    ------
    FieldError
        With file and node: what is cut short, has no partner, or is not known here.
    """
    remarks, padded = _Remarks(), Padded(missing.algorithm, where, key)
    roofline = missing.roofline
    if roofline is None and (peak := missing.system.peak_flops):
        roofline = Roofline(peak, round(missing.system.memory_gbps * 8 * 10**9))
    nodes, defined = cn.Nodes(where, key), list[Groups]()
    for rank, stream in enumerate(files):
        defined.append({})
        its = cn.nodes(rank, ranks, stream, where, key, defined[-1], remarks.names)
        nodes.add(map(remarks.noted, its), lambda node: _duration_ps(node, roofline, remarks, key))
    if not len(nodes):
        raise FieldError(key, f"{where}: there is no node in any of {ranks} files.")
    if nodes.n_lost:
        remarks.counts["control dependencies are on nodes that are not there"] = nodes.n_lost
    turn = _Turn(nodes, ranks)
    recvs, sends = _matched(nodes, turn, key)
    waits, order = _ordered(nodes, turn, (recvs, sends), remarks, key)
    together = _collectives(nodes, turn, waits, defined, missing, remarks, key)
    build = Builder(ranks, missing.step_ps)
    row = _tasks(build, nodes, order)
    ends = _done(build, nodes, together, row, defined, padded, missing, remarks)
    del turn, order, together
    is_send = nodes.of(lambda its: its.kind == SEND and not its.works)
    for task, after in waits:
        for some in pieces(len(task)):
            build.wait(row[task[some]], ends[after[some]], is_send[after[some]])
    for some in pieces(len(recvs)):
        build.wait(row[recvs[some]], row[sends[some]], AT_RECEIVER)
    _check_uses(missing, remarks)
    named = {dict(its.attributes).get("pg_name") for its in nodes.traits}
    if others := missing.groups.keys() - named:
        remarks.counts[f"communicators that no node names: {listed(others)}"] = len(others)
    del waits, recvs, sends, ends, is_send
    graph = build.graph()
    _check_circle(nodes, np.flatnonzero(np.isin(row, cycle(graph))).tolist(), key)
    return Trace(graph, remarks.sentences(where, padded, missing.system))


def _check_circle(nodes: Nodes, stuck: list[int], key: str) -> None:
    """Raise FieldError for nodes that wait for each other, through operations of several ranks."""
    if stuck:
        more = f" and {len(stuck) - _MOST_NAMES} more" if len(stuck) > _MOST_NAMES else ""
        others = ", ".join(f"{nodes.id[one]} of rank {nodes.rank[one]}"
                           for one in stuck[1:_MOST_NAMES])  # fmt: skip
        raise FieldError(
            key, f"{nodes.where(stuck[0])}: waits for itself through node {others}{more}, so it"
            " never starts. Ranks of two communicators do their operations in one order.",
        )  # fmt: skip


def _done(
    build: Builder,
    nodes: Nodes,
    together: list[tuple[Call, list[int]]],
    row: np.ndarray,
    defined: list[Groups],
    padded: Padded,
    missing: Missing,
    remarks: "_Remarks",
) -> np.ndarray:
    """Add operations; return when each node has ended."""
    ends = row.copy()
    for call, members in together:
        begin, first = row[members], nodes.node(members[0])
        its_ranks = np.array([nodes.rank[index] for index in members])
        if axes := _axes(first, call, its_ranks, defined, missing, remarks):
            done = _in_dimensions(build, call, axes, its_ranks, begin, padded, missing, first.where)
        else:
            done = _in_parts(
                build, call, its_ranks[None], begin[None], padded, missing, first.where
            )
        ends[members] = done[0]
    return ends


def _in_parts(
    build: Builder,
    call: Call,
    ranks: np.ndarray,
    begin: np.ndarray,
    padded: Padded,
    missing: Missing,
    where: str,
) -> np.ndarray:
    """Add an operation part by part; return when each rank has its result of all."""
    system = missing.system
    name = system.flat().get(call.operation, "")
    module = plugins.load("pyorch.collective", name) if name else None
    stages = [
        padded(stage, system.splits, where, module)
        for stage in astra.stages(system.part(call), name)
    ]
    ends: list[np.ndarray] = []
    for number in range(system.splits):
        after = ends[number - system.active] if number >= system.active else begin
        ends.append(_in_stages(build, stages, ranks, after, call.operation, missing))
    if len(ends) == 1:
        return ends[0]
    done = build.barrier(ranks, call.operation)
    for end in ends[-system.active :]:
        build.wait(done, end)
    return done


def _in_stages(
    build: Builder,
    stages: Sequence[Graph],
    ranks: np.ndarray,
    begin: np.ndarray,
    lane: str,
    missing: Missing,
) -> np.ndarray:
    """Add what a rank does one after the other; return when each rank has its result."""
    before_ps = missing.system.endpoint_ps
    for messages in stages:
        arrived_ps = missing.system.arrived_ps(messages)
        begin = build.collective(messages, ranks, begin, lane, before_ps, arrived_ps)
        before_ps = missing.step_ps
    return begin


def _tasks(build: Builder, nodes: Nodes, order: np.ndarray) -> np.ndarray:
    """Add the tasks of nodes in an order, and return their rows.

    A recv, and the begin of an operation, are points in time.
    """
    streams = _streams(nodes)
    lanes = ("compute", "p2p", "node")
    kinds = (COMPUTE, MESSAGE, BARRIER)
    lane_of = np.array([0 if its.works else 1 if its.kind == SEND else 2 for its in nodes.traits])
    trait, rank, amount, peer = map(nodes.column, ("trait", "rank", "amount", "peer"))
    for piece in pieces(len(order)):
        some = order[piece]
        lane, device = lane_of[trait[some]], rank[some]
        found, first = np.unique(lane, return_index=True)
        numbers = np.zeros(len(lanes), dtype=np.int64)
        for its in found[np.argsort(first)].tolist():
            numbers[its] = build.lane(lanes[its])
        build.tasks(
            np.array(kinds)[lane], device, np.where(lane == 1, peer[some], device),
            np.where(lane == 0, amount[some], 0), np.where(lane == 1, amount[some], 0),
            np.where(lane == 0, streams[some], 0), numbers[lane],
        )  # fmt: skip
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.arange(len(order))
    return row


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
        times = system.splits * len(groups)
        stages = [padded(stage, times, where, phase.module) for stage in phase.stages]
        for number in range(system.splits):
            start = ends[number]
            if len(queue) >= system.active:
                start = build.barrier(ranks, call.operation)
                build.wait(start, ends[number])
                build.wait(start, queue[-system.active])
            done = _in_stages(build, stages, ranks[groups], start[groups], call.operation, missing)
            by_rank = np.empty_like(start)
            by_rank[groups] = done
            queue.append(by_rank)
            ends[number] = by_rank
    done = build.barrier(ranks, call.operation)
    for end in ends:
        build.wait(done, end)
    return done[None, :]


class _Turn:
    """The order of nodes: by starts where a rank's accelerator has them, then by ids.

    Attributes
    ----------
    start_us : ndarray, one row for each node
        0 where a rank has no starts.
    at : ndarray
        Nodes in their order.
    """

    def __init__(self, nodes: Nodes, ranks: int):
        rank, start_us = nodes.column("rank"), nodes.column("start_us")
        needs = nodes.of(lambda its: (its.works or its.kind in cn.NEEDED) and not its.on_cpu)
        untimed = np.zeros(ranks, dtype=bool)
        untimed[rank[needs & (start_us == 0)]] = True
        self.start_us = np.where(untimed[rank], np.uint64(0), start_us)
        self.at = np.lexsort((nodes.column("id"), self.start_us)).astype(np.int32)
        self._of = np.empty(len(self.at), dtype=np.int32)
        self._of[self.at] = np.arange(len(self.at), dtype=np.int32)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        """Return some nodes in their order."""
        return self.at[chosen[self.at]]

    def places(self, waits: Sequence[Pair], last: np.ndarray) -> np.ndarray:
        """Return the place of each node where some go only when no other can."""
        at = np.concatenate([self.among(~last), self.among(last)])
        of, place = np.empty_like(at), np.empty_like(at)
        of[at] = np.arange(len(at))
        task, after = (of[np.concatenate(both)] for both in zip(*waits, strict=True))
        place[at[in_order(len(at), task, after)]] = np.arange(len(at))
        return place

    def keeps(self, waits: Sequence[Pair]) -> bool:
        """Return whether nobody waits for what comes later."""
        return all((self._of[task] > self._of[after]).all() for task, after in waits)

    def order(self, waits: Sequence[Pair], nodes: Nodes, why: str, key: str) -> np.ndarray:
        """Return nodes so that each comes after what it waits for, else by their turn."""
        task, after = (np.concatenate(both) for both in zip(*waits, strict=True))
        found = self.at[in_order(len(self.at), self._of[task], self._of[after])]
        if len(found) < len(self.at):
            left = np.ones(len(self.at), dtype=bool)
            left[found] = False
            raise FieldError(
                key, f"{nodes.where(int(left.argmax()))}: waits for itself in a circle, so it never"
                f" starts.{why}",
            )  # fmt: skip
        return found


def _ordered(
    nodes: Nodes, turn: _Turn, sends: Pair, remarks: "_Remarks", key: str
) -> tuple[list[Pair], np.ndarray]:
    """Return what waits for what, and an order in which all can be done."""
    data, calls = (
        (np.frombuffer(task, dtype=np.int32), np.frombuffer(after, dtype=np.int32))
        for task, after in (nodes.after, nodes.calls)
    )
    waits: list[Pair] = [data]
    try:
        order = turn.order([data, calls, sends], nodes, "", key)
        waits.append(calls)
    except FieldError:
        if not len(calls[0]):
            raise
        order = turn.order([data, sends], nodes, "", key)
        what = "control dependencies are left out: they contradict those of data"
        remarks.counts[what] = len(calls[0])
    in_stream = _in_stream(nodes, turn, order)
    if len(in_stream[0]):
        waits.append(in_stream)
        why = " The order of streams by start_time_micros is a part of it."
        order = turn.order([*waits, sends], nodes, why, key)
    return waits, order


def _streams(nodes: Nodes) -> np.ndarray:
    """Return the number of the stream of each node that computes, on its rank by names."""
    trait, rank = nodes.column("trait").astype(np.int64), nodes.column("rank")
    n = len(nodes.traits)
    works = nodes.of(lambda its: its.works)
    found, place = np.unique(rank * n + trait, return_inverse=True)
    named: dict[int, set] = defaultdict(set)
    for one in np.unique((rank * n + trait)[works]).tolist():
        named[one // n].add(nodes.traits[one % n].stream)
    numbers = np.zeros(len(found), dtype=np.int64)
    of_rank = {}
    for its_rank, streams in named.items():
        others = sorted(streams - _UNNAMED.keys(), key=lambda one: (one[0], str(one[1]).zfill(20)))
        of_rank[its_rank] = _UNNAMED | {
            one: number for number, one in enumerate(others, len(_UNNAMED))
        }
    for index, one in enumerate(found.tolist()):
        numbers[index] = of_rank.get(one // n, {}).get(nodes.traits[one % n].stream, 0)
    return numbers[place.reshape(-1)]


def _in_stream(nodes: Nodes, turn: _Turn, order: np.ndarray) -> Pair:
    """Return what the order of streams with a name says; traces of Kineto say it nowhere else.

    That is the order of starts; without them that of ids, as far as dependencies allow it. Messages
    are left out: two ranks issue theirs to each other together.
    """
    names = {its.stream: index for index, its in enumerate(nodes.traits)}
    stream = np.array([names[its.stream] for its in nodes.traits])[nodes.column("trait")]
    queues = nodes.of(
        lambda its: its.kind in (COMP, COLL) and not its.on_cpu and its.stream[1] is not None
    )
    rows = order[queues[order]]
    queue = nodes.column("rank")[rows] * np.int64(len(nodes.traits)) + stream[rows]
    _, first, group = np.unique(queue, return_index=True, return_inverse=True)
    begin = first[group.reshape(-1)]  # queues in the order in which they begin
    by_start = np.lexsort((turn.start_us[rows], begin))
    rows, begin = rows[by_start], begin[by_start]
    same = begin[1:] == begin[:-1]
    return rows[1:][same], rows[:-1][same]


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
        self.names: set[str] = set()
        self._idle_dimensions = False  # unless dimensions are used

    def noted(self, node: Node) -> Node:
        """Note which attributes of a node decide nothing, and return it."""
        used = {"is_cpu_op", *cn.NEEDED.get(node.kind, ())}
        if node.works and not node.duration_us and not node.on_cpu:
            used |= {"num_ops", "tensor_size"}
        if node.kind in (SEND, RECV):
            used.add("comm_tag")
        if node.kind == COLL:
            used |= {"pg_name", "involved_dim"}
            named = node.attributes.get("pg_name", "") not in ("", "0")
            self._idle_dimensions |= named and "involved_dim" in node.attributes
        if node.works or node.kind == COLL:
            used.add("stream" if "stream" in node.attributes and not node.on_cpu else "tid")
        self.names |= node.attributes.keys() - used
        if node.kind in cn.NEEDED and not node.works and node.duration_us:
            self.counts["durations of communications are not used: the network decides"] += 1
        if node.kind == cn.INVALID:
            self.counts["nodes are of type 0, invalid, and take no time"] += 1
        return node

    def sentences(self, where: str, padded: Padded, system: System) -> tuple[str, ...]:
        """Return them, each on one line."""
        found = []
        if system.unused:
            found.append(f"keys {', '.join(system.unused)} of the system are not used")
        if self._idle_dimensions and "dimensions" not in self.uses:
            self.names.add("involved_dim")
        if self.names:
            names = sorted(repr(name[:40])[1:-1] for name in self.names)
            more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            found.append(f"attributes {', '.join(names[:_MOST_NAMES])}{more} are not used")
        found += [f"{n} {what}" for what, n in sorted(self.counts.items())]
        found += padded.remarks()
        return (f"{where}.*.et: {'; '.join(found)}.",) if found else ()


def _matched(nodes: Nodes, turn: _Turn, key: str) -> Pair:
    """Return recvs and the send of each, by sender, receiver and tag."""
    rank, peer, tag, size = map(nodes.column, ("rank", "peer", "tag", "amount"))
    sends = turn.among(nodes.of(lambda its: its.kind == SEND and not its.works))
    recvs = turn.among(nodes.of(lambda its: its.kind == RECV and not its.works))
    sent = Ends(rank[sends], peer[sends], tag[sends])
    received = Ends(peer[recvs], rank[recvs], tag[recvs])
    if (found := partners(sent, received)) is None:
        left = [ends.at(rows) for ends, rows in zip((sent, received), alone(sent, received),
                                                    strict=True)]  # fmt: skip
        pair = min(tuple(int(column[at]) for column in ends)
                   for ends in left for at in ends.sorted()[:1])  # fmt: skip
        its = [rows[np.all([column == one for column, one in zip(ends, pair, strict=True)], axis=0)]
               for rows, ends in ((sends, sent), (recvs, received))]  # fmt: skip
        raise FieldError(
            key, f"{nodes.where(int(np.concatenate(its)[-1]))}: rank {pair[0]} sends {len(its[0])}"
            f" times to {pair[1]} with tag {pair[2]}, which receives {len(its[1])} times.",
        )  # fmt: skip
    order = received.sorted()
    recvs, sends = recvs[order], sends[found[order]]
    check_sizes(size, recvs, sends, nodes.where, key)
    return recvs, sends


def _collectives(
    nodes: Nodes,
    turn: _Turn,
    waits: Sequence[Pair],
    defined: list[Groups],
    missing: Missing,
    remarks: _Remarks,
    key: str,
) -> list[tuple[Call, list[int]]]:
    """Return each operation with the nodes of its ranks, by rank."""
    queues: dict[tuple[tuple[int, ...], str], dict[int, list[int]]] = {}
    known: dict[tuple[int, int], dict[int, list[int]]] = {}  # by rank and trait
    for index in turn.among(nodes.of(lambda its: its.kind == COLL and not its.works)).tolist():
        kind = nodes.rank[index], nodes.trait[index]
        if kind not in known:
            node = nodes.node(index)
            members = _members(node, defined, missing, remarks, key)
            name = str(node.attributes.get("pg_name", ""))
            known[kind] = queues.setdefault((members, name), {rank: [] for rank in members})
        known[kind][kind[0]].append(index)
    if not turn.keeps(waits):
        _reordered(turn, waits, queues.values())
    found = []
    for (members, name), turns in queues.items():
        if len({len(own) for own in turns.values()}) > 1:
            first = nodes.where(min(own[0] for own in turns.values() if own))
            raise FieldError(
                key, f"{first}: not all ranks of communicator {name[:40]!r} do as many"
                " operations in it. Give its ranks.",
            )  # fmt: skip
        if len(members) == 1:
            n_alone = len(turns[members[0]])
            remarks.counts["operations of one rank alone send nothing"] += n_alone
            continue
        for turn_ in zip(*turns.values(), strict=True):
            found.append((_call(nodes, turn_, key), list(turn_)))
    return found


def _reordered(turn: _Turn, waits: Sequence[Pair], queues: Iterable[dict[int, list[int]]]) -> None:
    """Put the operations of each rank in a communicator behind those for which they wait."""
    of_rank: dict[int, list[list[int]]] = defaultdict(list)
    for turns in queues:
        for rank, own in turns.items():
            of_rank[rank].append(own)
    # No rank waits for another here, so a communicator of each is done at a time.
    for some in zip_longest(*of_rank.values(), fillvalue=[]):
        last = np.zeros(len(turn.at), dtype=bool)
        last[[index for own in some for index in own]] = True
        place = turn.places(waits, last)
        for own in some:
            own.sort(key=place.__getitem__)


def _call(nodes: Nodes, members: Sequence[int], key: str) -> Call:
    """Return what the nodes of one operation ask for."""
    n, its = len(members), [nodes.node(row) for row in members]
    asked = {(node.number("comm_type"), node.number("comm_size")) for node in its}
    if len(asked) > 1 and {kind for kind, _ in asked} != {cn.BARRIER_TYPE}:
        raise FieldError(
            key, f"{its[0].where}: other ranks of its communicator do something else,"
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
