# SPDX-License-Identifier: GPL-2.0-only
"""The sections of a scenario as closed pydantic models; plug-ins bring the rest of theirs.

Sections that the C++ modules register as TypeIds get their options by `complete`.
"""

import json
from collections.abc import Iterator, Mapping
from types import GenericAlias
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, create_model, field_validator, model_validator

from pyorch.spec import host_presets, messages, sections
from pyorch.spec.engine import Engine
from pyorch.spec.fields import Closed, Count, DelayPs, Name, Number, Plugin, RateBps, TimePs
from pyorch.spec.limits import LONGEST_TEXT
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Typed
from pyorch.spec.typeids import TypeIds


class Wire(Closed):
    """What a frame occupies on the wire beyond its bytes."""


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
    delay_ps: DelayPs = Field(alias="delay")
    jitter_ps: TimePs = Field(0, alias="jitter")
    loss_ratio: Annotated[Number, Field(ge=0, lt=1)] = Field(0.0, alias="loss")
    bit_error_ratio: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    flow_control: Typed | None = None
    loss_model: Typed | None = None
    classes: list[LinkClass] = []


class Host(Closed):
    """What each message of a transport costs the hosts at its ends; by default nothing.

    `preset` is an interface whose vendor states some of the options; what stands beside it counts
    instead of them.
    """

    preset: Annotated[str, Field(max_length=LONGEST_TEXT)] | None = Field(None, exclude=True)

    @field_validator("preset")
    @classmethod
    def _known(cls, preset: str | None) -> str | None:
        """Refuse a name that no preset has."""
        if preset is not None:
            host_presets.read(preset)
        return preset

    @model_validator(mode="before")
    @classmethod
    def _of_preset(cls, given: Any) -> Any:
        """Add what the preset says, if there is one."""
        name = given.get("preset") if isinstance(given, dict) else None
        return host_presets.read(name) | given if name in host_presets.names() else given


class Transport(Typed):
    """A transport; its name is what a workload refers to when there are several."""

    name: Name = "main"
    host: Host = Host()


class SwitchClass(Closed):
    """Switches of some tiers that differ from the others; what is not said is as there."""

    tiers: Annotated[list[Tier], Field(min_length=1)]
    queue: Typed | None = None
    scheduler: Typed | Literal["none"] | None = None
    programs: list[Typed] | None = None
    forwarding: Typed | None = None


class Switch(Closed):
    """Every switch: what plugs in. Without a `scheduler` the highest priority goes first."""

    queue: Typed = Typed(type="ns3::DropTail")
    scheduler: Typed | None = None
    programs: list[Typed] = []
    forwarding: Typed = Typed(type="ns3::EcmpHash")
    classes: list[SwitchClass] = []


class Trace(Closed):
    """Optional tables of a run, and hosts whose frames go to pcap files.

    Samples are of the ports of `nodes` only, if these are given.
    """

    nodes: list[Annotated[int, Field(strict=True, ge=0)]] = []
    pcap: list[Annotated[int, Field(strict=True)]] = []


_NAME_OF_EACH = {
    "type": "object", "additionalProperties": False, "required": [*REACHES],
    "properties": dict.fromkeys(REACHES, {"type": "string"}),
}  # fmt: skip
_Named = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string"}, _NAME_OF_EACH, {"type": "null"}]})
]


class Load(Plugin):
    """A workload; `transport` names the transport that carries it (default: the first).

    A mapping names one for each network: of a rack, of a datacenter, and between datacenters.
    """

    transport: Any = None

    @field_validator("transport", mode="plain", json_schema_input_type=_Named)
    @classmethod
    def _is_named(cls, given: Any) -> str | dict[str, str] | None:
        """Refuse what names no transport."""
        if given is None or isinstance(given, str):
            return given
        if isinstance(given, dict) and set(given) == set(REACHES) and (
            all(isinstance(name, str) for name in given.values())
        ):  # fmt: skip
            return given
        lacks = [name for name in REACHES if name not in given] if isinstance(given, dict) else []
        lacking = f" for {lacks[0]}" if lacks else ""
        raise ValueError(
            f"{messages.show(given)} names no transport{lacking}. Write a name, or one for each of"
            f" {', '.join(REACHES)}."
        )


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


#: The TypeId whose attributes are the options of a section.
TYPE_OF: dict[type[Closed], str] = {
    Wire: "ns3::Wire",
    Host: "ns3::Host",
    Switch: "ns3::Switch",
    SwitchClass: "ns3::SwitchClass",
    Trace: "ns3::Trace",
}
_COMPLETE: dict[str, type[Scenario]] = {}


def complete(types: TypeIds) -> type[Scenario]:
    """Return the model of a scenario whose sections have the options that the modules register.

    Raises
    ------
    SpecError
        The modules have no such section.
    """
    known = {section: types.section(name) for section, name in TYPE_OF.items()}
    name = json.dumps([*known.values()])
    if name not in _COMPLETE:
        sections_ = Wire, SwitchClass, Trace, Host
        wire, switch_class, trace, host = (_with_options(of, known) for of in sections_)
        switch = _with_options(Switch, known, classes=(GenericAlias(list, switch_class), []))
        transport = create_model("Transport", __base__=Transport, host=(host, host()))
        transports: Any = Annotated[GenericAlias(list, transport), Field(min_length=1)]
        _COMPLETE[name] = create_model(
            "Scenario", __base__=Scenario,
            wire=(wire, wire()), switch=(switch, ...), trace=(trace, trace()),
            transport=(transports, ...),
        )  # fmt: skip
    return _COMPLETE[name]


def _with_options(section: type[Closed], known: dict, **changed: Any) -> Any:
    """Return a section with its options, which come before its other keys."""
    made: dict[str, Any] = sections.fields(known[section], of_class=section is SwitchClass)
    options = create_model("Options", __base__=Closed, **made)
    return create_model(section.__name__, __base__=(section, options), **changed)


_OF_PYTHON = {key for section in TYPE_OF for key in section.model_fields}


def options_of(resolved: Mapping) -> Iterator[tuple[str, Any]]:
    """Yield key and value of each option in one of these sections, sorted."""
    for key in sorted(resolved.keys() - _OF_PYTHON):
        yield key, resolved[key]
