# SPDX-License-Identifier: GPL-2.0-only
"""A task graph from a file, in one of the formats of `pyorch.trace_format`.

Rank r of the file is a host of the topology by `placement`, or the r-th of `hosts`. What operations
of a whole communicator are made of, which most formats leave open, `algorithms` says.
"""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from pyorch import plugins
from pyorch.errors import PluginError, did_you_mean, quoted
from pyorch.spec.fields import (
    FOUND,
    Closed,
    Count,
    FieldError,
    Grown,
    RateBps,
    TimePs,
    quantity,
)
from pyorch.spec.files import FileRef, InputFile, StreamedFile, json_value, text
from pyorch.spec.limits import MOST_FLOWS, MOST_NODES
from pyorch.spec.network import Columns, Network
from pyorch.training import astra, graph, tables
from pyorch.training.foreign import Algorithm, Asked, Trace
from pyorch.units import COMPUTE
from pyorch.workload._hosts import hosts
from pyorch.workload._listed import sizes
from pyorch.workload._placement import Placement, check_placement, clocks, placed

KEY = "file"
#: Which algorithm does an operation that nothing is said of.
ALGORITHMS = {
    "all_reduce": "ring", "reduce_scatter": "ring", "all_gather": "ring", "all_to_all": "direct",
    "broadcast": "tree", "reduce": "tree", "gather": "tree",
}  # fmt: skip
#: Keys that say what a file leaves open; each format uses some.
_OPEN = (
    "communicators", "algorithms", "dimensions", "compute", "system", "gpus", "step_delay",
)  # fmt: skip
_FORMATS = "pyorch.trace_format"
Host = Annotated[int, Field(strict=True, ge=0, le=MOST_NODES)]


def _is_format(name: str) -> str:
    """Return the name of a format; ValueError names those there are."""
    try:
        plugins.load(_FORMATS, name)
    except PluginError as error:
        raise ValueError(str(error)) from None
    return name


def _name_formats(schema: dict[str, Any]) -> None:
    schema["enum"] = plugins.names(_FORMATS)


Format = Annotated[str, AfterValidator(_is_format), Field(json_schema_extra=_name_formats)]


class Compute(Closed):
    """The rates of an accelerator, of computations that have operations and bytes alone."""

    peak_flops: Annotated[int, quantity(COMPUTE), Field(ge=1, alias="peak")]
    memory_bps: RateBps = Field(alias="memory")


class Params(Grown):
    """The file, what it leaves open, and which hosts its ranks are.

    `file` of Chakra is that of rank 0, ``step.0.et``; the others lie beside it and are found when
    it is read (`ranks`; a scenario does not give them). `communicators` is a JSON file with the
    ranks of each, `system` a file of ASTRA-sim. `gpus` is how many ranks a workload of SimAI has;
    `dimensions` are how many ranks each dimension of `involved_dim` has. `step_delay` passes before
    a message of a collective that waits for others, when they are there.
    """

    LATER: ClassVar[tuple[str, ...]] = ("compute", "dimensions", "gpus", "system", "step_delay_ps")

    format: Format
    file: StreamedFile
    ranks: tuple[StreamedFile, ...] = Field((), json_schema_extra=FOUND)
    communicators: InputFile | None = None
    algorithms: dict[str, str] = {}
    dimensions: tuple[Count, ...] = ()
    compute: Compute | None = None
    gpus: Annotated[int, Field(strict=True, ge=2, le=MOST_NODES)] | None = None
    system: InputFile | None = None
    step_delay_ps: TimePs = Field(0, alias="step_delay")
    placement: Placement = "packed"
    stride: Annotated[int, Field(strict=True, ge=0)] = 0
    first_host: Annotated[int, Field(strict=True, ge=0)] = 0
    hosts: tuple[Host, ...] = ()
    start_ps: TimePs = Field(0, alias="start")
    skew_ps: TimePs = Field(0, alias="skew")

    @model_validator(mode="before")
    @classmethod
    def _find_ranks(cls, given: Any, info: ValidationInfo) -> Any:
        """Find the files of the other ranks, unless this is a spec from disk."""
        context = info.context or {}
        if not isinstance(given, dict) or context.get("stored"):
            return given
        if "ranks" in given:
            raise FieldError("ranks", "are found beside the file of rank 0. Leave them out.")
        name, kind = given.get(KEY), given.get("format")
        if not isinstance(name, str) or kind not in plugins.names(_FORMATS):
            return given
        if (others := getattr(plugins.load(_FORMATS, kind), "others", None)) is None:
            return given
        return {**given, "ranks": others(context.get("folder", Path()), name)}

    @model_validator(mode="after")
    def _fits(self) -> "Params":
        """Refuse what contradicts itself."""
        for operation, name in self.algorithms.items():
            _check_algorithm(operation, name)
        for key in _OPEN:
            given = getattr(self, "step_delay_ps" if key == "step_delay" else key)
            if given and key not in plugins.load(_FORMATS, self.format).USES:
                raise FieldError(key, f"{self.format} has no use for it. Leave it out.")
        if not self.hosts:
            check_placement(self.placement, self.stride, self.first_host)
        elif self.placement != "packed" or self.stride or self.first_host:
            raise FieldError(
                "hosts", "lists the hosts, so leave placement, stride and first_host out."
            )
        if len(set(self.hosts)) < len(self.hosts):
            raise FieldError("hosts", "a host is there twice. Each rank has its own.")
        return self


def _check_algorithm(operation: str, name: str) -> None:
    """Raise FieldError unless an algorithm does an operation without further parameters."""
    if operation not in ALGORITHMS:
        raise FieldError(
            "algorithms", f"no operation {quoted(operation)}. There are {', '.join(ALGORITHMS)}."
            f"{did_you_mean(operation, ALGORITHMS)}",
        )  # fmt: skip
    try:
        module = plugins.load("pyorch.collective", name)
    except PluginError as error:
        raise FieldError("algorithms", str(error)) from None
    needs = [key for key, field in module.Params.model_fields.items() if field.is_required()]
    if operation not in module.OPERATIONS or needs or getattr(module, "IN_NETWORK", False):
        raise FieldError("algorithms", f"{name} does no {operation} among ranks of a trace.")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the file is no task graph, or its ranks do not fit the network."""
    found, available = graph_of(params), network.counts["hosts"]
    where = params.file["path"]
    if params.hosts and len(params.hosts) != found.devices:
        raise FieldError(
            "hosts", f"{len(params.hosts)} for the {found.devices} ranks of {where}. List one for"
            " each.",
        )  # fmt: skip
    if params.hosts and max(params.hosts) >= available:
        raise FieldError(
            "hosts", f"there is no host {max(params.hosts)}. The {available} hosts are 0 to"
            f" {available - 1}.",
        )  # fmt: skip
    needed = found.devices
    if not params.hosts and params.placement != "random" and needed <= available:
        needed = int(_host_index(params, network.nodes, network.links, 0).max()) + 1
    if needed > available:
        raise FieldError(
            KEY,
            f"{where}: {found.devices} ranks placed like this need {needed} hosts; the topology has"
            f" {available}.",
        )
    n_messages = int((found.kind == graph.MESSAGE).sum())
    if not 0 < n_messages <= MOST_FLOWS:
        raise FieldError(KEY, f"{where}: {n_messages:,} messages; write 1 to {MOST_FLOWS:,}.")
    graph.check(found, KEY)
    most_bytes = network.largest_message_bytes
    if (large := np.flatnonzero(found.size_bytes > most_bytes)).size:
        row = int(large[0])
        raise FieldError(
            KEY, f"{where}: rank {found.device[row]} to {found.peer[row]}:"
            f" {sizes(int(found.size_bytes[row]), most_bytes)}",
        )  # fmt: skip


def flows(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return the messages."""
    return tables.flows(graph_of(params), _hosts(params, nodes, links, seed), _starts(params, seed))


def tasks(params: Params, nodes: Columns, links: Columns, seed: int) -> Columns:
    """Return computations and barriers."""
    return tables.tasks(graph_of(params), _hosts(params, nodes, links, seed), _starts(params, seed))


def dependencies(params: Params) -> Columns:
    """Return which of them wait for which."""
    return tables.dependencies(graph_of(params))


def remarks(params: Params) -> tuple[str, ...]:
    """Return sentences on what the file says and a run does not follow."""
    return _trace(_asked(params)).remarks


def graph_of(params: Params) -> graph.TaskGraph:
    """Return the tasks of the file, by rank."""
    return _trace(_asked(params)).graph


def _starts(params: Params, seed: int) -> np.ndarray:
    return clocks(params.start_ps, params.skew_ps, graph_of(params).devices, seed)


def _hosts(params: Params, nodes: Columns, links: Columns, seed: int) -> np.ndarray:
    return hosts(nodes)[_host_index(params, nodes, links, seed)]


def _host_index(params: Params, nodes: Columns, links: Columns, seed: int) -> np.ndarray:
    """Return the host of each rank, counted from 0."""
    if params.hosts:
        return np.array(params.hosts)
    shape = (1, graph_of(params).devices)
    return placed(
        shape, params.placement, params.stride, params.first_host, nodes, links, seed, "trace"
    )[0]


class _Asked(NamedTuple):
    """What decides the tasks of a file; files are pairs of path and digest."""

    format: str
    files: tuple[tuple[str, str], ...]
    communicators: tuple[str, str] | None
    algorithms: tuple[tuple[str, str], ...]
    dimensions: tuple[int, ...]
    compute: tuple[int, int] | None
    gpus: int | None
    system: tuple[str, str] | None
    step_ps: int


def _asked(params: Params) -> _Asked:
    groups, compute, system = params.communicators, params.compute, params.system
    return _Asked(
        params.format,
        tuple((file["path"], file["sha256"]) for file in (params.file, *params.ranks)),
        (groups["path"], groups["sha256"]) if groups else None,
        tuple(sorted(params.algorithms.items())),
        tuple(params.dimensions),
        (compute.peak_flops, compute.memory_bps) if compute else None,
        params.gpus,
        (system["path"], system["sha256"]) if system else None,
        params.step_delay_ps,
    )


def _ref(file: tuple[str, str]) -> FileRef:
    return {"path": file[0], "sha256": file[1]}


@lru_cache(maxsize=4)
def _trace(asked: _Asked) -> Trace:
    system = astra.System()
    if asked.system:
        system = astra.read(text(_ref(asked.system), "system"), asked.system[0])
    chosen = dict(asked.algorithms)
    theirs = tuple(pair for pair in system.algorithms if pair[0] not in chosen)
    found = plugins.load(_FORMATS, asked.format).read(
        Asked(
            tuple(_ref(file) for file in asked.files),
            _algorithm(system.flat() | chosen),
            _groups(_ref(asked.communicators)) if asked.communicators else {},
            asked.dimensions,
            asked.compute,
            asked.gpus,
            system._replace(algorithms=theirs),
            asked.step_ps,
            KEY,
        )
    )
    for column in found.graph[2:]:
        np.asarray(column).flags.writeable = False
    return found


def _algorithm(chosen: dict[str, str]) -> Algorithm:
    """Return what says which module does an operation."""

    def module(operation: str) -> tuple[Any, Any]:
        found = plugins.load("pyorch.collective", (ALGORITHMS | chosen)[operation])
        return found, found.Params()

    return module


def _groups(file: FileRef) -> dict[str, list[int]]:
    """Return the ranks of each communicator: ``{"1": [0, 1], "2": [2, 3]}``."""
    found = json_value(text(file, "communicators"), file["path"], "communicators")
    lists = isinstance(found, dict) and all(isinstance(ranks, list) for ranks in found.values())
    if not lists or not all(type(rank) is int for ranks in found.values() for rank in ranks):
        raise FieldError(
            "communicators", f'{file["path"]}: write names and ranks: {{"1": [0, 1]}}.'
        )
    return found
