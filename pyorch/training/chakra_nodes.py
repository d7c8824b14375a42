# SPDX-License-Identifier: GPL-2.0-only
"""Nodes of Chakra execution traces: checked one by one, and kept as columns.

Source: MLCommons Chakra, et_def.proto (fields of 2023), read without its code.
"""

import json
import math
import struct
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_TASKS, MOST_WAITS
from pyorch.training._protobuf import Message, fields, frames

PS_PER_US = 10**6
INVALID, METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(8)
#: CollectiveCommType of the format, where `pyorch.collective` has it.
OPERATIONS = {
    0: "all_reduce", 1: "reduce", 2: "all_gather", 3: "gather", 5: "broadcast", 6: "all_to_all",
    7: "reduce_scatter", 8: "reduce_scatter",
}  # fmt: skip
BARRIER_TYPE = 9
#: Which attributes a message and an operation need.
NEEDED = {
    SEND: ("comm_dst", "comm_size"), RECV: ("comm_src", "comm_size"),
    COLL: ("comm_type", "comm_size"),
}  # fmt: skip
#: Fields of AttributeProto: plain and zigzag varints, numbers of fixed width, a text, flags.
_VARINTS, _ZIGZAGS = (7, 9, 11, 13, 27), (15, 17)
_FIXED = {3: "<d", 5: "<f", 19: "<I", 21: "<Q", 23: "<i", 25: "<q"}
_TEXT, _FLAGS = 29, 28
_LARGEST = 2**63
#: Fields of NodeProto with their names, of AttributeProto, of GlobalMetadata.
_OF_NODE = {1, 2, 3, 4, 5, 6, 7, 10}
_UNUSED = {8: "inputs", 9: "outputs"}
_OF_ATTRIBUTE, _OF_METADATA = range(1, 33), {1, 2}
#: Attributes that say which operation a node is of.
_OF_TRAIT = ("comm_type", "involved_dim", "pg_name")

Value = int | float | str | tuple[int, ...] | None
Groups = dict[str, tuple[int, ...]]


class Node(NamedTuple):
    """One node of one rank; `attributes` has what is of no known type as None.

    `parents` are control dependencies: who has called it, which a converter may have left out.
    """

    rank: int
    id: int
    kind: int
    start_us: int
    duration_us: int
    after: list[int]
    parents: list[int]
    attributes: dict[str, Value]
    where: str

    @property
    def on_cpu(self) -> bool:
        """Whether the processor of the host does it."""
        return bool(self.attributes.get("is_cpu_op", 0))

    @property
    def works(self) -> bool:
        """Whether it is a computation: so is the launch of a communication by a CPU."""
        launch = self.kind in NEEDED and self.on_cpu
        return self.kind == COMP or (
            launch and not all(name in self.attributes for name in NEEDED[self.kind])
        )

    def number(self, name: str) -> int:
        """Return a whole number that has been checked; 0 if it is not there."""
        value = self.attributes.get(name, 0)
        return value if isinstance(value, int) else 0


class Trait(NamedTuple):
    """What many nodes have in common; `attributes` are those that name a communicator."""

    kind: int
    works: bool
    on_cpu: bool
    stream: tuple[bool, Value]
    attributes: tuple[tuple[str, Value], ...]


class Nodes:
    """The nodes of all ranks as columns, rank by rank.

    Attributes
    ----------
    rank, id, trait, start_us, amount, peer, tag : array, one row for each node
        `trait` is an index into `traits`; `amount` how long it computes [ps], or its bytes.
    after, calls : pair of array, one row for each dependency
        Who waits for whom by its rows: for data, and for its caller.
    traits : list of Trait
        By index.
    n_lost : int
        Control dependencies on nodes that are not there.
    """

    def __init__(self, where: str, key: str):
        self._where, self._key = where, key
        self.rank, self.id, self.trait, self.start_us = (array(code) for code in "iQiQ")
        self.amount, self.peer, self.tag = (array(code) for code in "qiq")
        self.after = array("i"), array("i")
        self.calls = array("i"), array("i")
        self.traits: list[Trait] = []
        self.n_lost = 0
        self._index: dict[Trait, int] = {}

    def __len__(self) -> int:
        return len(self.rank)

    def where(self, row: int) -> str:
        """Return where a node is, for messages."""
        return f"{self._where}.{self.rank[row]}.et: node {self.id[row]}"

    def node(self, row: int) -> Node:
        """Return a node without what it waits for, and with attributes of communicators alone."""
        its = self.traits[self.trait[row]]
        attributes = dict(its.attributes) | {"comm_size": self.amount[row]}
        return Node(
            self.rank[row], self.id[row], its.kind, self.start_us[row], 0, [], [], attributes,
            self.where(row),
        )  # fmt: skip

    def column(self, name: str) -> np.ndarray:
        """Return a column; no node can be added any more."""
        found = getattr(self, name)
        return np.frombuffer(found, dtype=found.typecode)

    def of(self, chosen: Callable[[Trait], object]) -> np.ndarray:
        """Return for each node whether its trait is chosen."""
        return np.array([bool(chosen(its)) for its in self.traits])[self.column("trait")]

    def add(self, nodes: Iterator[Node], duration_ps: Callable[[Node], int]) -> None:
        """Add the nodes of a rank; `duration_ps` says how long one that works computes."""
        first = len(self)
        waits = tuple((array("i"), array("Q")) for _ in range(2))
        n_waits = len(self.after[0]) + len(self.calls[0])
        for node in nodes:
            for (rows, named), before in zip(waits, (node.after, node.parents), strict=True):
                if before:
                    rows.extend([len(self)] * len(before))
                    named.extend(before)
                    n_waits += len(before)
            self._append(node, duration_ps(node) if node.works else node.number("comm_size"))
            for n, most, what in (
                (len(self), MOST_TASKS, "nodes"), (n_waits, MOST_WAITS, "dependencies"),
            ):  # fmt: skip
                if n > most:
                    raise FieldError(self._key, f"{self._where}: more than {most:,} {what}.")
        ids = np.frombuffer(self.id[first:], dtype=np.uint64)
        order = np.argsort(ids, kind="stable")
        if (twice := np.equal(ids[order[1:]], ids[order[:-1]])).any():
            again = first + int(order[1:][twice].min())
            raise FieldError(self._key, f"{self.where(again)} stands twice. Give it its own id.")
        for (rows, named), (task, after) in zip(waits, (self.after, self.calls), strict=True):
            waiting, wanted = np.frombuffer(rows, np.int32), np.frombuffer(named, np.uint64)
            places = np.searchsorted(ids, wanted, sorter=order)
            places = order[np.minimum(places, len(order) - 1)] if len(order) else places
            is_there = np.equal(ids[places], wanted)
            if task is self.calls[0]:
                self.n_lost += int((~is_there).sum())
            elif not is_there.all():
                lost = int(is_there.argmin())
                raise FieldError(
                    self._key, f"{self.where(waiting[lost])}: there is no node {wanted[lost]} to"
                    " depend on.",
                )  # fmt: skip
            task.frombytes(waiting[is_there].tobytes())
            after.frombytes((places[is_there] + first).astype(np.int32).tobytes())

    def _append(self, node: Node, amount: int) -> None:
        own = node.attributes
        name = "tid" if node.on_cpu else "stream"
        trait = Trait(
            node.kind, node.works, node.on_cpu, (node.on_cpu, own.get(name, own.get("tid"))),
            tuple((key, own[key]) for key in _OF_TRAIT if key in own) if node.kind == COLL else (),
        )  # fmt: skip
        if (index := self._index.setdefault(trait, len(self.traits))) == len(self.traits):
            self.traits.append(trait)
        self.rank.append(node.rank)
        self.id.append(node.id)
        self.trait.append(index)
        self.start_us.append(node.start_us)
        self.amount.append(amount)
        self.peer.append(node.number("comm_dst" if node.kind == SEND else "comm_src"))
        self.tag.append(node.number("comm_tag"))


def nodes(
    rank: int, ranks: int, stream: BinaryIO, where: str, key: str, groups: Groups, unused: set[str]
) -> Iterator[Node]:
    """Yield the nodes of one file; add the communicators that it defines, and what is unused.

    That is what is no attribute of a node: of metadata, and fields that the format does not have.
    """
    at = f"{where}.{rank}.et"
    try:
        messages = frames(stream)
        if (first := next(messages, None)) is None:
            raise ValueError("there is nothing in it")
        head = fields(first)
        unused |= {f"field {field} of metadata" for field in head.others(_OF_METADATA)}
        unused |= {f"{name} of metadata" for name in _attributes(head, 2, unused)}
        for message in messages:
            its = fields(message)
            node = _node(rank, its, at, unused)
            if node.kind == METADATA:
                groups |= _defined(its, ranks, node.where)
            elif others := its.others(_OF_NODE):
                unused |= {_UNUSED.get(field, f"field {field} of nodes") for field in others}
            _check(node, ranks, key)
            yield node
    except ValueError as error:
        raise FieldError(key, f"{at}: {error}.") from None


def _attributes(message: Message, field: int, unused: set[str]) -> dict[str, Value]:
    """Return the attributes of a message, and note the fields that none has."""
    found = {}
    for given in message.messages(field):
        attribute = fields(given)
        found[attribute.text(1)] = _value(attribute)
        if others := attribute.others(_OF_ATTRIBUTE):
            unused |= {f"field {number} of attributes" for number in others}
    return found


def _node(rank: int, message: Message, at: str, unused: set[str]) -> Node:
    number = message.number(1)
    attributes = _attributes(message, 10, unused)
    return Node(
        rank, number, message.number(3), message.number(6), message.number(7), message.numbers(5),
        message.numbers(4), attributes, f"{at}: node {number}",
    )  # fmt: skip


def _value(attribute: Message) -> Value:
    """Return what an attribute holds."""
    for field in _VARINTS:
        if attribute.has(field):
            value = attribute.number(field)
            return value - 2 * _LARGEST if value >= _LARGEST and field in (7, 9) else value
    for field in _ZIGZAGS:
        if attribute.has(field):
            value = attribute.number(field)
            return value >> 1 ^ -(value & 1)
    for field, code in _FIXED.items():
        raw = attribute.messages(field)
        if raw and len(raw[-1]) == struct.calcsize(code):
            value = struct.unpack(code, raw[-1])[0]
            return int(value) if math.isfinite(value) and value == int(value) else value
    if attribute.has(_TEXT):
        return attribute.text(_TEXT)
    if attribute.has(_FLAGS) and (raw := attribute.messages(_FLAGS)):
        return tuple(fields(raw[-1]).numbers(1))
    return None


def _defined(message: Message, ranks: int, where: str) -> Groups:
    """Return the communicators of PyTorch that a metadata node names: a JSON list in a list."""
    texts = [fields(given).text(1) for given in message.messages(8)]
    if not texts or "pg_name" not in texts[0]:
        return {}
    try:
        given: Any = json.loads(texts[0].strip()[1:-1].strip().strip("'"))
        found = {}
        for one in given:
            members = tuple(one["ranks"]) or tuple(range(ranks))
            if not all(type(rank) is int and 0 <= rank < ranks for rank in members):
                raise ValueError
            found[str(one["pg_name"])] = members
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            f"{where.rpartition(': ')[2]} names communicators, but not as a list of pg_name and"
            f" ranks from 0 to {ranks - 1}"
        ) from None
    return found


def _check(node: Node, ranks: int, key: str) -> None:
    """Raise FieldError for a node that is not known here, or says too little or what cannot be."""
    if node.duration_us * PS_PER_US > LONGEST_PS:
        lasts_us = node.duration_us - 2 * _LARGEST * (node.duration_us >= _LARGEST)
        raise FieldError(key, f"{node.where}: lasts {lasts_us} us; write 0 to ten days.")
    if node.kind in (LOAD, STORE):
        raise FieldError(key, f"{node.where}: type {node.kind} is of memory; take it out.")
    if node.kind not in (INVALID, METADATA, COMP, SEND, RECV, COLL):
        raise FieldError(key, f"{node.where}: there is no type {node.kind}; types are 0 to {COLL}.")
    is_barrier = node.kind == COLL and node.attributes.get("comm_type") == BARRIER_TYPE
    if node.works:
        bounds = {"num_ops": (0, 10**24), "tensor_size": (0, 2**63)}
    elif node.kind in NEEDED:
        bounds = {
            "comm_dst": (0, ranks - 1), "comm_src": (0, ranks - 1), "comm_tag": (-(2**31), 2**32),
            "comm_size": (int(not is_barrier), LARGEST_MESSAGE_BYTES),
        }  # fmt: skip
    else:
        return
    for name, (least, most) in bounds.items():
        value = node.attributes.get(name, least)
        if not isinstance(value, int) or not least <= value <= most:
            raise FieldError(
                key, f"{node.where}: {name} is {str(value)[:40]!r}, not {least} to {most}."
            )
    if not node.works:
        _check_communication(node, is_barrier, key)


def _check_communication(node: Node, is_barrier: bool, key: str) -> None:
    """Raise FieldError for a message or an operation that says too little."""
    needed: Sequence[str] = ("comm_type",) if is_barrier else NEEDED[node.kind]
    if missing := [name for name in needed if name not in node.attributes]:
        raise FieldError(key, f"{node.where}: has no {missing[0]}, which only its program knew.")
    if node.kind == COLL and not is_barrier and node.attributes["comm_type"] not in OPERATIONS:
        raise FieldError(
            key, f"{node.where}: comm_type {str(node.attributes['comm_type'])[:40]} is none of"
            f" {', '.join(dict.fromkeys(OPERATIONS.values()))}, barrier.",
        )  # fmt: skip
