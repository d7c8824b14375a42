# SPDX-License-Identifier: GPL-2.0-only
"""Demands between the datacenters of multi_site, engineered: rates granted, paths given.

Before the run `pyorch.wan` says who may send how fast and by which sites (docs/wan.md). A demand is
a message from each of its hosts, cut into one flow for each quantum of its split.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.errors import TheoryError
from pyorch.spec.fields import Closed, Count, FieldError, Flag, Number, Share
from pyorch.spec.limits import MOST_EPOCHS, MOST_FLOWS
from pyorch.spec.network import Network
from pyorch.topology import multi_site
from pyorch.units import TIME, format_exact
from pyorch.wan import control, online
from pyorch.wan import request as requests
from pyorch.wan.paths import Cables
from pyorch.wan.traffic import Stream, Traffic, engineered
from pyorch.workload._hosts import hosts
from pyorch.workload._wan_fields import Controller, Demand, check_profile

DERIVED: dict[str, Any] = {"derived": True}
TOPOLOGY = "multi_site"
ROUTE_COLUMNS = ("flow", "hop", "node", "peer", "parallel", "reverse")
#: Rates that differ by less than the tolerance of the solver are the same [1].
_SAME = 1e-6
#: Plans that were made last: flows, paths and checks of a run, and other seeds, ask for the same.
MOST_MADE = 32
_MADE: dict[tuple, Traffic] = {}


class Params(Closed):
    """The demands, and how they are served.

    `scale` multiplies all that is asked for, not the messages.

    `admission`: flows keep to what is `granted`, to what they have `asked` for, or to what their
    transport says (`none`). Without `routed` they take the paths that switches choose. Without
    `control` rates and paths stay as they are when links change.
    """

    demands: Annotated[list[Demand], Field(min_length=1)]
    scale: Annotated[Number, Field(gt=0, le=1e6)] = 1.0
    tunnels: Annotated[Count, Field(le=requests.MOST_TUNNELS)] = 4
    quanta: Annotated[Count, Field(le=1024)] = 4
    headroom: Annotated[Share, Field(lt=1)] = 0.05
    admission: Literal["granted", "asked", "none"] = "granted"
    routed: Flag = True
    control: Controller | None = None
    sites: list[str] = Field(json_schema_extra=DERIVED)
    borders: list[int] = Field(json_schema_extra=DERIVED)
    links: list[requests.Link] = Field(json_schema_extra=DERIVED)
    overhead: float = Field(json_schema_extra=DERIVED)

    @model_validator(mode="before")
    @classmethod
    def _know_the_network(cls, given: object, info: ValidationInfo) -> object:
        """Put sites, their links, and the parity of the transport into the spec."""
        if not isinstance(given, dict):
            return given
        for name in ("sites", "borders", "links", "overhead"):
            if name in given:
                raise FieldError(name, f"{name} are those of the scenario. Leave it out.")
        context = info.context or {}
        topology, attributes = context["topology"], context["transport"].attributes
        if topology.type != TOPOLOGY:
            raise FieldError(
                "type", f"demands are between the sites of {TOPOLOGY}; the topology is"
                f" {topology.type}.",
            )  # fmt: skip
        parity, block = (int(attributes.get(f"{n}Packets", 0)) for n in ("Parity", "Block"))
        return {
            **given,
            "sites": [site.name for site in topology.params.sites],
            "borders": [site.borders for site in topology.params.sites],
            "links": _links(topology.params),
            "overhead": parity / block if parity else 0.0,
        }

    @model_validator(mode="after")
    def _can_be_served(self) -> "Params":
        _request(self)
        for index, demand in enumerate(self.demands):
            if demand.message_bytes < self.quanta:
                raise FieldError(
                    f"demands.{index}.message", f"{demand.message_bytes} B do not divide into"
                    f" {self.quanta} quanta. Write a larger message or fewer quanta.",
                )  # fmt: skip
        if self.control and not (self.routed and self.admission == "granted"):
            raise FieldError(
                "control", "a controller sets rates and paths. Leave `admission` and `routed` out."
            )
        for index, demand in enumerate(self.demands):
            check_profile(f"demands.{index}", demand, self.control)
        n_flows = sum(demand.hosts for demand in self.demands) * self.quanta
        if n_flows > MOST_FLOWS:
            raise FieldError("demands", f"{n_flows} flows; there may be {MOST_FLOWS}.")
        return self


def _links(topology: multi_site.Params) -> list[dict]:
    """Return a link for each two sites that are joined, all cables between them together."""
    borders = {site.name: site.borders for site in topology.sites}
    rates: dict[tuple[str, ...], int] = {}
    delays: dict[tuple[str, ...], int] = {}
    for entry in topology.long_haul:
        pair = tuple(sorted(entry.between, key=list(borders).index))
        n_cables = borders[pair[0]] * borders[pair[1]] * entry.parallel
        rates[pair] = rates.get(pair, 0) + n_cables * entry.rate_bps
        delays[pair] = max(delays.get(pair, 0), entry.delay_ps)
    return [
        {"between": list(pair), "rate": f"{rate} bit/s", "delay": f"{delays[pair]} ps"}
        for pair, rate in rates.items()
    ]


def _request(params: Params) -> Any:
    """Return what is asked of the planner; its own model refuses what is wrong.

    Its demands are those of this package, which have more fields.
    """
    made = requests.Request.model_construct(
        sites=params.sites,
        links=params.links,
        demands=[_scaled(demand, params.scale) for demand in params.demands],
        tunnels=params.tunnels,
        quanta=params.quanta,
        headroom=params.headroom,
    )
    made.check()
    return made


def asked(params: Params) -> list[Demand]:
    """Return the demands with what they ask for at this scale."""
    return _request(params).demands


def _scaled(demand: Demand, scale: float) -> Demand:
    """Return a demand that asks for `scale` times as much at `scale` times the share."""
    points = [
        requests.Point.model_construct(
            share=point.share * scale, rate_bps=round(point.rate_bps * scale)
        )
        for point in demand.function
    ]
    asked = demand.demand_bps and max(1, round(demand.demand_bps * scale))
    profile = [
        change.model_copy(update={"rate_bps": max(1, round(change.rate_bps * scale))})
        for change in demand.profile
    ]
    return demand.model_copy(update={"demand_bps": asked, "function": points, "profile": profile})


def traffic(params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]) -> Traffic:
    """Return the flows, their paths, and what each demand is granted."""
    request = _request(params)
    columns = [table[name].tobytes() for table in (nodes, links) for name in sorted(table)]
    ends = tuple(zip(params.sites, params.borders, strict=True))
    key = (request.model_dump_json(), repr(ends), float(params.overhead), *columns)
    if key not in _MADE:
        if len(_MADE) == MOST_MADE:
            del _MADE[next(iter(_MADE))]
        cables = Cables(nodes, links, list(ends))
        hosts_of = [demand.hosts for demand in request.demands]
        _MADE[key] = engineered(request, hosts_of, cables, params.overhead)
    return _MADE[key]


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if a demand can never be granted, or begins when the run has ended."""
    degree = np.bincount(np.concatenate([network.links["node_a"], network.links["node_b"]]))
    if (degree[hosts(network.nodes)] > 1).any():
        raise FieldError("type", "hosts have several ports; paths are planned for one each.")
    given = params.control
    if given and given.controller and stop_ps / given.epoch_ps > MOST_EPOCHS:
        raise FieldError(
            "control.epoch",
            f"{format_exact(given.epoch_ps, TIME)} makes {stop_ps / given.epoch_ps:.3g}"
            f" epochs until stop, {format_exact(stop_ps, TIME)}; at most {MOST_EPOCHS:,}. Write a"
            " longer one, or lower stop.",
        )
    for index, demand in enumerate(_request(params).demands):
        if demand.start_ps >= stop_ps:
            start, stop = (format_exact(t, TIME) for t in (demand.start_ps, stop_ps))
            raise FieldError(
                f"demands.{index}.start", f"{start} is not before stop, {stop}. Raise stop."
            )
        for change, later in enumerate(demand.profile):
            if later.start_ps >= stop_ps:
                start, stop = (format_exact(t, TIME) for t in (later.start_ps, stop_ps))
                raise FieldError(
                    f"demands.{index}.profile.{change}.from",
                    f"{start} is not before stop, {stop}. Raise stop.",
                )
    try:
        made = traffic(params, network.nodes, network.links)
    except TheoryError as error:
        raise FieldError("demands", str(error)) from None
    for demand, granted in zip(params.demands, made.granted_bps, strict=True):
        if granted < 1 and params.admission == "granted":
            raise FieldError(
                "demands", f"demand {demand.name} is granted nothing; others of higher priority"
                " have all of its paths. Ask for less with them, or give it the same priority.",
            )  # fmt: skip


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the flows, demand by demand and source by source."""
    made, request = traffic(params, nodes, links), _request(params)
    rows = [(request.demands[stream.demand], stream) for stream in made.streams]
    quanta = params.quanta
    found = {
        "src": [stream.src for _, stream in rows],
        "dst": [stream.dst for _, stream in rows],
        "bytes": [
            demand.message_bytes * (stream.part + 1) // quanta
            - demand.message_bytes * stream.part // quanta
            for demand, stream in rows
        ],
        "start_ps": [demand.start_ps for demand, _ in rows],
    }
    if params.admission != "none":
        asked = [demand.points()[-1][1] for demand in request.demands]
        rates = made.granted_bps if params.admission == "granted" else asked
        found["rate_bps"] = _each_bps(params, made, rates)
    return {name: np.array(column, dtype=np.int64) for name, column in found.items()}


def routes(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the path of each flow and of its ACKs, which come back by the same cables."""
    if not params.routed:
        return {}
    streams = traffic(params, nodes, links).streams
    rows = [row for flow, stream in enumerate(streams) for row in _rows_of(flow, stream)]
    return _columns(ROUTE_COLUMNS, rows)


def _rows_of(flow: int, stream: Stream) -> list[tuple]:
    """Return the rows of the paths of a flow and its ACKs."""
    return [(flow, *hop) for hop in stream.hops()]


def _columns(names: Sequence[str], rows: list[tuple]) -> dict[str, np.ndarray]:
    table = np.array(rows, dtype=np.int64).reshape(-1, len(names))
    return {name: table[:, i].copy() for i, name in enumerate(names)}


def _each_bps(params: Params, made: Traffic, rates_bps: Sequence[float]) -> list[int]:
    """Return the rate of each flow, parity among it, when demands have these rates."""
    demands = _request(params).demands
    each = [
        bps * (1 + params.overhead) / (demand.hosts * params.quanta)
        for bps, demand in zip(rates_bps, demands, strict=True)
    ]
    return [max(1, int(each[stream.demand])) for stream in made.streams]


def steps(
    params: Params,
    nodes: dict[str, np.ndarray],
    links: dict[str, np.ndarray],
    events: dict[str, np.ndarray],
) -> list[control.Step]:
    """Return the plans that a controller makes as links change; none if it sees for itself."""
    given = params.control
    if not given or given.controller or not len(events["time_ps"]):
        return []
    sites = list(zip(params.sites, params.borders, strict=True))
    first, network = traffic(params, nodes, links), (nodes, links, sites)
    try:
        return control.steps(
            _times(given), _request(params), first, network, events, params.overhead
        )
    except TheoryError as error:
        raise FieldError("control", str(error)) from None


def changes(
    params: Params,
    nodes: dict[str, np.ndarray],
    links: dict[str, np.ndarray],
    events: dict[str, np.ndarray],
) -> dict[str, dict[str, np.ndarray]]:
    """Return what the controller changes as links change: rates, and paths from some time on."""
    rates, paths = [], []
    found = steps(params, nodes, links, events)
    if not found:
        return {}
    for step in found:
        plans = (step.before, step.after)
        now, then = (_each_bps(params, made, made.granted_bps) for made in plans)
        rates += [
            (step.lower_ps if new < old else step.raise_ps, flow, new)
            for flow, (old, new) in enumerate(zip(now, then, strict=True))
            if abs(new - old) > _SAME * old
        ]  # fmt: skip
        pairs = zip(step.before.streams, step.after.streams, strict=True)
        for flow, (old, new) in enumerate(pairs):
            if old.path != new.path:
                paths += [(*row, step.move_ps) for row in _rows_of(flow, new)]
    return {
        "rate_changes": _columns(("time_ps", "flow", "rate_bps"), rates),
        "routes": _columns((*ROUTE_COLUMNS, "from_ps"), paths),
    }


def _times(given: Controller) -> control.Control:
    away = [(part.start_ps, part.end_ps) for part in given.away]
    return control.Control(given.delay_ps, given.step_ps, given.epoch_ps, away)


def loop(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> online.Loop | None:
    """Return who limits and routes the flows while the run goes on; None if nobody does."""
    given, memory = params.control, {}
    if not given or not given.controller:
        return None
    module, own = given.controller.module, given.controller.params
    request = _request(params)
    offers = [
        [
            (demand.start_ps, demand.points()[-1][1]),
            *((change.start_ps, float(change.rate_bps)) for change in demand.profile),
        ]
        for demand in request.demands
    ]
    return online.Loop(
        _times(given),
        lambda asked, seen: module.plan(own, asked, seen, memory),
        request,
        traffic(params, nodes, links),
        offers,
        (nodes, links, list(zip(params.sites, params.borders, strict=True))),
        params.overhead,
        f"{module.__name__.replace('.', '/')}.py",
    )
