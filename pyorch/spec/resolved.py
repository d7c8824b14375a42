# SPDX-License-Identifier: GPL-2.0-only
"""The resolved spec of a run: every section typed, in integers, with nothing left to be said.

It is made once, of a scenario (`pyorch.spec.resolve`), and read back from ``spec.json`` by
`pyorch.spec.stored`. Attributes of TypeIds, and the options that C++ modules register for wires,
switches and traces, are as open as these modules are.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import ConfigDict, SerializerFunctionWrapHandler, model_serializer

from pyorch.spec.fields import Closed, Name
from pyorch.spec.parts import REACHES, Part, Topology

Value = bool | int | float | str


class Options(Closed):
    """A section with the options that its TypeId registers: ``buffer_bytes`` of BufferBytes."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, Value | None]

    if TYPE_CHECKING:  # what a TypeId registers is known when it is built

        def __getattr__(self, name: str) -> Any: ...


class Typed(Closed):
    """An ns-3 TypeId and its attributes, in ns-3's own spelling: in a resolved spec all of them."""

    type: str
    attributes: dict[str, Value] = {}


class Transport(Typed):
    """A transport; its name is what a workload refers to when there are several.

    `host` is what its messages cost the hosts at their ends; None if they cost nothing.
    """

    name: Name = "main"
    host: Options | None = None

    @model_serializer(mode="wrap")
    def _free(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in whole(self).items() if key != "host" or value}


class LinkClass(Closed):
    """What plugs into links between nodes of two tiers."""

    tiers: tuple[int, int]
    flow_control: Typed | None = None
    loss_model: Typed | None = None


class Link(Closed):
    """Every link, as far as the topology does not say otherwise."""

    rate_bps: int
    delay_ps: int
    jitter_ps: int = 0
    loss_ratio: float = 0.0
    bit_error_ratio: float = 0.0
    flow_control: Typed | None = None
    loss_model: Typed | None = None
    classes: tuple[LinkClass, ...] = ()


class Switches(Options):
    """What plugs into some switches."""

    queue: Typed
    scheduler: Typed | None
    programs: tuple[Typed, ...]
    forwarding: Typed


class SwitchClass(Switches):
    """Switches of some tiers, with all that they have."""

    tiers: tuple[int, ...]


class Switch(Switches):
    """All switches but those of classes."""

    classes: tuple[SwitchClass, ...]

    @property
    def kinds(self) -> tuple[Switches, ...]:
        """These switches, then those of each class."""
        return (self, *self.classes)


class Trace(Options):
    """Optional tables of a run, and hosts whose frames go to pcap files."""

    nodes: tuple[int, ...]
    pcap: tuple[int, ...]


class _Short(Closed):
    """A section that leaves out what is the default, so that a new field changes no name."""

    @model_serializer(mode="wrap")
    def _short(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            key: value for key, value in whole(self).items()
            if key not in fields or getattr(self, key) != fields[key].default
        }  # fmt: skip


class Engine(_Short):
    """The engine of a run. Threads belong to the machine that makes it, and are no part of it."""

    type: Literal["packets", "fluid"] = "packets"
    skip_ppm: int | None = None


class ByReach(Closed):
    """The index of the transport on each network that carries messages; fields as in `REACHES`."""

    scale_up: int
    scale_out: int
    wide_area: int


class Workload(Part):
    """Messages, and the index of the transport that carries them."""

    PACKAGE: ClassVar[str] = "pyorch.workload"

    transport: int | ByReach

    @property
    def carriers(self) -> tuple[int, ...]:
        """The transport that carries messages on each of `REACHES`."""
        if isinstance(self.transport, int):
            return (self.transport,) * len(REACHES)
        return tuple(getattr(self.transport, name) for name in REACHES)

    @property
    def control(self) -> Any:
        """Who follows links or demands that change; None if nobody does."""
        return getattr(self.params, "control", None)

    @property
    def controller(self) -> Part | None:
        """Who looks at the run while it goes on; None if nobody does."""
        return self.control and self.control.controller


class Failure(Part):
    """A model of when links fail."""

    PACKAGE: ClassVar[str] = "pyorch.failure"


class Jobs(_Short):
    """Who has handed out hosts, and `placed`, those of each workload; nothing asks again."""

    model_config = ConfigDict(extra="allow")
    PACKAGE: ClassVar[str] = "pyorch.allocation"

    type: str
    hosts: tuple[int, ...]
    only: int | None = None
    placed: tuple[tuple[int, ...], ...]


class Spec(Closed):
    """One run: what decides its result, and nothing else."""

    name: str
    template: str
    topology: Topology
    link: Link
    wire: Options
    switch: Switch
    workload: tuple[Workload, ...]
    jobs: Jobs | None = None
    transport: tuple[Transport, ...]
    failures: tuple[Failure, ...]
    stop_ps: int
    trace: Trace
    engine: Engine = Engine()
    seed: int

    @model_serializer(mode="wrap")
    def _sections(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        left_out = {"engine": {}, "jobs": None}
        found = whole(self)
        return {k: v for k, v in found.items() if k not in left_out or v != left_out[k]}

    def plain(self) -> dict[str, Any]:
        """Return what ``spec.json`` holds."""
        return self.model_dump(mode="json")
