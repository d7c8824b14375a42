# SPDX-License-Identifier: GPL-2.0-only
"""Execution plans of MSCCL++ (JSON): what stands in a file, checked key by key.

Source: microsoft/mscclpp 1f5f065, the plans of its repository and those that its language writes.
"""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyorch.collective._chunks import KEY, Place
from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, content, json_value, listed, text

#: Names there to operations here.
COLLECTIVES = {
    "allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter",
    "alltoall": "all_to_all",
}  # fmt: skip
SYNCS = ("nop", "barrier", "sem_acquire", "sem_release")
SIGNALS = ("signal", "rlxsignal", "wait", "rlxwait", "flush")
#: Those that store chunks on other ranks, and may say so behind them; as packets with flags.
PUTS = ("put", "pws", "pwsf", "ppkt", "rppkt")
COPIES = ("copy", "cpkt", "upkt", "get")
REDUCTIONS = ("re", "res", "rre", "rres", "repkt", "respkt", "recpkt", "recspkt")
#: What reads packets waits for their flags; what sends them sends a flag beside each word.
READS_PACKETS = ("upkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt")
SENDS_PACKETS = ("ppkt", "rppkt", "respkt", "recspkt")
#: What stores packets in its own scratch.
KEEPS_PACKETS = ("cpkt", "recpkt", "recspkt")
#: Operations that are not read, and why.
REFUSED = {
    "pipeline": "loops over pieces of a chunk are not read",
    "glres": "switches that add or copy are not read", "gstore": "switches that add or copy are not"
    " read", "gstorepkt": "switches that add or copy are not read",
}  # fmt: skip
NAMES = (*SYNCS, *SIGNALS, *PUTS, *COPIES, *REDUCTIONS)
CHANNELS = ("memory", "port")
#: What is used of each section; all else is named.
_USED = {
    "": "name collective inplace min_message_size max_message_size gpus",
    "gpus": "id input_chunks output_chunks scratch_chunks channels remote_buffers semaphores"
    " threadblocks",
    "gpus.channels": "channel_type connected_to",
    "gpus.remote_buffers": "rank type access_channel_types",
    "gpus.semaphores": "init_value",
    "gpus.threadblocks": "id ops channels remote_buffer_refs",
    "gpus.threadblocks.channels": "channel_type channel_ids",
    "gpus.threadblocks.remote_buffer_refs": "access_channel_type remote_buffer_ids",
    "gpus.threadblocks.ops": "name channel_type channel_ids barrier_id num_threadblocks"
    " semaphore_ids src_buff dst_buff tbg_info",
    "gpus.threadblocks.ops.src_buff": "type index size buffer_id",
    "gpus.threadblocks.ops.dst_buff": "type index size buffer_id",
    "gpus.threadblocks.ops.tbg_info": "tb_id tbg_size",
}
_MOST_BYTES, _MOST_OPERATIONS, _MOST_CHUNKS, _MOST_GPUS = 64 * 2**20, 10**6, 2**16, 2**12
#: Chunks on all ranks together, and those in all operands; channels of a type to all peers.
_MOST_HELD, _MOST_MOVED, _MOST_CHANNELS = 10**6, 10**6, 2**14
#: Of a GPU, and the most that each may be at first.
_MOST_SEMAPHORES, _MOST_TOKENS = 2**16, 2**20

#: A channel of a pair of ranks: its type, from whom, to whom, and the how manieth it is.
Channel = tuple[str, int, int, int]


class Operation(NamedTuple):
    """One operation: chunks that it reads and stores, each with the rank that has them.

    `channels` are those of a signal; `waits` those of the other side. `numbers` are of a barrier,
    with its thread blocks, or of semaphores.
    """

    name: str
    at: str
    sources: list[tuple[int, list[Place]]]
    targets: list[tuple[int, list[Place]]]
    channels: list[Channel]
    numbers: list[int]
    kind: str


class Plan(NamedTuple):
    """A file: operations of each thread block of each rank; a vector has so many `chunks`.

    `unused` are keys that decide nothing.
    """

    operation: str
    chunks: int
    in_place: bool
    least_bytes: int
    most_bytes: int
    blocks: list[list[list[Operation]]]
    semaphores: list[list[int]]
    unused: str


def read(file: FileRef) -> Plan:
    """Return what a file says; FieldError names the place of what is wrong."""
    where = file["path"]
    if (n_bytes := len(content(file))) > _MOST_BYTES:
        raise FieldError(KEY, f"{where}: {n_bytes} B; at most {_MOST_BYTES}.")
    return _Reader(where).plan(json_value(text(file, KEY), where, KEY))


def _unused(value: Any, place: str = "") -> Iterator[str]:
    """Yield the keys of an object, and of those in it, that are not used."""
    if isinstance(value, list):
        for one in value:
            yield from _unused(one, place)
    elif isinstance(value, dict):
        known = _USED.get(place, "").split()
        for key, its in value.items():
            inner = f"{place}.{key}".lstrip(".")
            if key not in known:
                yield inner
            elif inner in _USED:
                yield from _unused(its, inner)


class _Reader:
    """What is read of one file."""

    def __init__(self, where: str):
        self._where, self._moved = where, 0
        self._sizes: list[dict[str, int]] = []

    def _error(self, at: str, what: str) -> FieldError:
        return FieldError(KEY, f"{self._where}: {at}{': ' if at else ''}{what}")

    def plan(self, found: Any) -> Plan:
        """Return the plan of an object."""
        gpus = self._list(found, "gpus", "", _MOST_GPUS)
        if len(gpus) < 2:
            raise self._error("", f"{len(gpus)} gpus; a plan has 2 or more.")
        ids = [self._number(gpu, "id", "gpus", 0, len(gpus) - 1) for gpu in gpus]
        if len(set(ids)) < len(gpus):
            raise self._error("gpus", f"two have the id {Counter(ids).most_common(1)[0][0]}.")
        gpus = [gpus[ids.index(rank)] for rank in range(len(gpus))]
        in_place = found.get("inplace", False)
        if type(in_place) is not bool:
            raise self._error("", f"inplace {quoted(in_place)} is neither true nor false.")
        name = found.get("collective")
        if name not in COLLECTIVES:
            raise self._error(
                "", f"collective {quoted(name)} is none of {', '.join(COLLECTIVES)}."
                f"{did_you_mean(str(name), COLLECTIVES)}",
            )  # fmt: skip
        key = "output_chunks" if name == "allgather" else "input_chunks"
        counts = {self._number(gpu, key, f"gpu {i}", 1, _MOST_CHUNKS) for i, gpu in enumerate(gpus)}
        if len(counts) > 1:
            raise self._error("", f"gpus have different {key}: {sorted(counts)[:4]}.")
        groups = [
            group
            for i, gpu in enumerate(gpus)
            for block in self._list(gpu, "threadblocks", f"gpu {i}", _MOST_OPERATIONS)
            for group in self._groups(block, f"gpu {i}")
        ]
        finer = math.lcm(*groups) if groups else 1
        chunks = counts.pop() * finer
        if chunks > _MOST_CHUNKS or chunks * len(gpus) > _MOST_HELD:
            raise self._error("", f"{chunks:,} parts of chunks; at most {_MOST_CHUNKS:,}.")
        self._sizes = [self._buffers(gpu, in_place, f"gpu {i}") for i, gpu in enumerate(gpus)]
        peers = [self._channels(gpu, i, len(gpus)) for i, gpu in enumerate(gpus)]
        blocks = [self._blocks(gpus, i, peers[i], finer) for i in range(len(gpus))]
        if sum(len(block) for own in blocks for block in own) > _MOST_OPERATIONS:
            raise self._error("", f"more than {_MOST_OPERATIONS:,} operations.")
        semaphores = [
            [self._number(one, "init_value", f"gpu {i}: semaphores", 0, _MOST_TOKENS)
             for one in self._list(gpu, "semaphores", f"gpu {i}", _MOST_SEMAPHORES, ())]
            for i, gpu in enumerate(gpus)
        ]  # fmt: skip
        return Plan(
            COLLECTIVES[name], chunks, in_place,
            self._number(found, "min_message_size", "", 0, 2**64, 0),
            self._number(found, "max_message_size", "", 0, 2**64, 2**64), blocks, semaphores,
            listed(set(_unused(found))),
        )  # fmt: skip

    def _buffers(self, gpu: Any, in_place: bool, at: str) -> dict[str, int]:
        """Return how many chunks each buffer of a rank has."""
        sizes = {
            key[0]: self._number(gpu, key, at, 0, _MOST_CHUNKS, 0)
            for key in ("input_chunks", "output_chunks", "scratch_chunks")
        }
        if in_place:  # two names of one buffer
            sizes |= dict.fromkeys("io", max(sizes["i"], sizes["o"]))
        return sizes

    def _groups(self, block: Any, at: str) -> list[int]:
        """Return how many thread blocks share each operation that several share."""
        found = []
        for op in self._list(block, "ops", at, _MOST_OPERATIONS):
            if isinstance(op, dict) and "tbg_info" in op:
                found.append(self._number(op["tbg_info"], "tbg_size", f"{at}: tbg_info", 1, 64))
        return found

    def _channels(self, gpu: Any, rank: int, ranks: int) -> dict[str, list[Channel]]:
        """Return the channels of a rank by their type; the k-th to a peer meets its k-th."""
        found: dict[str, list[Channel]] = {kind: [] for kind in CHANNELS}
        at, seen = f"gpu {rank}: channels", Counter[tuple[str, int]]()
        for channel in self._list(gpu, "channels", f"gpu {rank}", 2**10, ()):
            kind = channel.get("channel_type") if isinstance(channel, dict) else channel
            if kind not in CHANNELS:
                raise self._error(
                    at, f"channel_type {quoted(kind)} is not read; {' and '.join(CHANNELS)} are."
                )
            for peer in self._list(channel, "connected_to", at, _MOST_CHANNELS):
                peer = self._whole(peer, f"{at}: connected_to", 0, ranks - 1)
                if peer == rank:
                    raise self._error(at, f"gpu {rank} is connected to itself.")
                found[kind].append((kind, rank, peer, seen[kind, peer]))
                seen[kind, peer] += 1
        return found

    def _blocks(
        self, gpus: list, rank: int, peers: dict[str, list[Channel]], finer: int
    ) -> list[list[Operation]]:
        """Return the operations of each thread block of a rank."""
        gpu, at = gpus[rank], f"gpu {rank}"
        remote = []
        for one in self._list(gpu, "remote_buffers", at, 2**16, ()):
            owner = self._number(one, "rank", f"{at}: remote_buffers", 0, len(gpus) - 1)
            remote.append((owner, self._buffer(one, f"{at}: remote_buffers")))
        found = []
        for number, block in enumerate(self._list(gpu, "threadblocks", at, _MOST_OPERATIONS)):
            own = f"{at}, threadblock {number}"
            ids = {kind: self._ids(block, "channels", kind, peers[kind], own) for kind in CHANNELS}
            refs = {
                kind: self._ids(block, "remote_buffer_refs", kind, remote, own) for kind in CHANNELS
            }
            found.append([
                self._operation(op, rank, ids, refs, finer, f"{own}, op {i}")
                for i, op in enumerate(self._list(block, "ops", own, _MOST_OPERATIONS))
            ])  # fmt: skip
        return found

    def _ids(self, block: Any, key: str, kind: str, all_: list, at: str) -> list:
        """Return which of a rank's channels or remote buffers a thread block has."""
        one_type, one_list = (
            ("channel_type", "channel_ids") if key == "channels"
            else ("access_channel_type", "remote_buffer_ids")
        )  # fmt: skip
        found: list = []
        for one in self._list(block, key, at, 2**10, ()):
            if isinstance(one, dict) and one.get(one_type) == kind:
                for index in self._list(one, one_list, f"{at}: {key}", 2**16):
                    found.append(all_[self._whole(index, f"{at}: {key}", 0, len(all_) - 1)])
        return found

    def _operation(
        self, op: Any, rank: int, ids: dict[str, list], refs: dict[str, list], finer: int, at: str
    ) -> Operation:
        name = op.get("name") if isinstance(op, dict) else op
        if name in REFUSED:
            raise self._error(at, f"{quoted(name)}: {REFUSED[name]}.")
        if name not in NAMES:
            raise self._error(
                at, f"{quoted(name)} is none of {', '.join(NAMES)}."
                f"{did_you_mean(str(name), NAMES)}",
            )  # fmt: skip
        kind = op.get("channel_type", "none")
        if kind not in (*CHANNELS, "none"):
            raise self._error(at, f"channel_type {quoted(kind)} is not read.")
        if kind == "port" and name not in (*SIGNALS, *PUTS):
            raise self._error(at, f"{name} over a port channel is not read.")
        channels, numbers = [], []
        if name in (*SIGNALS, "pws", "pwsf"):
            own = ids.get(kind, [])
            for index in self._list(op, "channel_ids", at, 2**16):
                channels.append(own[self._whole(index, f"{at}: channel_ids", 0, len(own) - 1)])
        elif name == "barrier":
            numbers = [self._number(op, "barrier_id", at, 0, 2**16),
                       self._number(op, "num_threadblocks", at, 1, 2**16)]  # fmt: skip
        elif name.startswith("sem_"):
            numbers = [self._whole(one, at, 0, 2**16 - 1)
                       for one in self._list(op, "semaphore_ids", at, 2**10)]  # fmt: skip
        share = (0, 1)
        if "tbg_info" in op:
            size = self._number(op["tbg_info"], "tbg_size", at, 1, 64)
            share = self._number(op["tbg_info"], "tb_id", at, 0, size - 1), size
        sources, targets = (
            [self._chunks(one, rank, refs.get(kind, []), finer, share, at)
             for one in self._list(op, key, at, 2**10)]
            if name in (*PUTS, *COPIES, *REDUCTIONS) else []
            for key in ("src_buff", "dst_buff")
        )  # fmt: skip
        if len({len(places) for _, places in sources + targets}) > 1:
            raise self._error(at, "its chunks are not as many at each end.")
        if name in ("pws", "pwsf") and [one[2] for one in channels] != [to for to, _ in targets]:
            raise self._error(at, "its channels lead to other gpus than its chunks.")
        if name in (*PUTS, *COPIES, *REDUCTIONS) and not (sources and targets):
            raise self._error(at, "reads or stores nothing.")
        return Operation(name, at, sources, targets, channels, numbers, kind)

    def _chunks(
        self, one: Any, rank: int, refs: list, finer: int, share: tuple[int, int], at: str
    ) -> tuple[int, list[Place]]:
        """Return whose the chunks of an operand are, and where; of a group the own share."""
        index = self._number(one, "index", at, 0, _MOST_CHUNKS)
        size = self._number(one, "size", at, 1, _MOST_CHUNKS)
        if "buffer_id" in one:
            owner, buffer = refs[self._number(one, "buffer_id", at, 0, len(refs) - 1)]
        else:
            owner, buffer = rank, self._buffer(one, at)
        if index + size > (chunks := self._sizes[owner][buffer]):
            raise self._error(
                at, f"index {index} and size {size} reach beyond the {chunks} chunks of buffer"
                f" {buffer} of gpu {owner}.",
            )  # fmt: skip
        self._moved += size * finer // share[1]
        if self._moved > _MOST_MOVED:
            raise self._error(at, f"more than {_MOST_MOVED:,} chunks in all operations.")
        first, last = (size * finer * (share[0] + i) // share[1] for i in (0, 1))
        return owner, [(buffer, index * finer + part) for part in range(first, last)]

    def _buffer(self, one: Any, at: str) -> str:
        kind = one.get("type") if isinstance(one, dict) else one
        if kind not in ("i", "o", "s"):
            raise self._error(at, f"buffer type {quoted(kind)} is none of i, o, s.")
        return kind

    def _list(self, of: Any, key: str, at: str, most: int, default: Any = None) -> list:
        found = of.get(key, default) if isinstance(of, dict) else None
        if not isinstance(found, list | tuple) or len(found) > most:
            raise self._error(at, f"{key}: write a list of at most {most}.")
        return list(found)

    def _number(
        self, of: Any, key: str, at: str, least: int, most: int, default: int | None = None
    ) -> int:
        found = of.get(key, default) if isinstance(of, dict) else None
        return self._whole(found, f"{at}: {key}" if at else key, least, most)

    def _whole(self, value: Any, at: str, least: int, most: int) -> int:
        if type(value) is not int or not least <= value <= most:
            raise self._error(at, f"{quoted(value)} is no whole number, {least} to {most}.")
        return value
