# SPDX-License-Identifier: GPL-2.0-only
"""Puts something that no format has into a file, at every depth: one place after the other."""

import copy
import io
import json
import struct
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import yaml

from pyorch.training._protobuf import encoded, framed, frames

WORD = "planted"
#: A field that no message of Chakra has.
FIELD = 60

#: A name for what was planted, and the file with it.
Planted = tuple[str, bytes]


def plants(kind: str, data: bytes) -> Iterator[Planted]:
    """Yield files with one unknown thing each."""
    yield from _BY_KIND[kind](data)


def _xml(data: bytes) -> Iterator[Planted]:
    for index, element in enumerate(ElementTree.fromstring(data).iter()):
        for what in ("attribute", "element", "text"):
            root = ElementTree.fromstring(data)
            its = list(root.iter())[index]
            if what == "attribute":
                its.set(WORD, "1")
            elif what == "text":
                its.text = WORD
            else:
                ElementTree.SubElement(its, WORD)
            yield f"{what} of {element.tag} {index}", ElementTree.tostring(root)


def _mappings(value: Any, path: tuple = ()) -> Iterator[tuple]:
    if isinstance(value, dict):
        yield path
    inner = value.items() if isinstance(value, dict) else []
    for key, one in enumerate(value) if isinstance(value, list) else inner:
        yield from _mappings(one, (*path, key))


def _keys(data: bytes, dump: Any) -> Iterator[Planted]:
    whole = yaml.safe_load(data)
    for path in _mappings(whole):
        for value in (1, {WORD: 1}, [0, 1]):
            changed = copy.deepcopy(whole)
            its = changed
            for key in path:
                its = its[key]
            its[WORD] = value
            yield f"{value} in {'.'.join(map(str, path)) or 'the file'}", dump(changed).encode()


def _json(data: bytes) -> Iterator[Planted]:
    yield from _keys(data, json.dumps)
    first = data.index(b"{") + 1
    name = data[first : data.index(b":", first)]
    yield "a key twice", data[:first] + name + b": 0, " + data[first:]


def _yaml(data: bytes) -> Iterator[Planted]:
    yield from _keys(data, yaml.safe_dump)


def _csv(data: bytes) -> Iterator[Planted]:
    head, *rows = data.decode().splitlines()
    yield "column", "\n".join([f"{head},{WORD}", *(f"{row},1" for row in rows), ""]).encode()
    yield "cell", "\n".join([head, *(f"{row},{WORD}" for row in rows), ""]).encode()


def _lines(data: bytes) -> Iterator[Planted]:
    lines = data.decode().splitlines()
    for index, line in enumerate(lines):
        said, mark, comment = line.partition(" #")
        words = said.split(" ")
        for place in range(len(words) + 1):
            for more in (WORD, f"{WORD} 7", f"{WORD}=7"):
                changed = " ".join([*words[:place], more, *words[place:]]) + mark + comment
                file = "\n".join([*lines[:index], changed, *lines[index + 1 :], ""])
                yield f"'{more}' before word {place} of line {index + 1}", file.encode()
    for index in range(len(lines) + 1):
        for more in (f"{WORD} 7", f"{WORD}=7"):
            changed = [*lines[:index], more, *lines[index:]]
            yield f"'{more}' as line {index + 1}", "\n".join([*changed, ""]).encode()


def _events(data: bytes) -> Iterator[Planted]:
    """Yield files with one JSON object a line, as NCCL's profiler writes them."""
    yield from _lines(data)
    lines = data.decode().splitlines()
    for index, line in enumerate(lines):
        if line.startswith('{"'):
            for what, one in _json(line.removesuffix(",").encode()):
                changed = [*lines[:index], f"{one.decode()},", *lines[index + 1 :], ""]
                yield f"{what} in line {index + 1}", "\n".join(changed).encode()


def _protobuf(data: bytes) -> Iterator[Planted]:
    messages = list(frames(io.BytesIO(data)))
    for index in range(len(messages)):
        attribute = (2 if index == 0 else 10, encoded([(1, WORD), (9, 1)]))
        for what, more in (
            ("field", encoded([(FIELD, 1)])),
            ("attribute", encoded([attribute])),
            ("field of an attribute", encoded([(attribute[0], encoded([(1, WORD), (FIELD, 1)]))])),
        ):
            changed = [*messages[:index], messages[index] + more, *messages[index + 1 :]]
            yield f"{what} in message {index}", framed(changed)


def _binary(data: bytes) -> Iterator[Planted]:
    """Yield files of GOAL with bytes that no rank has."""
    yield "bytes at the end", data + WORD.encode()
    ranks = struct.unpack_from("<QI", data)[1]
    first = 14 + 16 * ranks
    ends = struct.unpack_from(f"<{2 * ranks}Q", data, 14)
    moved = struct.pack(f"<{2 * ranks}Q", *(end + len(WORD) for end in ends))
    yield "bytes behind the head", data[:14] + moved + WORD.encode() + data[first:]


_BY_KIND = {
    "xml": _xml, "json": _json, "yaml": _yaml, "csv": _csv, "lines": _lines,
    "events": _events,
    "protobuf": _protobuf, "binary": _binary,
}  # fmt: skip
