# SPDX-License-Identifier: GPL-2.0-only
"""Programs of MSCCL (XML): what stands in a file, checked word by word.

Source: microsoft/msccl and msccl-tools, read without their code.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree

from pyorch.collective._chunks import KEY, Place
from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, unused_of, xml_root

#: Names there to operations here.
OPERATIONS = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
    "reduce_scatter": "reduce_scatter", "alltoall": "all_to_all",
}  # fmt: skip
#: What a step does: it receives, adds, stores in `dst`, sends.
TYPES = {
    "nop": "", "cpy": "c", "re": "a", "s": "s", "r": "rc", "rcs": "rcs", "rrc": "rac",
    "rrcs": "racs", "rrs": "ras",
}  # fmt: skip
BUFFERS = ("i", "o", "s")
#: What is used of each element, or says again what follows from its place; all else is named.
_USED = {
    "algo": "name coll ngpus nchunksperloop inplace",
    "gpu": "id i_chunks o_chunks s_chunks",
    "tb": "id send recv chan",
    "step": "s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep",
}
_MOST_BYTES, _MOST_STEPS, _MOST_CHUNKS, _MOST_GPUS = 64 * 2**20, 10**6, 2**16, 2**12
#: Chunks on all ranks together, those that all steps move, and messages: what is followed of them
#: grows with the first two and with the square of the third. Public programs have 8064 messages.
_MOST_HELD, _MOST_MOVED, _MOST_SENDS = 10**6, 10**6, 2**16
_WHOLE = re.compile(r"-?[0-9]{1,9}", re.ASCII)


class Step(NamedTuple):
    """One step of a thread block; `after` is the step of another block that it waits for."""

    does: str
    source: Place
    target: Place
    count: int  # type: ignore[assignment]  # hides that of tuples
    after: tuple[int, int] | None


class Block(NamedTuple):
    """A thread block: whom it sends to and receives from over a channel, -1: nobody."""

    send: int
    receive: int
    channel: int
    steps: list[Step]


class Program(NamedTuple):
    """A file: thread blocks of each rank; a vector has so many `chunks`.

    `unused` are elements and attributes that decide nothing.
    """

    name: str
    operation: str
    chunks: int
    in_place: bool
    blocks: list[dict[int, Block]]
    unused: str


def read(file: FileRef) -> Program:
    """Return what a file says; FieldError names the place of what is wrong."""
    where, root = file["path"], xml_root(file, KEY, "algo", _MOST_BYTES)
    known = _Reader(where)
    operation = root.get("coll", "")
    if operation not in OPERATIONS:
        raise FieldError(
            KEY, f"{where}: coll: {quoted(operation)} is none of {', '.join(OPERATIONS)}."
            f"{did_you_mean(operation, OPERATIONS)}",
        )  # fmt: skip
    ranks = known.number(root, "ngpus", "algo", 2, _MOST_GPUS)
    gpus = {known.number(gpu, "id", "gpu", 0, ranks - 1): gpu for gpu in root.iter("gpu")}
    if len(gpus) != ranks or len(list(root.iter("gpu"))) != ranks:
        raise FieldError(KEY, f"{where}: ngpus is {ranks}, but there are {len(gpus)} gpu.")
    if len(list(root.iter("step"))) > _MOST_STEPS:
        raise FieldError(KEY, f"{where}: more than {_MOST_STEPS} steps.")
    chunks = known.number(root, "nchunksperloop", "algo", 1, _MOST_CHUNKS)
    _check_most(where, {"chunks of all ranks": (ranks * chunks, _MOST_HELD)})
    if (in_place := root.get("inplace", "0")) not in ("0", "1"):
        raise FieldError(KEY, f"{where}: algo: inplace {quoted(in_place)} is neither 0 nor 1.")
    blocks = [dict(known.blocks(gpus[rank], rank, ranks, in_place == "1")) for rank in range(ranks)]
    steps = [step for own in blocks for block in own.values() for step in block.steps]
    _check_most(where, {
        "chunks in all steps": (sum(step.count for step in steps), _MOST_MOVED),
        "messages": (sum("s" in step.does for step in steps), _MOST_SENDS),
    })  # fmt: skip
    return Program(
        root.get("name", ""), OPERATIONS[operation], chunks, in_place == "1", blocks,
        unused_of(root, _USED),
    )  # fmt: skip


def _check_most(where: str, numbers: dict[str, tuple[int, int]]) -> None:
    """Raise FieldError for a number that is above its limit."""
    for what, (number, most) in numbers.items():
        if number > most:
            raise FieldError(KEY, f"{where}: {number:,} {what}; at most {most:,}.")


class _Reader:
    """What is read of one file."""

    def __init__(self, where: str):
        self._where = where

    def number(
        self, element: ElementTree.Element, name: str, at: str, least: int, most: int
    ) -> int:
        """Return a whole number that an element has."""
        word = element.get(name)
        if word is None or not _WHOLE.fullmatch(word) or not least <= int(word) <= most:
            raise FieldError(
                KEY, f"{self._where}: {at}: {name} {quoted(word)} is no whole number, {least} to"
                f" {most}.",
            )  # fmt: skip
        return int(word)

    def blocks(
        self, gpu: ElementTree.Element, rank: int, ranks: int, in_place: bool
    ) -> Iterator[tuple[int, Block]]:
        """Yield the thread blocks of a rank by their numbers."""
        seen = set()
        connected: dict[tuple[str, int, int], int] = {}
        sizes = {
            name: self.number(gpu, f"{name}_chunks", f"gpu {rank}", 0, _MOST_CHUNKS)
            for name in BUFFERS
        }
        if in_place:  # two names of one buffer
            sizes |= dict.fromkeys("io", max(sizes["i"], sizes["o"]))
        for block in gpu.iter("tb"):
            at = f"gpu {rank}"
            number = self.number(block, "id", at, 0, _MOST_STEPS)
            if number in seen:
                raise FieldError(KEY, f"{self._where}: {at}: tb {number} stands twice.")
            seen.add(number)
            at = f"{at}, tb {number}"
            send, receive = (self.number(block, n, at, -1, ranks - 1) for n in ("send", "recv"))
            if rank in (send, receive):
                raise FieldError(KEY, f"{self._where}: {at}: a rank does not send to itself.")
            steps = self._steps(block, sizes, at)
            channel = self.number(block, "chan", at, 0, _MOST_STEPS)
            for what, peer in (("sends to", send), ("receives from", receive)):
                other = connected.setdefault((what, peer, channel), number)
                if peer >= 0 and other != number:
                    raise FieldError(
                        KEY, f"{self._where}: {at}: tb {other} {what} {peer} over channel"
                        f" {channel}, too. Give each its own channel.",
                    )  # fmt: skip
            found = Block(send, receive, channel, steps)
            for i, step in enumerate(steps):
                peers = {"s": send, "r": receive}
                if any(peer < 0 and letter in step.does for letter, peer in peers.items()):
                    raise FieldError(
                        KEY, f"{self._where}: {at}, step {i}: its thread block has no such peer."
                    )
            yield number, found

    def _steps(self, block: ElementTree.Element, sizes: dict[str, int], at: str) -> list[Step]:
        """Return the steps of a thread block by their numbers."""
        elements = list(block.iter("step"))
        found: dict[int, Step] = {}
        for element in elements:
            number = self.number(element, "s", at, 0, len(elements) - 1)
            if number in found:
                raise FieldError(KEY, f"{self._where}: {at}: step {number} stands twice.")
            found[number] = self.step(element, sizes, f"{at}, step {number}")
        return [found[number] for number in range(len(elements))]

    def step(self, step: ElementTree.Element, sizes: dict[str, int], at: str) -> Step:
        """Return one step; `sizes` are chunks of each buffer of its rank."""
        kind = step.get("type", "")
        if kind not in TYPES:
            raise FieldError(
                KEY, f"{self._where}: {at}: type {quoted(kind)} is none of {', '.join(TYPES)}."
            )
        places = []
        for end in ("src", "dst"):
            buffer = step.get(f"{end}buf", "")
            if buffer not in BUFFERS:
                raise FieldError(
                    KEY, f"{self._where}: {at}: {end}buf {quoted(buffer)} is none of"
                    f" {', '.join(BUFFERS)}.",
                )  # fmt: skip
            least = 0 if TYPES[kind] else -1
            places.append((buffer, self.number(step, f"{end}off", at, least, _MOST_CHUNKS)))
        count = self.number(step, "cnt", at, 1 if TYPES[kind] else 0, _MOST_CHUNKS)
        block = self.number(step, "depid", at, -1, _MOST_STEPS)
        after = None
        if block >= 0:
            after = (block, self.number(step, "deps", at, 0, _MOST_STEPS))
        does = TYPES[kind]
        # The other place of a send or a receive is one of the peer, and is not used.
        reads, stores = does and ("r" not in does or "a" in does), "c" in does or does == "a"
        for end, is_own, (buffer, first) in zip(
            ("src", "dst"), (reads, stores), places, strict=True
        ):
            if is_own and first + count > sizes[buffer]:
                raise FieldError(
                    KEY, f"{self._where}: {at}: {end}off {first} and cnt {count} reach beyond the"
                    f" {sizes[buffer]} chunks of buffer {buffer}.",
                )  # fmt: skip
        return Step(does, places[0], places[1], count, after)
