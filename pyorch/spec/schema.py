# SPDX-License-Identifier: GPL-2.0-only
"""The sections of a scenario as closed pydantic models; plug-ins bring the rest of theirs."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pyorch.spec.engine import Engine
from pyorch.spec.fields import Closed, Count, Flag, MessageBytes, Number, RateBps, SizeBytes, TimePs
from pyorch.spec.limits import LONGEST_NAME

Value = bool | int | float | str
Name = Annotated[str, Field(pattern=rf"^[a-z][a-z0-9_]{{0,{LONGEST_NAME - 1}}}$")]


class Wire(Closed):
    """What a frame occupies on the wire beyond its bytes: preamble, start delimiter, gap."""

    framing_bytes: SizeBytes = Field(20, alias="framing")


class Typed(Closed):
    """An ns-3 TypeId and its attributes, in ns-3's own spelling."""

    type: str
    attributes: dict[str, Value] = {}


Tier = Annotated[int, Field(strict=True, ge=0)]


class LinkClass(Closed):
    """Links between nodes of two tiers that differ from the others; hosts have tier 0."""

    tiers: tuple[Tier, Tier]
    flow_control: Typed | Literal["none"] | None = None
    loss_model: Typed | Literal["none"] | None = None


class Link(Closed):
    """What every link of the topology has unless the topology says otherwise.

    `jitter` makes each cable longer by a random time up to this, drawn once from the seed, so that
    frames of different senders do not meet at the very same instants; `loss_model` loses frames in
    its own way, beside `loss` and `bit_error_ratio`.
    """

    rate_bps: RateBps = Field(alias="rate")
    delay_ps: TimePs = Field(alias="delay")
    jitter_ps: TimePs = Field(0, alias="jitter")
    loss_ratio: Annotated[Number, Field(ge=0, lt=1)] = Field(0.0, alias="loss")
    bit_error_ratio: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    loss_model: Typed | None = None
    classes: list[LinkClass] = []


class Transport(Typed):
    """A transport; its name is what a workload refers to when there are several."""

    name: Name = "main"


def _none_has_no_limit(given: object) -> object:
    """Return None for ``none``; 0 B, which the engine takes for no limit, is refused."""
    if given is None:
        raise ValueError("write a size, for example 64 MB, or none for a buffer without limit.")
    return None if given == "none" else given


class SwitchClass(Closed):
    """Switches of some tiers that differ from the others; what is not said is as there."""

    tiers: Annotated[list[Tier], Field(min_length=1)]
    buffer_bytes: Annotated[SizeBytes, Field(ge=1)] | Literal["none"] | None = Field(
        None, alias="buffer"
    )
    latency_ps: TimePs | None = Field(None, alias="latency")
    cut_through_bytes: MessageBytes | Literal["none"] | None = Field(None, alias="cut_through")
    queue: Typed | None = None
    scheduler: Typed | Literal["none"] | None = None
    programs: list[Typed] | None = None
    forwarding: Typed | None = None


class Switch(Closed):
    """Every switch: buffer, pipeline latency, and the parts that plug in.

    With `cut_through` a frame is forwarded as soon as that much of it is in; `convergence` is the
    time from the failure or return of a link to routes that know of it. Without a `scheduler` the
    highest priority goes first. A buffer of ``none`` takes every frame.
    """

    buffer_bytes: Annotated[
        Annotated[SizeBytes, Field(ge=1)] | None, BeforeValidator(_none_has_no_limit)
    ] = Field(alias="buffer")
    latency_ps: TimePs = Field(0, alias="latency")
    cut_through_bytes: MessageBytes | None = Field(None, alias="cut_through")
    convergence_ps: TimePs = Field(0, alias="convergence")
    queue: Typed = Typed(type="ns3::DropTail")
    scheduler: Typed | None = None
    programs: list[Typed] = []
    flow_control: Typed | None = None
    forwarding: Typed = Typed(type="ns3::EcmpHash")
    classes: list[SwitchClass] = []


class Trace(Closed):
    """Optional tables of a run, and hosts whose frames go to pcap files.

    `sample` is the period of the samples of ports and flows; of the ports of `nodes` only, if
    these are given. `snaplen` is what a pcap file keeps of each frame.
    """

    arrivals: Flag = False
    pauses: Flag = False
    sample_ps: Annotated[TimePs, Field(ge=1)] | None = Field(None, alias="sample")
    nodes: list[Annotated[int, Field(strict=True, ge=0)]] = []
    pcap: list[Annotated[int, Field(strict=True)]] = []
    snaplen_bytes: Annotated[MessageBytes, Field(le=65535)] = Field(65535, alias="snaplen")


class Plugin(BaseModel):
    """A topology or workload: `type` names the file, its own model checks the other keys."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str


class Topology(Plugin):
    """A topology inside of another one, whose model checks and settles it."""


class Load(Plugin):
    """A workload; `transport` names the transport that carries it (default: the first)."""

    transport: str | None = None


class Jobs(Plugin):
    """Who hands out hosts to the workloads, and how many to each, in their order.

    `only` runs one of them alone, on the hosts that it has beside the others.
    """

    hosts: Annotated[list[Count], Field(min_length=1)]
    only: Annotated[int, Field(strict=True, ge=0)] | Literal["all"] = "all"


class Scenario(Closed):
    """One point of a scenario: overrides applied, sweep and variants already chosen."""

    name: Name
    template: Name = "fabric"
    topology: Plugin
    link: Link
    wire: Wire = Wire()
    switch: Switch
    workload: Annotated[list[Load], Field(min_length=1)]
    jobs: Jobs | None = None
    transport: Annotated[list[Transport], Field(min_length=1)]
    failures: list[Plugin] = []
    stop_ps: Annotated[TimePs, Field(ge=1)] = Field(alias="stop")
    trace: Trace = Trace()
    engine: Engine = Engine()
    seed: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)] = 1
