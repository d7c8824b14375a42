# SPDX-License-Identifier: GPL-2.0-only
"""Lines of a log of NCCL or RCCL: communicators as each rank has them, and calls, in their order.

Source: NVIDIA/nccl 2.4 to 2.30, src/init.cc and src/enqueue.cc, and ROCm/rccl, read without their
code.
"""

import codecs
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, BinaryIO

from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import blocks, listed
from pyorch.spec.limits import MOST_NODES
from pyorch.trace_format._nccl_calls import P2P, TYPE_BYTES, Calls, Member, Operation

_LONGEST_LINE = 4096
_GZIP = b"\x1f\x8b"
_MARKS = (b": opCount ", b" - Init COMPLETE")
_FROM = rb"(?P<before>.*?)(?P<host>[^\s:\[\]()<>]+):(?P<pid>\d+):\d+ \[(?P<gpu>-?\d+)\](?: \d+)? "
_OPERATION = re.compile(
    _FROM + rb"NCCL INFO (?P<name>\w+): opCount (?P<turn>[0-9a-f]+) sendbuff \S+ recvbuff \S+"
    rb"(?: acc \S+)? count (?P<count>\d{1,19}) datatype (?P<type>\d{1,3}) op -?\d+"
    rb" root (?P<root>-?\d{1,9}) comm (?P<comm>\S+) \[nranks=(?P<ranks>\d{1,9})\]"
    rb" stream (?P<stream>\S+)(?: task \d+ globalrank (?P<global>\d{1,9}))?\s*"
)
_INIT = re.compile(
    _FROM + rb"NCCL INFO (?:\w+ )?comm (?P<comm>\S+) rank (?P<rank>\d{1,9})"
    rb" nranks (?P<ranks>\d{1,9}) cudaDev (?P<device>\d{1,9})(?P<rest>.*?) - Init COMPLETE\s*"
)
_ID = re.compile(rb" commId (\S+)")
_PARENT = re.compile(rb" parent (\S+)")
_COLOR = re.compile(rb" color (-?\d+)")
#: What NCCL and RCCL print of a communicator and its GPU behind its rank.
_OF_INIT = (
    b"nvmlDev", b"busId", b"commId", b"commHash", b"parent", b"splitCount", b"childCount", b"color",
    b"key", b"localSize", b"used", b"bytes", b"on", b"core",
)  # fmt: skip
_VALUE = re.compile(rb"-?(?:0x)?[0-9a-fA-F]+|\(nil\)")
_CLOCK = re.compile(rb"\d\d:\d\d:\d\d")
_DIGITS = re.compile(r"\d+")

Process = tuple[bytes, bytes]


class Log(Calls):
    """What the lines of a log say; others are not kept. A rank or communicator -1: no line says it.

    Parameters
    ----------
    stream : binary file
        All lines.
    where, key : str
        File and key of the scenario, for messages.

    Raises
    ------
    FieldError
        A line is damaged or contradicts others, or none is of an operation.
    """

    def __init__(self, stream: BinaryIO, where: str, key: str):
        super().__init__(where, key)
        self._unused: set[bytes] = set()
        self._words: dict[bytes, bytes] = {}
        self._has_init = False
        self._unnamed: tuple[int, bytes] | None = None  # the first line of one without a name
        self._groups: dict[tuple[Any, ...], int] = {}
        self._read_lines(stream)

    def _read_lines(self, stream: BinaryIO) -> None:
        """Take members and operations from the lines."""
        live: dict[tuple[Process, bytes], int] = {}
        turns: Counter[tuple[Any, ...]] = Counter()
        timed = False
        for at, line in _marked(self._texts(stream)):
            if len(line) > _LONGEST_LINE:
                raise self.error(at, f"a line of more than {_LONGEST_LINE} characters.")
            if _MARKS[1] in line:
                self._has_init = True
                if self._unnamed:
                    raise self._lacks_init(*self._unnamed)
                self._initialised(line, at, live, turns)
                continue
            match = _OPERATION.fullmatch(line)
            if match is None or line.count(b": opCount ") > 1:
                raise self.error(at, "is no whole line of an operation. Is it cut, or two in one?")
            timed |= bool(_CLOCK.search(match["before"]))
            self._called(match, at, live)
        if not self.operations:
            raise self.refused(
                "has no line of an operation. Write the log with NCCL_DEBUG=INFO and"
                " NCCL_DEBUG_SUBSYS=INIT,COLL."
            )
        if not self._has_init:
            self._number_ranks()
        if self._unused:
            names = listed(name.decode("ascii", "replace") for name in self._unused)
            self.said.append(f"not used of communicators: {names}")
        if timed:
            self.said.append("times of lines are not used: they are those of calls on the host")
        if n_ranks := self._uncounted_ranks():
            self.said.append(
                f"{n_ranks} ranks send to or receive from a peer again at one opCount, which is one"
                " group here: NCCL from 2.27 on counts nothing inside a node, so it may have been"
                " several, which the events of its profiler tell apart"
            )

    def _uncounted_ranks(self) -> int:
        """Return how many ranks name a peer twice in a group although their opCount never rises."""
        turns: dict[int, set[bytes]] = defaultdict(set)
        group: dict[int, set[tuple[str, int]]] = defaultdict(set)
        again = set()
        for operation in self.operations:
            member, call = operation.member, (operation.name, operation.root)
            turns[member].add(operation.turn)
            if operation.name not in P2P:
                group[member].clear()
                continue
            if call in group[member]:
                again.add(member)
            group[member].add(call)
        return sum(len(turns[member]) == 1 for member in again)

    def _texts(self, stream: BinaryIO) -> Iterator[bytes]:
        """Yield pieces of the log; refuse one that is packed, or has other bytes for its text."""
        its = blocks(stream, _LONGEST_LINE)
        first = next(its, b"")
        if first.startswith(_GZIP):
            raise self.refused("is packed with gzip. Unpack it.")
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self.refused("is a text in UTF-16. Write it in UTF-8.")
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from its

    def _initialised(
        self, line: bytes, at: int, live: dict[tuple[Process, bytes], int], turns: Counter
    ) -> None:
        """Note what a communicator is on one rank; a pointer may have been of another before."""
        match = _INIT.fullmatch(line)
        if match is None:
            raise self.error(at, "is no whole line of a communicator. Is it cut, or two in one?")
        process = match["host"], match["pid"]
        device = (*process, int(match["device"]))
        ranks, rank = int(match["ranks"]), int(match["rank"])
        if not 0 <= rank < ranks <= MOST_NODES:
            raise self.error(at, f"rank {rank} of {ranks} ranks; at most {MOST_NODES:,} ranks.")
        parent, own = _PARENT.search(match["rest"]), _ID.search(match["rest"])
        self._unused |= {word for word in match["rest"].split()
                         if word not in _OF_INIT and not _VALUE.fullmatch(word)}  # fmt: skip
        name: tuple[Any, ...]
        if parent:
            if (process, parent[1]) not in live:
                raise self.error(at, f"its parent {_shown(parent[1])} is in no line before.")
            color = _COLOR.search(match["rest"])
            name = (self.members[live[process, parent[1]]].group, color[1] if color else b"")
        else:
            name = (own[1],) if own else (ranks,)
        if parent or not own:  # the k-th of its kind on each rank
            turns[device, name] += 1
            name += (turns[device, name],)
        group = self._groups.setdefault(name, len(self._groups))
        live[process, match["comm"]] = len(self.members)
        self.members.append(Member(group, rank, ranks, device, at))

    def _lacks_init(self, at: int, comm: bytes) -> FieldError:
        return self.error(
            at, f"communicator {_shown(comm)} of this process has no line `Init COMPLETE` before."
            " Is the beginning of the log missing?",
        )  # fmt: skip

    def _called(self, match: re.Match, at: int, live: dict[tuple[Process, bytes], int]) -> None:
        """Note one operation."""
        name, kind = sys.intern(match["name"].decode()), int(match["type"])
        self.check_name(at, name)
        if kind >= len(TYPE_BYTES):
            raise self.error(at, f"datatype {kind} is none of 0 to {len(TYPE_BYTES) - 1}.")
        comm, ranks = ((match["host"], match["pid"]), match["comm"]), int(match["ranks"])
        if comm not in live:
            if self._has_init:
                raise self._lacks_init(at, comm[1])
            self._unnamed = self._unnamed or (at, comm[1])
            if not 1 <= ranks <= MOST_NODES:
                raise self.error(at, f"{ranks} ranks; at most {MOST_NODES:,}.")
            rank = int(match["global"]) if match["global"] else -1
            live[comm] = len(self.members)
            device = (*comm[0], int(match["gpu"]), comm[1])
            self.members.append(Member(-1, rank, ranks, device, at))
        member = live[comm]
        if ranks != self.members[member].ranks:
            raise self.error(
                at, f"nranks is {ranks}, but its communicator has {self.members[member].ranks}."
            )
        size, root = int(match["count"]) * TYPE_BYTES[kind], int(match["root"])
        stream, turn = (self._words.setdefault(match[word], match[word])
                        for word in ("stream", "turn"))  # fmt: skip
        self.add(Operation(at, name, member, size, root, stream, turn))

    def _number_ranks(self) -> None:
        """Number the ranks of a log without lines of communicators, which must have one."""
        members = self.members
        ranks = members[0].ranks
        processes = {member.device[:2] for member in members}
        whole = len(members) == ranks or len(members) < ranks and len(processes) == len(members)
        if any(member.ranks != ranks for member in members) or not whole:
            raise self.refused(
                "has no lines of communicators, and operations of more than one, or of some of"
                f" the {ranks} ranks in one process."
                " Write the log with NCCL_DEBUG_SUBSYS=INIT,COLL."
            )
        numbers = [member.rank for member in members]
        if -1 in numbers:
            for operation in self.operations:
                if operation.name in P2P or operation.root:
                    raise self.error(
                        operation.at, "names a rank, but the log has no lines of communicators."
                        " Write it with NCCL_DEBUG_SUBSYS=INIT,COLL.",
                    )  # fmt: skip
            order = sorted(range(len(members)), key=lambda i: (_natural(members[i].device), i))
            for number, index in enumerate(order):
                numbers[index] = number
            self.said.append("no line says the ranks: they are in the order of hosts and GPUs")
        self.members[:] = [
            member._replace(rank=number) for member, number in zip(members, numbers, strict=True)
        ]
        if any(member.rank >= ranks for member in self.members):
            raise self.refused(f"a globalrank is none of {ranks} ranks.")


def _marked(texts: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of each line that may be of NCCL's operations."""
    number = 1
    for block in texts:
        places = [block.find(mark) for mark in _MARKS]
        begin = 0
        while found := [place for place in places if place >= 0]:
            first = block.rfind(b"\n", begin, min(found)) + 1 or begin
            end = block.find(b"\n", first)
            end = len(block) if end < 0 else end
            number += block.count(b"\n", begin, first)
            yield number, block[first:end]
            begin = end
            places = [place if place < 0 or place >= end else block.find(mark, end)
                      for place, mark in zip(places, _MARKS, strict=True)]  # fmt: skip
        number += block.count(b"\n", begin)


def _shown(pointer: bytes) -> str:
    return quoted(pointer[:40].decode("ascii", "replace"))


def _natural(device: tuple[Any, ...]) -> tuple[str, int]:
    """Return a key by which host 10 comes after host 9."""
    host = device[0].decode("utf-8", "replace")
    return _DIGITS.sub(lambda digits: digits[0].zfill(20), host), device[2]
