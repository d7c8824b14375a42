# SPDX-License-Identifier: GPL-2.0-only
"""Tasks of the operations of NCCL that the ranks of communicators have called.

Ranks of the trace are those of the largest communicator. Operations of a stream, and of a
communicator on a rank, follow each other. Sends and recvs of one rank in one group begin and end
together.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyorch.collective._graph import Call
from pyorch.spec.limits import MOST_TASKS
from pyorch.trace_format._nccl_calls import OPERATIONS, P2P, ROOTED, Calls, Operation
from pyorch.training.builder import Builder
from pyorch.training.foreign import Asked, Padded, Trace
from pyorch.training.graph import AT_RECEIVER, AT_SENDER, cycle


@dataclass(slots=True)
class _Entry:
    """What a rank begins and ends together: one operation, or a group of sends and recvs."""

    operations: list[Operation]
    member: int
    device: int = 0
    others: list[int] = field(default_factory=list)  # entries that it follows

    @property
    def is_p2p(self) -> bool:
        return self.operations[0].name in P2P


def trace(asked: Asked, calls: Calls) -> Trace:
    """Return the tasks of calls.

    Raises
    ------
    FieldError
        Ranks contradict each other, or what some of them do is not known.
    """
    return _Reader(asked, calls).trace()


class _Reader:
    """Makes tasks of the calls of one file."""

    def __init__(self, asked: Asked, calls: Calls):
        self._asked, self._calls = asked, calls
        self._members, self._operations = calls.members, calls.operations
        self._said = calls.said

    def trace(self) -> Trace:
        """Return them, and what is to be said of them."""
        groups = self._groups()
        devices = self._devices(groups)
        entries = self._entries(groups, devices)
        return self._built(entries, len(devices))

    # ---- Communicators and devices -----------------------------------------------------------

    def _groups(self) -> dict[int, dict[int, int]]:
        """Return the member of each rank of each communicator, which may lack some."""
        groups: dict[int, dict[int, int]] = defaultdict(dict)
        for index, member in enumerate(self._members):
            own = groups[member.group]
            if member.rank in own:
                first = self._members[own[member.rank]]
                raise self._calls.error(
                    member.at, f"rank {member.rank} of {member.ranks} is there already, in line"
                    f" {first.at}; which ranks of communicators of one size belong together, the"
                    " file does not say. Leave other communicators, or other runs, out.",
                )  # fmt: skip
            own[member.rank] = index
            if member.ranks != self._members[next(iter(own.values()))].ranks:
                raise self._calls.error(
                    member.at, f"its communicator has not {member.ranks} ranks."
                )
        return groups

    def _devices(self, groups: dict[int, dict[int, int]]) -> dict[tuple, int]:
        """Return the rank of the trace of each GPU: that in the largest communicator."""
        largest = max(
            groups.values(), key=lambda own: self._members[next(iter(own.values()))].ranks
        )
        n_ranks = self._members[next(iter(largest.values()))].ranks
        devices: dict[tuple, int] = {}
        for rank in range(n_ranks):
            named = self._members[largest[rank]].device if rank in largest else (rank,)
            if named in devices:
                raise self._calls.error(
                    self._members[largest[rank]].at, "its GPU has another rank already: a GPU with"
                    " two ranks of a communicator is not read.",
                )  # fmt: skip
            devices[named] = rank
        for member in self._members:
            if member.device not in devices:
                devices[member.device] = len(devices)
        if len(devices) > n_ranks:
            self._said.append(
                f"{len(devices) - n_ranks} GPUs are not in the largest communicator: they come"
                " after it, in the order of their lines"
            )
        return devices

    # ---- What ranks do -----------------------------------------------------------------------

    def _entries(
        self, groups: dict[int, dict[int, int]], devices: dict[tuple, int]
    ) -> list[_Entry]:
        """Return what ranks do one after the other, with that of ranks that it lacks.

        All ranks of a communicator do its collectives, so one of them says what the others do.
        """
        entries: list[_Entry] = []
        streams: dict[tuple[int, Any], int] = {}  # of a device, or a communicator: the last entry
        for operation in self._operations:
            member = self._members[operation.member]
            device = devices[member.device]
            last = streams.get((device, operation.member))
            if last is not None and operation.name in P2P and entries[last].is_p2p:
                before = entries[last].operations[-1]
                if (before.turn, before.stream) == (operation.turn, operation.stream):
                    entries[last].operations.append(operation)
                    continue
            others = {streams.get((device, its)) for its in (operation.member, operation.stream)}
            for its in (operation.member, operation.stream):
                streams[device, its] = len(entries)
            found = sorted(other for other in others if other is not None)
            entries.append(_Entry([operation], operation.member, device, found))
        used = {self._members[entry.member].group for entry in entries}
        for group in used:
            own = groups[group]
            if missing := sorted(set(range(self._size(own))) - own.keys()):
                is_all = len(used) == 1 and self._size(own) == len(devices)
                self._check_known(entries, is_all, missing, self._size(own))
                entries += self._copied(entries, min(own.values(), key=self._rank), missing)
                self._said.append(f"{len(missing)} ranks without lines do as the first that has"
                                  " some")  # fmt: skip
        if len(entries) > MOST_TASKS:
            raise self._calls.refused(
                f"{len(entries):,} operations of ranks; at most {MOST_TASKS:,}."
            )
        return entries

    def _rank(self, member: int) -> int:
        return self._members[member].rank

    def _size(self, own: dict[int, int]) -> int:
        return self._members[next(iter(own.values()))].ranks

    def _check_known(
        self, entries: list[_Entry], is_all: bool, missing: list[int], ranks: int
    ) -> None:
        """Raise FieldError unless what missing ranks do is known."""
        first = entries[0].operations[0]
        p2p = next((entry.operations[0] for entry in entries if entry.is_p2p), None)
        if is_all and p2p is None:
            if len(entries) + len(missing) * len(self._operations) > MOST_TASKS:
                raise self._calls.error(first.at, f"too many operations of {ranks:,} ranks.")
            return
        why = "operations of several communicators" if p2p is None else "sends"
        raise self._calls.error(
            (p2p or first).at, f"of a communicator of {ranks} ranks, {len(missing)} are not in the"
            f" file, rank {missing[0]} for example; with {why} it must have all. Join the logs"
            " of all ranks: cat nccl.*.log > all.log.",
        )  # fmt: skip

    def _copied(self, entries: list[_Entry], member: int, missing: list[int]) -> list[_Entry]:
        """Return the entries of a member once more for each missing rank."""
        own = [index for index, entry in enumerate(entries) if entry.member == member]
        place = {index: number for number, index in enumerate(own)}
        model, copies = self._members[member], []
        for rank in missing:
            first = len(entries) + len(copies)
            self._members.append(model._replace(rank=rank))
            for index in own:
                others = [first + place[other] for other in entries[index].others]
                copies.append(
                    _Entry(entries[index].operations, len(self._members) - 1, rank, others)
                )
        return copies

    # ---- Tasks -------------------------------------------------------------------------------

    def _built(self, entries: list[_Entry], devices: int) -> Trace:
        """Return the tasks of entries."""
        build = Builder(devices, self._asked.step_ps)
        own = np.array([entry.device for entry in entries])
        begin = build.barrier(own, "begin")
        ends = begin.copy()
        padded = Padded(self._asked.algorithm, self._asked.where, self._asked.key)
        alike: dict[Call, list[list[int]]] = defaultdict(list)
        messages: list[tuple[int, int, int]] = []  # entries of sender and receiver, bytes
        for together in self._together(entries):
            self._do(entries, together, alike, messages)
        for call, many in alike.items():
            rows = np.array(many)
            graph = padded(call, len(rows))
            ends[rows] = build.collective(graph, own[rows], begin[rows], call.operation)
        messages += self._sent(entries)
        if messages:
            source, target, size = np.array(messages, dtype=np.int64).T
            sent = build.message(own[source], own[target], size, "p2p")
            build.wait(sent, begin[source])
            involved = np.unique(np.concatenate([source, target]))
            ends[involved] = build.barrier(own[involved], "p2p")
            build.wait(ends[involved], begin[involved])
            build.wait(ends[source], sent, AT_SENDER)
            build.wait(ends[target], sent, AT_RECEIVER)
        follows = [(e, other) for e, entry in enumerate(entries) for other in entry.others]
        if follows:
            later, before = np.array(follows).T
            build.wait(begin[later], ends[before])
        tasks = build.graph()
        if (stuck := cycle(tasks)).size:  # its first task is the begin of an entry
            raise self._calls.error(
                entries[int(stuck[0])].operations[0].at, "waits for itself in a circle: ranks do"
                " operations in different orders.",
            )  # fmt: skip
        return Trace(tasks, self._remarks(padded))

    def _together(self, entries: list[_Entry]) -> Iterator[list[int]]:
        """Yield the entries of each collective, by rank."""
        turns: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, entry in enumerate(entries):
            if not entry.is_p2p:
                member = self._members[entry.member]
                turns[member.group][member.rank].append(index)
        for by_rank in turns.values():
            ranks = self._members[entries[next(iter(by_rank.values()))[0]].member].ranks
            counts = {rank: len(by_rank.get(rank, ())) for rank in range(ranks)}
            few, many = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
            if counts[few] != counts[many]:
                more = entries[by_rank[many][counts[few]]].operations[0]
                raise self._calls.error(
                    more.at, f"rank {many} of {ranks} does {counts[many]} operations in this"
                    f" communicator, rank {few} only {counts[few]}. Is the file cut short?",
                )  # fmt: skip
            yield from (list(one) for one in zip(*(by_rank[rank] for rank in range(ranks)),
                                                 strict=True))  # fmt: skip

    def _do(
        self,
        entries: list[_Entry],
        together: list[int],
        alike: dict[Call, list[list[int]]],
        messages: list[tuple[int, int, int]],
    ) -> None:
        """Add one collective: to those that are alike, or as messages with the root."""
        first = entries[together[0]].operations[0]
        for index in together[1:]:
            other = entries[index].operations[0]
            if other[1] != first[1] or other[3:5] != first[3:5]:
                raise self._calls.error(
                    other.at, "is another operation, or has another size or root, than that of"
                    f" rank 0 in line {first.at}.",
                )  # fmt: skip
        n, root = len(together), first.root
        if n == 1 or not first.size_bytes:
            return
        if first.name in ROOTED:
            for index in together[:root] + together[root + 1 :]:
                ends = (index, together[root])
                ends = ends if first.name == "Gather" else ends[::-1]
                messages.append((*ends, first.size_bytes))
            return
        operation, is_each = OPERATIONS[first.name]
        call = Call(operation, n, first.size_bytes * (n if is_each else 1))
        alike[call].append(together[root:] + together[:root])  # rank 0 of an algorithm is the root

    def _sent(self, entries: list[_Entry]) -> Iterator[tuple[int, int, int]]:
        """Yield the messages of sends: the k-th of two ranks with the k-th recv of these."""
        queues: dict[tuple[int, int, int], tuple[list, list]] = defaultdict(lambda: ([], []))
        for index, entry in enumerate(entries):
            member = self._members[entry.member]
            for operation in entry.operations if entry.is_p2p else ():
                is_recv = operation.name == "Recv"
                pair = (operation.root, member.rank) if is_recv else (member.rank, operation.root)
                queues[member.group, *pair][is_recv].append((index, operation))
        alone = 0
        for (_, source, target), (sends, recvs) in queues.items():
            if len(sends) != len(recvs):
                raise self._calls.error(
                    (sends + recvs)[-1][1].at, f"rank {source} sends {len(sends)} times to"
                    f" {target}, which receives {len(recvs)} times. Is the file cut short?",
                )  # fmt: skip
            for (sender, send), (receiver, recv) in zip(sends, recvs, strict=True):
                if send.size_bytes != recv.size_bytes:
                    raise self._calls.error(
                        recv.at, f"{recv.size_bytes} B, but line {send.at} sends {send.size_bytes}."
                    )
                if source == target:
                    alone += 1
                elif send.size_bytes:
                    yield sender, receiver, send.size_bytes
        if alone:
            self._said.append(f"{alone} messages of ranks to themselves take no time")

    def _remarks(self, padded: Padded) -> tuple[str, ...]:
        """Return what the file says and the tasks do not."""
        said = [*self._said, "buffers and kinds of reductions are not used", *padded.remarks()]
        return (
            f"{self._asked.where}: operations of a stream follow each other at once, as it has"
            f" no computations; {'; '.join(said)}.",
        )
