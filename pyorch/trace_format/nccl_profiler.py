# SPDX-License-Identifier: GPL-2.0-only
"""Events that NCCL's example profiler writes: operations of each communicator, with their numbers.

A file is one of the plug-in, or those of all ranks one after the other. Each event is a line. A
group holds calls (``COLL_API``, ``P2P_API``), and these hold what NCCL made of them (``COLL``,
``P2P``). Before NCCL 2.28 a group holds the latter, and streams and roots are not written.

Source: NVIDIA/nccl 2.23 to 2.30, ext-profiler/example and plugins/profiler/example, print_event.cc
and plugin.cc, read without their code.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pyorch.errors import did_you_mean, quoted
from pyorch.spec import messages
from pyorch.spec.fields import FieldError
from pyorch.spec.files import json_value, listed, opened
from pyorch.spec.limits import MOST_NODES
from pyorch.trace_format import _nccl_tasks
from pyorch.trace_format._nccl_calls import P2P, TYPE_BYTES, Calls, Member, Operation
from pyorch.training.foreign import Asked, Trace

USES = ("algorithms", "step_delay")
_LONGEST_LINE = 4096
#: ncclDataType_t as the plug-in writes it, which wrote its number at first.
_TYPES = (
    "ncclInt8", "ncclUint8", "ncclInt32", "ncclUint32", "ncclInt64", "ncclUint64", "ncclFloat16",
    "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2",
)  # fmt: skip
_GROUPS = ("GROUP_API", "GROUP")
_APIS = ("COLL_API", "P2P_API")
_DONE = ("COLL", "P2P")
_CATEGORY = re.compile(rb'"cat": ?"(\w+)"')
#: NCCL 2.28 writes types and streams of calls without quotation marks, which is no JSON.
_BARE = re.compile(r'("(?:datatype|Stream)": ?)(\w+|\(nil\))(?=[,}])')


class _Args(BaseModel):
    """What all kinds of events may have; `model_extra` is what no version writes."""

    model_config = ConfigDict(extra="allow", strict=True)


class _Call(_Args):
    """A call; `Stream` and `root` are used."""

    stream: str = Field("", alias="Stream")
    root: int = Field(0, ge=0)
    count: int | None = None
    datatype: str | None = None
    captured: int | None = Field(None, alias="GraphCaptured")


class _Done(_Args):
    """What NCCL made of a call, as one of its ranks does it."""

    comm: int = Field(alias="CommHash")
    rank: int = Field(alias="Rank", ge=0, lt=MOST_NODES)
    count: int = Field(alias="Count", ge=0)
    datatype: str | int = Field(alias="Datatype")
    channels: int | None = Field(None, alias="nChannels")


class _Coll(_Done):
    """A collective; `number` is its turn among those of its kind in the communicator."""

    number: int = Field(alias="SeqNum", ge=0)
    algorithm: str | None = Field(None, alias="Algorithm")
    protocol: str | None = Field(None, alias="Protocol")
    most_channels: int | None = Field(None, alias="nMaxChannels")


class _P2p(_Done):
    """A send or recv."""

    peer: int = Field(alias="Peer", ge=0, lt=MOST_NODES)


class _Group(_Args):
    """A group of calls."""

    api_id: int | None = Field(None, alias="groupApiId")
    depth: int | None = Field(None, alias="groupDepth")
    group_id: int | None = Field(None, alias="groupId")


_ARGS: dict[str, type[_Args]] = {
    "GROUP_API": _Group, "GROUP": _Group, "COLL_API": _Call, "P2P_API": _Call, "COLL": _Coll,
    "P2P": _P2p,
}  # fmt: skip


class _Event(_Args):
    """One line."""

    name: str
    category: str = Field(alias="cat")
    phase: str = Field(alias="ph", pattern="^[be]$")
    id: int
    pid: int
    tid: int
    at_us: float = Field(alias="ts", allow_inf_nan=False)
    args: dict[str, Any] = {}


@dataclass(slots=True)
class _Scope:
    """An event that has begun."""

    at: int
    event: _Event
    args: Any
    holds: int = 0


@dataclass(slots=True)
class _Found:
    """An operation before the ranks of its communicator are known."""

    at: int
    name: str
    pid: int
    args: Any
    call: _Call | None
    group: int
    at_us: float  # of its group


def read(asked: Asked) -> Trace:
    """Return the tasks of the events of all ranks."""
    with opened(asked.files[0]) as stream:
        events = _Events(stream, asked.where, asked.key)
    return _nccl_tasks.trace(asked, events)


class _Events(Calls):
    """What the events of a file say."""

    def __init__(self, stream: BinaryIO, where: str, key: str):
        super().__init__(where, key)
        self._open: list[_Scope] = []
        self._unused: set[str] = set()
        self._other_events: set[str] = set()
        self._groups = 0
        found = list(self._read(stream))
        if not found:
            raise self.refused(
                "has no event of an operation. Set NCCL_PROFILE_EVENT_MASK to 6 (collectives, and"
                " sends and recvs), and join the files of all ranks."
            )
        self._number(found)
        self._check_numbers(found)
        self.said += [
            "its times say only the order of the operations of one process",
            "algorithms, protocols and channels of NCCL are not used",
        ]
        if self._other_events:
            self.said.append(f"events of {listed(self._other_events)} are not used")
        if self._unused:
            self.said.append(f"not used: {listed(self._unused)}")

    # ---- Lines -------------------------------------------------------------------------------

    def _read(self, stream: BinaryIO) -> Iterator[_Found]:
        """Yield the operations of all lines."""
        begun = 0  # the line at which a file begins, 0 between files
        at = 0
        while line := stream.readline(_LONGEST_LINE + 1):
            at += 1
            if len(line) > _LONGEST_LINE:
                raise self.error(at, f"a line of more than {_LONGEST_LINE} characters.")
            line = line.strip()
            if not line:
                continue
            if not begun or line == b"[":
                if begun or line != b"[":
                    raise self.error(
                        at, "a file of NCCL's profiler has `[` in its first line, an event in each"
                        " line, and `{}]` in its last. Is one cut short?",
                    )  # fmt: skip
                begun = at
            elif line == b"{}]":
                if self._open:
                    raise self._unfinished(at)
                begun = 0
            elif (category := _CATEGORY.search(line)) and category[1].decode() not in _ARGS:
                if category[1] == b"CE_COLL":
                    raise self.error(
                        at, "a collective of the GPU's copy engines names no communicator. Leave"
                        " these engines out.",
                    )  # fmt: skip
                self._other_events.add(category[1].decode())
            else:
                yield from self._event(at, line)
        if begun:
            raise self.error(at, "the file ends without `{}]`. Is it cut short?")

    def _event(self, at: int, line: bytes) -> Iterator[_Found]:
        """Take one event, and yield the operation that it is."""
        given = line.decode("utf-8", "replace").removesuffix(",")
        value = json_value(_BARE.sub(r'\1"\2"', given), f"{self._where}:{at}", self._key)
        event = self._checked(at, _Event, value, "")
        if event.phase == "e":
            self._end(at, event)
            return
        if event.category not in _ARGS:
            raise self.error(
                at, f"category {quoted(event.category)} is none of {', '.join(_ARGS)}."
                f"{did_you_mean(event.category, list(_ARGS))}",
            )  # fmt: skip
        args = self._checked(at, _ARGS[event.category], event.args, "args.")
        outer = self._open[-1] if self._open else None
        outside = outer.event.category if outer else ""
        may_be_in = {"COLL": ("COLL_API", "GROUP"), "P2P": ("P2P_API", "GROUP")}
        allowed = may_be_in.get(event.category, _GROUPS if event.category in _APIS else ("",))
        if outside not in allowed:
            inside = f"a {' or '.join(allowed)}" if allowed != ("",) else "no other"
            raise self.error(at, f"{event.category} stands in {inside} event. Is a line missing?")
        self._open.append(_Scope(at, event, args))
        self._groups += event.category in _GROUPS
        if outer:
            outer.holds += 1
        if event.category in _DONE:
            call = outer.args if outer and outside in _APIS else None
            group = self._open[0].event
            yield _Found(at, event.name, event.pid, args, call, self._groups, group.at_us)

    def _end(self, at: int, event: _Event) -> None:
        """Take the end of the event that has begun last."""
        scope = self._open.pop() if self._open else None
        known = scope and (scope.event.category, scope.event.name, scope.event.id)
        if not scope or known != (event.category, event.name, event.id):
            raise self.error(
                at, f"{event.category} {quoted(event.name)} ends, but has not begun last. Is a line"
                " missing?",
            )  # fmt: skip
        if event.category in _APIS and not scope.holds:
            kind = event.category.removesuffix("_API")
            raise self.error(
                scope.at, f"the call of {quoted(event.name)} has no {kind} event: the profiler had"
                f" no room. Enlarge NCCL_PROFILE_{kind}_POOL_SIZE.",
            )  # fmt: skip

    def _checked(self, at: int, model: type[_Args], value: object, path: str) -> Any:
        """Return a value as its model, and note the keys that no version writes."""
        try:
            found = model.model_validate(value)
        except ValidationError as error:
            key, message = messages.first(error, model)
            raise self.error(at, f"{path}{'.'.join(map(str, key))}: {message}") from None
        self._unused |= {f"{path}{name}" for name in found.model_extra or {}}
        return found

    def _unfinished(self, at: int) -> FieldError:
        scope = self._open[-1]
        return self.error(
            at, f"the file ends, but {scope.event.category} {quoted(scope.event.name)} of line"
            f" {scope.at} does not. Is a line missing?",
        )  # fmt: skip

    # ---- Communicators and operations --------------------------------------------------------

    def _number(self, found: list[_Found]) -> None:
        """Make members of communicators, and operations in the order of each process."""
        first: dict[tuple[int, int], _Found] = {}
        for one in found:
            first.setdefault((one.args.comm, one.args.rank), one)
        ranks: Counter[int] = Counter()
        has: dict[int, set[int]] = defaultdict(set)
        for one in found:
            reach = max(one.args.rank, getattr(one.args, "peer", 0))
            ranks[one.args.comm] = max(ranks[one.args.comm], reach + 1)
            has[one.args.comm].add(one.args.rank)
        for comm, n_ranks in ranks.items():
            if lacks := sorted(set(range(n_ranks)) - has[comm]):
                raise self.refused(
                    f"communicator {comm} has rank {n_ranks - 1}, but no events of rank {lacks[0]}."
                    " Join the files of all ranks: cat FILE_*.json > all.json."
                )
        if max(ranks.values()) == 1:
            raise self.refused(
                f"has events of one rank alone, of communicator {next(iter(ranks))}. Join the files"
                " of all ranks: cat FILE_*.json > all.json."
            )
        is_one = len(ranks) == 1
        pids = Counter((comm, one.pid) for (comm, _), one in first.items())
        shared = next((key for key, times in pids.items() if times > 1), None)
        if shared and not is_one:
            raise self.refused(
                f"process {shared[1]} has several ranks of communicator {shared[0]}, or processes"
                " of several hosts have this number. So which ranks of several communicators are"
                " one GPU is not known. Read one communicator alone."
            )
        group = {comm: index for index, comm in enumerate(ranks)}
        members = {}
        for (comm, rank), one in first.items():
            members[comm, rank] = len(self.members)
            device = (rank,) if is_one else (one.pid,)
            self.members.append(Member(group[comm], rank, ranks[comm], device, one.at))
        sizes = listed(str(n) for n in sorted(set(ranks.values())))
        self.said.append(f"ranks of a communicator are those that it shows: {sizes}")
        if not is_one:
            self.said.append("each process is taken for a GPU")
        if any(one.call is None and one.name in ("Broadcast", "Reduce") for one in found):
            self.said.append("it has no roots, so rank 0 is taken")
        # Groups of a process by time; within one, and at one time, in the order of lines.
        for one in sorted(found, key=lambda one: one.at_us):
            self._take(one, members[one.args.comm, one.args.rank])

    def _take(self, one: _Found, member: int) -> None:
        """Add one operation."""
        self.check_name(one.at, one.name)
        args = one.args
        if (one.name in P2P) != isinstance(args, _P2p):
            raise self.error(one.at, f"{one.name} is of another category.")
        kind = args.datatype
        number = _TYPES.index(kind) if kind in _TYPES else kind
        if not isinstance(number, int) or not 0 <= number < len(TYPE_BYTES):
            raise self.error(
                one.at, f"datatype {quoted(str(kind))} is none of {', '.join(_TYPES)}."
                f"{did_you_mean(str(kind), _TYPES)}",
            )  # fmt: skip
        size = args.count * TYPE_BYTES[number]
        root = args.peer if isinstance(args, _P2p) else one.call.root if one.call else 0
        stream = one.call.stream if one.call and one.call.stream else f"of {args.comm}"
        self.add(
            Operation(
                one.at, one.name, member, size, root, stream.encode(), str(one.group).encode()
            )
        )

    def _check_numbers(self, found: list[_Found]) -> None:
        """Refuse collectives that a rank lacks: its numbers have a hole, or begin elsewhere."""
        numbers: dict[tuple[int, str], dict[int, list[_Found]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for one in found:
            if one.name not in P2P:
                numbers[one.args.comm, one.name][one.args.rank].append(one)
        for (_, name), by_rank in numbers.items():
            begins = {}
            for rank, ones in by_rank.items():
                ones.sort(key=lambda one: one.args.number)
                begins[rank] = ones[0]
                for before, one in zip(ones, ones[1:], strict=False):
                    # Captured ones are not counted, so a number may stand twice.
                    if one.args.number - before.args.number > 1:
                        raise self._lost(one, f"{name} {before.args.number + 1}")
            earliest = min(begins.values(), key=lambda one: one.args.number)
            for one in begins.values():
                if one.args.number != earliest.args.number:
                    raise self._lost(one, f"{name} {earliest.args.number}")
            if earliest.args.number:
                self.said.append(
                    f"{name} begins with number {earliest.args.number}: what was before is not in"
                    " the file"
                )

    def _lost(self, one: _Found, what: str) -> FieldError:
        return self.error(
            one.at, f"rank {one.args.rank} has {one.name} {one.args.number}, but not {what}: the"
            " profiler keeps the last ones alone. Enlarge NCCL_PROFILE_GROUP_API_POOL_SIZE,"
            " NCCL_PROFILE_COLL_API_POOL_SIZE and NCCL_PROFILE_COLL_POOL_SIZE.",
        )  # fmt: skip
