# SPDX-License-Identifier: GPL-2.0-only
"""The wire format of protobuf: numbered fields of whole numbers, texts and messages; no schema."""

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from typing import BinaryIO

from pyorch.spec.limits import LARGEST_TEXT_BYTES

Value = int | str | bytes | Sequence[int]
_LONGEST_VARINT, _BLOCK_BYTES = 10, 2**20
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Message:
    """What the fields of a message hold, by their numbers; what is not there is zero or empty."""

    def __init__(self, values: dict[int, list[int | bytes]]):
        self._values = values

    def has(self, field: int) -> bool:
        """Return whether the field is there."""
        return field in self._values

    def others(self, known: Container[int]) -> set[int]:
        """Return the numbers of fields that are not known."""
        return {field for field in self._values if field not in known}

    def number(self, field: int) -> int:
        """Return a whole number; the last if there are several."""
        value = self._values.get(field, [0])[-1]
        if isinstance(value, bytes):
            raise ValueError(f"field {field} is no number")
        return value

    def numbers(self, field: int) -> list[int]:
        """Return a list of whole numbers, packed or not."""
        found: list[int] = []
        for value in self._values.get(field, []):
            place = 0
            while isinstance(value, bytes) and place < len(value):
                number, place = _varint(value, place)
                found.append(number)
            if not isinstance(value, bytes):
                found.append(value)
        return found

    def text(self, field: int) -> str:
        """Return a text."""
        value = self._values.get(field, [b""])[-1]
        return value.decode(errors="replace") if isinstance(value, bytes) else ""

    def messages(self, field: int) -> list[bytes]:
        """Return messages that are not read yet."""
        return [value for value in self._values.get(field, []) if isinstance(value, bytes)]


def frames(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the messages of a stream, each behind its length.

    Raises
    ------
    ValueError
        It ends within one, or one is too large.
    """
    data, place = b"", 0
    while True:
        if len(data) - place < _LONGEST_VARINT:
            data, place = data[place:] + stream.read(_BLOCK_BYTES), 0
            if not data:
                return
        size, place = _varint(data, place)
        if len(data) - place < size <= LARGEST_TEXT_BYTES:
            data, place = data[place:] + stream.read(max(size, _BLOCK_BYTES)), 0
        if len(data) - place < size:
            raise ValueError(
                f"ends within a message of {size} bytes, or it is one of more than"
                f" {LARGEST_TEXT_BYTES}: the file is cut short, or is no stream of protobuf"
            )
        yield data[place : place + size]
        place += size


def fields(data: bytes) -> Message:
    """Return the fields of one message."""
    values: dict[int, list[int | bytes]] = defaultdict(list)
    place = 0
    value: int | bytes
    while place < len(data):
        key, place = _varint(data, place)
        field, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
        else:
            if kind == _BYTES:
                size, place = _varint(data, place)
            elif kind in (_FIXED64, _FIXED32):
                size = 8 if kind == _FIXED64 else 4
            else:
                raise ValueError(f"field {field} has wire type {kind}, which there is not")
            if place + size > len(data):
                raise ValueError(f"field {field} is longer than its message: the file is cut short")
            value = data[place : place + size]
            place += size
        values[field].append(value)
    return Message(values)


def encoded(values: Sequence[tuple[int, Value]], *, zeros: bool = False) -> bytes:
    """Return a message; numbers that are 0 and empty lists are left out, or kept with `zeros`."""
    found = b""
    for field, value in values:
        if isinstance(value, int):
            if value or zeros:
                found += _as_varint(field << 3 | _VARINT) + _as_varint(value)
            continue
        if isinstance(value, str):
            value = value.encode()
        elif not isinstance(value, bytes):
            value = b"".join(map(_as_varint, value))
            if not value:
                continue
        found += _as_varint(field << 3 | _BYTES) + _as_varint(len(value)) + value
    return found


def framed(messages: Sequence[bytes]) -> bytes:
    """Return messages as a stream, each behind its length."""
    return b"".join(_as_varint(len(message)) + message for message in messages)


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 64:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            if value >= 2**64:
                break
            return value, place
    raise ValueError(
        "ends within a number, or has one of more than 64 bits: the file is cut short, or is no"
        " stream of protobuf"
    )


def _as_varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])
