# SPDX-License-Identifier: GPL-2.0-only
"""One training step of a preset, smaller: computations, and messages of every parallelism.

`sites` times `stages` x `peers` racks of `members` groups of `tensor` devices; the racks of one
replica of the pipeline follow each other. `divide` makes all work and all bytes smaller; what a
device sends in a collective does not depend on how many take part.
"""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.errors import PyorchError, SpecError, TheoryError
from pyorch.spec.fields import FILLED, FOUND, Closed, Count, FieldError, TimePs
from pyorch.spec.limits import (
    LARGEST_MESSAGE_BYTES,
    LONGEST_PS,
    LONGEST_TEXT,
    MOST_FLOWS,
    MOST_NODES,
)
from pyorch.spec.network import Columns, Network
from pyorch.theory.parallelism import Setup, Spread, check_experts
from pyorch.theory.preset_schema import Schedule
from pyorch.theory.schedules import SCHEDULES, STEADY, schedule
from pyorch.training import graph, step, tables
from pyorch.training.plan import (
    PACKET_BYTES,
    PACKETS,
    SELDOM,
    Amounts,
    Shape,
    amounts,
    copies,
    holders,
)
from pyorch.workload import _preset
from pyorch.workload._hosts import hosts
from pyorch.workload._placement import check_placement, clocks, placed
from pyorch.workload._queue_pairs import Connection, turns

Amount = Annotated[int, Field(strict=True, ge=1, le=max(LARGEST_MESSAGE_BYTES, LONGEST_PS))]
Index = Annotated[int, Field(strict=True, ge=0, le=MOST_NODES)]


class Spare(Closed):
    """Hosts that take the place of devices that fail: their step begins anew when they are there.

    `hosts` has pairs of a device and its spare, as `replaced`.
    """

    hosts: Annotated[tuple[tuple[Index, Index], ...], Field(min_length=1)]
    at_ps: TimePs = Field(alias="at")
    delay_ps: TimePs = Field(0, alias="delay")


class Params(Closed):
    """Who trains what, in which order, and on which hosts.

    The order of passes, micro-batches, model chunks, and what replicas share are those of the
    preset, unless they are given. Devices are hosts in their order from `first_host` on, or at
    random; `replaced` has pairs of a device and the host that has taken its place. `amounts` are
    found when the preset is read; a scenario does not give them. A `spare` is another way to write
    `replaced` and `start`. With `queue_pairs` the messages of a kind between two devices take so
    many headers in turns.
    """

    preset: Annotated[str, Field(max_length=LONGEST_TEXT)]
    stages: Count = 1
    peers: Count = 1
    members: Count = 1
    tensor: Count = 1
    sites: Count = 1
    divide: Count = 1
    layers: Count = 1
    schedule: Schedule = Field(json_schema_extra=FILLED)
    micro_batches: Count = Field(json_schema_extra=FILLED)
    model_chunks: Count = Field(json_schema_extra=FILLED)
    overlap: Literal["none", "compute", "pass"] = Field(json_schema_extra=FILLED)
    chunks: Count = 16
    experts: Count = Field(json_schema_extra=FILLED)
    context: Count = Field(json_schema_extra=FILLED)
    zero: Annotated[int, Field(strict=True, ge=0, le=3)] = Field(json_schema_extra=FILLED)
    exchange: bool = True
    placement: Literal["packed", "random"] = "packed"
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    replaced: tuple[tuple[Index, Index], ...] = ()
    start_ps: TimePs = Field(0, alias="start")
    skew_ps: TimePs = Field(0, alias="skew")
    queue_pairs: Connection | None = None
    spare: Spare | None = Field(None, exclude=True)
    amounts: dict[str, Amount] = Field(json_schema_extra=FOUND)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, given: Any, info: ValidationInfo) -> Any:
        """Find what the preset says, unless this is a spec from disk."""
        context = info.context or {}
        if not isinstance(given, dict) or context.get("stored"):
            return given
        if "amounts" in given:
            raise FieldError("amounts", "follow from the preset. Leave it out; copy the preset.")
        fields = cls.model_fields
        numbers = {n: given.get(n, fields[n].default) for n in (*Shape._fields, *_NUMBERS)}
        plain = [value for n, value in given.items() if n in ("experts", "context")]
        if not isinstance(given.get("preset"), str) or not all(
            type(value) is int and value > 0 for value in (*numbers.values(), *plain)
        ):
            # The fields say what is wrong.
            return _DEFAULTS | given | {"amounts": {}}
        return _filled(given, numbers, context.get("folder", Path()))

    @model_validator(mode="after")
    def _fits(self) -> "Params":
        """Refuse what contradicts itself."""
        if self.spare is not None:
            return self._with_spare(self.spare)
        self._check_amounts()
        if not self.exchange and self.sites == 1:
            raise FieldError("exchange", "false with one site. Leave it out, or write sites: 2.")
        steady = self.schedule == STEADY
        if steady and (self.micro_batches, self.model_chunks) != (1, 1):
            key = "micro_batches" if self.micro_batches != 1 else "model_chunks"
            raise FieldError(
                key, "a steady step has one micro-batch and one model chunk. Write"
                f" schedule: {', '.join(SCHEDULES)} for more.",
            )  # fmt: skip
        if (self.overlap == "compute") > steady or (self.overlap == "none" and steady):
            allowed = "compute or pass" if steady else "pass or none"
            raise FieldError("overlap", f"{self.overlap} with schedule: {self.schedule}. Write"
                             f" {allowed}.")  # fmt: skip
        if steady and self.zero == step.SHARDED and self.overlap != "compute":
            raise FieldError("zero", "3 with schedule: steady wants overlap: compute.")
        if not steady:
            try:
                schedule(self.schedule, self.stages, self.micro_batches, self.model_chunks)
            except TheoryError as error:
                raise FieldError("schedule", str(error)) from None
        _check_groups(vars(self), vars(self))
        check_placement(self.placement, 0, self.first_host)
        devices = _shape(self).devices
        if unknown := [device for device, _ in self.replaced if device >= devices]:
            raise FieldError(
                "replaced", f"there is no device {unknown[0]}; they are 0 to {devices - 1}."
            )
        return self

    def _check_amounts(self) -> None:
        """Raise FieldError if amounts are unknown, or some that the step needs are not there."""
        needed = set(Amounts._fields) - set(SELDOM)
        if 1 < self.experts < self.members:
            needed |= {"routed_rack_bytes", "weight_routed_rack_bytes"}
        if self.context > self.members:
            needed.add("context_rail_bytes")
        if not needed <= set(self.amounts) <= set(Amounts._fields):
            named = [name for name in Amounts._fields if name in needed]
            raise FieldError("amounts", f"are {', '.join(named)}. Make the spec again.")

    def _with_spare(self, spare: Spare) -> "Params":
        """Return what is simulated: the second attempt, with the spare in its place."""
        if self.replaced or self.start_ps:
            raise FieldError("spare", "says what replaced and start say. Leave it out, or both.")
        second = {"replaced": spare.hosts, "start_ps": spare.at_ps + spare.delay_ps, "spare": None}
        again: Any = self.model_copy(update=second)
        return again._fits()


def _check_groups(
    given: dict[str, Any], shape: dict[str, Any], of_preset: tuple[str, ...] = ()
) -> None:
    """Raise FieldError unless the replicas of a stage are groups that share something."""
    peers, members = shape["peers"], shape["members"]
    for key in ("experts", "context"):
        if peers * members % given[key]:
            whose = f", which is `{key}` of the preset" if key in of_preset else ""
            raise FieldError(
                "peers" if key in of_preset else key,
                f"{peers} peers x {members} members are not groups of {given[key]}{whose}. Write"
                f" peers that make such groups, or `{key}`: a divisor, or 1 for none.",
            )
        if given[key] % members and members % given[key]:
            raise FieldError(
                "members", f"{members}; groups of {given[key]} (`{key}`) are neither an equal part"
                " of a rack nor whole racks. Write a divisor or a multiple of it.",
            )  # fmt: skip


#: Beside its shape, what the amounts of a step depend on.
_NUMBERS = ("divide", "layers", "chunks")
#: What a preset says of a step, for those that cannot be read.
_DEFAULTS = {
    "schedule": STEADY, "micro_batches": 1, "model_chunks": 1, "overlap": "compute", "experts": 1,
    "context": 1, "zero": 0,
}  # fmt: skip


def _filled(given: dict, numbers: dict[str, int], folder: Path) -> dict[str, Any]:
    """Return parameters with what the preset says where they say nothing."""
    name = given["preset"]
    setup = _preset.read(name, folder).setup
    degrees = setup.degrees
    order = given.get("schedule", degrees.schedule)
    of_preset = order == degrees.schedule != STEADY
    whole = {
        "schedule": degrees.schedule,
        "micro_batches": setup.job.micro_batches if of_preset else 1,
        "model_chunks": degrees.virtual_stages if of_preset else 1,
        "overlap": "compute" if order == STEADY else "pass",
        "experts": degrees.experts,
        "context": degrees.context,
        "zero": degrees.zero,
    } | given
    _check_groups(whole, numbers, tuple(whole.keys() - given.keys()))
    try:
        check_experts(whole["experts"], setup.model.experts)
    except TheoryError as error:
        raise FieldError("experts", f"{name}: {error}") from None
    try:
        setup = _as_given(setup, whole)
        shape = Shape(*(numbers[field] for field in Shape._fields))
        _check_sizes(name, setup, shape)
        found = amounts(setup, shape, numbers["divide"], numbers["layers"], numbers["chunks"])
    except FieldError:
        raise
    except PyorchError as error:
        raise FieldError("preset", str(error)) from None
    return whole | {"amounts": found.plain()}


def _as_given(setup: Setup, whole: dict[str, Any]) -> Setup:
    """Return the set-up of a preset, with what a scenario changes of it."""
    degrees = replace(
        setup.degrees, schedule=whole["schedule"], virtual_stages=whole["model_chunks"],
        experts=whole["experts"], context=whole["context"],
    )  # fmt: skip
    job = replace(setup.job, micro_batches=whole["micro_batches"])
    return replace(setup, job=job, degrees=degrees)


def _check_sizes(name: str, setup: Setup, shape: Shape) -> None:
    """Raise FieldError if devices would form groups that the preset has with one device alone."""
    held = holders(setup, shape)
    replicas = held[0][0]
    for key, size, alone in (
        ("tensor", setup.placement.tensor, "one device in each tensor-parallel group"),
        ("members", replicas.members, "one tensor-parallel group in a rack"),
        ("peers", replicas.racks, "one rack for each stage"),
    ):
        if getattr(shape, key) > 1 == size:
            raise FieldError(
                key, f"{getattr(shape, key)}; {name} has {alone}, which sends nothing. Write 1."
            )
    for one, members, racks in held[1:]:
        for key, fewer, size in (("members", members, one.members), ("peers", racks, one.racks)):
            if fewer > 1 == size:
                raise FieldError(
                    key, f"{getattr(shape, key)} have all experts {fewer} times; those of {name}"
                    f" have them once. Write {getattr(shape, key) // fewer}.",
                )  # fmt: skip
    for one, _, racks in held:
        try:
            copies(one, racks)
        except SpecError as error:
            raise FieldError("peers", f"{shape.peers}; {error}") from None
    _check_context(name, setup, shape)


def _check_context(name: str, setup: Setup, shape: Shape) -> None:
    """Raise FieldError if a sequence needs a network that it does not need in the preset."""
    degree = setup.degrees.context
    whole, fewer = Spread.of(setup.placement, degree, "context"), shape.spread(degree)
    if (whole.racks > 1) != (fewer.racks > 1):
        several = "several racks" if whole.racks > 1 else "one rack"
        allowed = f"{whole.members} or fewer" if whole.racks > 1 else f"a multiple of {degree}"
        raise FieldError(
            "members", f"{shape.members}; in {name} the {degree} replicas that share a sequence are"
            f" in {several}. Write {allowed}.",
        )  # fmt: skip


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the devices do not fit the network, or there are too many messages."""
    shape, counts = _shape(params), network.counts
    if params.first_host + shape.devices > counts["hosts"]:
        behind = f" from host {params.first_host} on" if params.first_host else ""
        raise FieldError(
            "first_host" if shape.devices <= counts["hosts"] else "stages",
            f"{_sites(shape)}{shape.stages} stages x {shape.peers} peers x {shape.members} members"
            f" x {shape.tensor} of a tensor-parallel group make {shape.devices} devices{behind};"
            f" the topology has {counts['hosts']}. Change one of these, or the topology.",
        )
    _check_sites(params, counts)
    _check_replaced(params, network)
    per_rack = shape.members * shape.tensor
    if "rails" in counts and counts["rails"] != per_rack:
        raise FieldError(
            "members", f"{shape.members} x {shape.tensor} devices of a rack; the racks of the"
            f" topology have {counts['rails']}.",
        )  # fmt: skip
    plan = plan_of(params)
    n_messages = len(_messages(plan).kind)
    if n_messages > MOST_FLOWS:
        raise FieldError("chunks", f"{n_messages:,} messages in all; at most {MOST_FLOWS:,}.")
    _check_graph(plan)


def _sites(shape: Shape) -> str:
    return f"{shape.sites} sites x " if shape.sites > 1 else ""


def _check_sites(params: Params, counts: dict[str, int]) -> None:
    """Raise FieldError if devices of one site would be hosts of two."""
    sites = counts.get("sites", 1)
    if params.sites == 1 or sites == 1:
        return
    if params.sites != sites:
        raise FieldError("sites", f"{params.sites}; the topology has {sites}.")
    each, total = counts["hosts_per_site"], _shape(params).devices
    if params.placement != "packed" or not each * sites == counts["hosts"] == total:
        raise FieldError(
            "sites", f"{sites} sites of {total // sites} devices each need sites of as many hosts"
            f" each and placement: packed; the largest site has {each}, all have"
            f" {counts['hosts']}.",
        )  # fmt: skip


def _check_replaced(params: Params, network: Network) -> None:
    """Raise FieldError if a device is replaced by a host that is not there or has another one."""
    available = network.counts["hosts"]
    if unknown := [host for _, host in params.replaced if host >= available]:
        raise FieldError(
            "replaced", f"there is no host {unknown[0]}. The {available} hosts are 0 to"
            f" {available - 1}.",
        )  # fmt: skip
    if params.placement == "random":
        if params.replaced:
            raise FieldError("replaced", "placement random draws all hosts. Leave one of them out.")
        return
    index = _host_index(params, network.nodes, network.links, 0)
    found, times = np.unique(index, return_counts=True)
    if (times > 1).any():
        raise FieldError("replaced", f"host {found[times > 1][0]} would be two devices.")


def remarks(params: Params) -> tuple[str, ...]:
    """Return in which way the step is too small to stand for a whole one."""
    return (*_short_messages(params), *_one_replica(params))


def _short_messages(params: Params) -> tuple[str, ...]:
    """Return that messages have become too short, if dividing the step has made them so."""
    if params.divide == 1:
        return ()
    sizes = _messages(plan_of(params)).size_bytes
    packets = sizes.mean() / PACKET_BYTES if len(sizes) else PACKETS
    if packets >= PACKETS:
        return ()
    enough = max(1, int(params.divide * packets / PACKETS))
    return (
        f"{params.preset}, divided by {params.divide}: a message has {packets:.2g} packets of"
        f" {PACKET_BYTES} B in the mean, so latencies weigh more than in the whole step. Divide by"
        f" {enough} or less, so that it has {PACKETS}. Shorten the delays of links too, but leave a"
        " bandwidth-delay product of some tens of packets.",
    )


def _one_replica(params: Params) -> tuple[str, ...]:
    """Return that nobody reduces gradients of experts, if there is one replica of these."""
    replicas = params.members * params.peers
    if params.experts == 1 or replicas > params.experts:
        return ()
    return (
        f"{params.preset}: {params.peers} peers x {params.members} members hold the experts once,"
        f" so their gradients are not reduced. Where the whole step has more replicas, write peers:"
        f" {2 * params.peers}.",
    )


def flows(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return the messages of the step."""
    ids = hosts(nodes)[_host_index(params, nodes, links, seed)]
    messages = _messages(plan_of(params))
    found = tables.flows(messages, ids, _starts(params, seed))
    if params.queue_pairs is None:
        return found
    pairs = params.queue_pairs.per_connection
    turn = turns(messages.device, messages.peer, messages.lane)
    return {**found, "connection": 1 + messages.lane * pairs + turn % pairs}


def tasks(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return its computations and barriers."""
    ids = hosts(nodes)[_host_index(params, nodes, links, seed)]
    return tables.tasks(graph_of(params), ids, _starts(params, seed))


def _host_index(params: Params, nodes: Columns, links: Columns, seed: int) -> np.ndarray:
    """Return the host of each device, counted from 0."""
    shape = (1, _shape(params).devices)
    (found,) = placed(shape, params.placement, 0, params.first_host, nodes, links, seed, "training")
    for device, host in params.replaced:
        found[device] = host
    return found


def _starts(params: Params, seed: int) -> np.ndarray:
    return clocks(params.start_ps, params.skew_ps, _shape(params).devices, seed)


def dependencies(params: Params) -> Columns:
    """Return which of them wait for which."""
    return dict(tables.dependencies(graph_of(params)))


def graph_of(params: Params) -> graph.TaskGraph:
    """Return the tasks of the step, by device."""
    return _graph(plan_of(params))


def plan_of(params: Params) -> step.Plan:
    """Return what is done in the step."""
    names = (
        "layers", "schedule", "micro_batches", "model_chunks", "overlap", "chunks", "experts",
        "context", "zero", "exchange",
    )  # fmt: skip
    return step.Plan(
        _shape(params), Amounts(**params.amounts), **{name: getattr(params, name) for name in names}
    )


def _shape(params: Params) -> Shape:
    return Shape(*(getattr(params, field) for field in Shape._fields))


@lru_cache(maxsize=64)
def _messages(plan: step.Plan) -> graph.TaskGraph:
    """Return the messages of a step alone: who plans many runs asks for these of each again."""
    found = _graph(plan)
    rows = found.kind == graph.MESSAGE
    own: dict[str, Any] = {name: getattr(found, name)[rows] for name in graph.TASK_COLUMNS}
    return found._replace(**own | dict.fromkeys(graph.WAIT_COLUMNS, found.task[:0]))


@lru_cache(maxsize=64)
def _check_graph(plan: step.Plan) -> None:
    """Raise FieldError if the graph of a step is impossible to run; asked once for each."""
    graph.check(_graph(plan), "stages")


@lru_cache(maxsize=4)
def _graph(plan: step.Plan) -> graph.TaskGraph:
    found = step.build(plan)
    for column in found[2:]:
        np.asarray(column).flags.writeable = False
    return found
