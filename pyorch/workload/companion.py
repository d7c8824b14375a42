# SPDX-License-Identifier: GPL-2.0-only
"""What shares a network with training: data set, checkpoint, and inference beside it.

`what` says whose bytes these are, of a preset: ``dataset`` of one mini-batch, from peers (storage)
to devices; a ``checkpoint``, from devices to peers; ``kv_transfer``, the caches of all users, from
devices that prefill to peers that decode; ``prefill`` and ``decode``, what all users' prompts or
answers make devices send each other in tensor-parallel groups.

Source: [asterfusion24], storage and inference sections, as in `theory.traffic`, `theory.inference`.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.spec.fields import FOUND, Closed, Count, FieldError, MessageBytes, TimePs
from pyorch.spec.limits import LONGEST_PS, LONGEST_TEXT, MOST_FLOWS
from pyorch.spec.network import Columns, Network
from pyorch.theory import inference, preset, traffic
from pyorch.workload import _preset
from pyorch.workload._hosts import hosts

#: Bytes that one host sends to one other, summed over all hosts, of a training job or a service.
_JOBS = {
    "dataset": lambda job: traffic.dataset_loading_bytes(job)["3D"] / job.mini_batches,
    "checkpoint": lambda job: traffic.checkpoint_bytes(job.parameters),
}
_SERVICES = {
    "kv_transfer": lambda service: service.users * inference.kv_cache_bytes(service),
    "prefill": inference.prefill_bytes,
    "decode": inference.decode_bytes,
}
#: Kinds without peers: everybody in a tensor-parallel group sends to everybody else.
_IN_GROUPS = ("prefill", "decode")


class Params(Closed):
    """Whose bytes, `divide` times less of them, among which hosts, how often.

    `devices` hosts from `first_host` on; `peers` hosts from `first_peer` on. Device i talks to peer
    i, counted around. `message_bytes` and `group` are found when the preset is read; a scenario
    does not give them.
    """

    what: Literal["dataset", "checkpoint", "kv_transfer", "prefill", "decode"]
    preset: Annotated[str, Field(max_length=LONGEST_TEXT)]
    divide: Count = 1
    devices: Count
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    peers: Annotated[int, Field(strict=True, ge=0)] = 0
    first_peer: Annotated[int, Field(strict=True, ge=0)] = 0
    times: Count = 1
    every_ps: TimePs = Field(0, alias="every")
    start_ps: TimePs = Field(0, alias="start")
    message_bytes: MessageBytes = Field(json_schema_extra=FOUND)
    group: Count = Field(json_schema_extra=FOUND)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any, info: ValidationInfo) -> Any:
        """Find what the preset says, unless this is a spec from disk."""
        context = info.context or {}
        if not isinstance(given, dict) or context.get("stored"):
            return given
        for key in ("message_bytes", "group"):
            if key in given:
                raise FieldError(key, "follows from the preset. Leave it out; copy the preset.")
        numbers = [given.get("divide", 1), given.get("devices"), given.get("peers", 0)]
        kind, name = given.get("what"), given.get("preset")
        usable = all(type(n) is int and 0 <= n <= 2**20 for n in numbers) and numbers[0] > 0
        if kind not in {*_JOBS, *_SERVICES} or not isinstance(name, str) or not usable:
            return {**given, "message_bytes": "1 B", "group": 1}  # the fields say what is wrong
        total_bytes, group = _amounts(kind, name, context.get("folder", Path()))
        n_pairs = _n_pairs(kind, numbers[1], numbers[2], group)
        size = round(total_bytes / numbers[0] / n_pairs)
        if size < 1:
            raise FieldError("divide", f"{numbers[0]} times less, nothing is left. Divide by less.")
        return {**given, "message_bytes": f"{size} B", "group": group}

    @model_validator(mode="after")
    def _fits(self) -> "Params":
        """Refuse what contradicts itself."""
        if (self.what in _IN_GROUPS) != (self.peers == 0):
            raise FieldError(
                "peers", f"{self.peers} with {self.what}. prefill and decode have none, all others"
                " 1 or more.",
            )  # fmt: skip
        mine = range(self.first_host, self.first_host + self.devices)
        if both := set(mine) & set(range(self.first_peer, self.first_peer + self.peers)):
            raise FieldError(
                "first_peer", f"{self.first_peer}: devices are hosts {mine[0]} to {mine[-1]}, so"
                f" host {min(both)} would be a device and a peer. Choose peers beside them.",
            )  # fmt: skip
        if (self.times > 1) != (self.every_ps > 0):
            raise FieldError(
                "every", "what happens several times needs both: times: 3 and every: 1 ms."
            )
        if self.start_ps + self.times * self.every_ps > LONGEST_PS:
            raise FieldError("times", "the last time would be after ten days.")
        return self


def _amounts(kind: str, name: str, folder: Path) -> tuple[float, int]:
    """Return all bytes of a preset, and the devices of a tensor-parallel group."""
    if kind in _SERVICES:
        service = _preset.read(name, folder, preset.inference)
        return float(_SERVICES[kind](service)), int(service.tensor)
    job = _preset.read(name, folder).traffic
    if job is None:
        raise FieldError("preset", f"{name} has no section traffic, which {kind} is taken from.")
    return float(_JOBS[kind](job)), 1


def _n_pairs(kind: str, devices: int, peers: int, group: int) -> int:
    """Return how many hosts send to one other each."""
    if kind not in _IN_GROUPS:
        return max(devices, peers, 1)
    if group < 2 or devices < group or devices % group:
        raise FieldError(
            "devices", f"{devices} are not groups of {group}, as the preset has them. Write a"
            " multiple.",
        )  # fmt: skip
    return devices * (group - 1)


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not so many hosts, or too many messages."""
    available = network.counts["hosts"]
    for first, number, key in (
        (params.first_host, params.devices, "devices"),
        (params.first_peer, params.peers, "peers"),
    ):
        if number and first + number > available:
            raise FieldError(
                key, f"{number} from host {first} on; the topology has {available} hosts."
            )
    n_messages = len(_pairs(params)[0]) * params.times
    if n_messages > MOST_FLOWS:
        raise FieldError("times", f"{n_messages:,} messages in all; at most {MOST_FLOWS:,}.")


def flows(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return the messages, one time after the other."""
    src, dst = (np.tile(hosts(nodes)[end], params.times) for end in _pairs(params))
    again_ps = np.repeat(np.arange(params.times) * params.every_ps, len(src) // params.times)
    return {
        "src": src,
        "dst": dst,
        "bytes": np.full(len(src), params.message_bytes, dtype=np.int64),
        "start_ps": params.start_ps + again_ps,
    }


def _pairs(params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return who sends to whom, hosts counted from 0."""
    if params.what in _IN_GROUPS:
        device, step = np.divmod(np.arange(params.devices * (params.group - 1)), params.group - 1)
        group, place = np.divmod(device, params.group)
        other = group * params.group + (place + 1 + step) % params.group
        return params.first_host + device, params.first_host + other
    index = np.arange(max(params.devices, params.peers))
    device = params.first_host + index % params.devices
    peer = params.first_peer + index % params.peers
    return (peer, device) if params.what == "dataset" else (device, peer)
