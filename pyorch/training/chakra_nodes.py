# SPDX-License-Identifier: GPL-2.0-only
"""Nodes of Chakra execution traces as they stand in the files, checked one by one.

Source: MLCommons Chakra, et_def.proto (fields of 2023), read without its code.
"""

import json
import math
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS
from pyorch.training._protobuf import Message, fields, frames

PS_PER_US = 10**6
METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(1, 8)
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


def nodes(rank: int, ranks: int, data: bytes, where: str, key: str) -> tuple[list[Node], Groups]:
    """Return the nodes of one file, and the ranks of communicators that it defines."""
    at = f"{where}.{rank}.et"
    found: list[Node] = []
    groups: Groups = {}
    try:
        messages = list(frames(data))
        if not messages:
            raise ValueError("there is nothing in it")
        for message in messages[1:]:
            its = fields(message)
            found.append(_node(rank, its, at))
            if found[-1].kind == METADATA:
                groups |= _defined(its, ranks, found[-1].where)
    except ValueError as error:
        raise FieldError(key, f"{at}: {error}.") from None
    for node in found:
        _check(node, ranks, key)
    return found, groups


def _node(rank: int, message: Message, at: str) -> Node:
    number = message.number(1)
    attributes = {}
    for given in message.messages(10):
        attribute = fields(given)
        attributes[attribute.text(1)] = _value(attribute)
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
        raise FieldError(key, f"{node.where}: lasts {node.duration_us} us; at most ten days.")
    if node.kind in (LOAD, STORE):
        raise FieldError(key, f"{node.where}: type {node.kind} is of memory; take it out.")
    if node.kind not in (0, METADATA, COMP, SEND, RECV, COLL):
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
