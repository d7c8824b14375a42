# SPDX-License-Identifier: GPL-2.0-only
"""Takes one point of a scenario, returns its resolved spec: checked, in integers, no defaults left.

The parameters of topologies and workloads are checked by their own models, which are found by
the name in `type`; attributes of ns-3 types are checked against what the modules registered.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pyorch import plugins
from pyorch.draws import nth_seed
from pyorch.errors import PluginError, SpecError, did_you_mean, quoted
from pyorch.spec import messages, overrides, resolved, schema, typeids
from pyorch.spec.checks import (
    check_buffer,
    check_controlled,
    check_controllers,
    check_forwarding,
    check_jitter,
    check_signals,
    check_tiers,
    check_trace,
    largest_message_bytes,
)
from pyorch.spec.engine_checks import check_fluid, check_skip
from pyorch.spec.fields import Closed, FieldError, Plugin, check_text
from pyorch.spec.jobs import check_shared, handed_out, nodes_of
from pyorch.spec.limits import LONGEST_TEXT, MOST_LINKS
from pyorch.spec.network import Network
from pyorch.spec.parts import Part, Topology
from pyorch.spec.planning import PLANNING_KEYS
from pyorch.spec.reduction import check_reduction, divided
from pyorch.spec.resolved import (
    ByReach,
    Engine,
    Failure,
    Link,
    LinkClass,
    Options,
    Spec,
    Switch,
    SwitchClass,
    Trace,
    Transport,
    Typed,
    Workload,
)
from pyorch.spec.scenario import ScenarioFile
from pyorch.spec.sections import key_of, written
from pyorch.spec.typeids import LINK_ROLES, SWITCH_ROLES, TypeIds, check_value
from pyorch.spec.yaml_lines import KeyPath
from pyorch.units import TIME, format_exact

#: Networks by topology and link.
Shapes = dict[tuple[str, str], Network]
#: Networks that are kept, since the next run may have the same.
_MOST_SHAPES = 16
_TYPE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


#: Options of ns3::Host that do nothing without another one.
_HALVES = {
    "BusCreditBytes": "BusRoundTripPs", "BusRoundTripPs": "BusCreditBytes",
    "RequestSizeBytes": "RequestTimePs",
}  # fmt: skip


def _check_costs(host: Mapping[str, Any]) -> None:
    """Raise FieldError for an option of hosts that lacks the one it needs."""
    for name, other in _HALVES.items():
        if host.get(key_of(name)) and not host.get(key_of(other)):
            raise FieldError(written(name), f"does nothing without {written(other)}. Give both.")


def as_built(type_name: str, name: str, value: object) -> None:
    """Raise ValueError for a value that an attribute cannot have, as far as its module is built.

    A spec of other modules than those that are built now can still be looked at.
    """
    try:
        attribute = typeids.load().attributes(type_name).get(name)
    except (SpecError, KeyError):
        return
    if attribute is not None and (settled := check_value(attribute, value)) != value:
        raise ValueError(f"{quoted(value)} would be {quoted(settled)}.")


def _left_to_file(values: dict) -> dict[str, str]:
    """Return what `link` need not say with this topology, with values that stand in for it."""
    topology, link = values.get("topology"), values.get("link", {})
    kind = topology.get("type") if isinstance(topology, dict) else None
    try:
        own = getattr(plugins.load("pyorch.topology", kind), "OWN_LINKS", False)
    except PluginError:
        return {}  # its name is refused when it is resolved
    stand_in = {"rate": "1 bit/s", "delay": "1 ps"}
    return {k: v for k, v in stand_in.items() if own and isinstance(link, dict) and k not in link}


def _by_cable(values: dict, path: KeyPath) -> str:
    """Return what to do if a list was given where all cables, or all of a tier, have one value."""
    ends = ("rate", "delay")
    if path[:1] not in (("topology",), ("link",)) or not str(path[-1]).endswith(ends):
        return ""
    found: Any = values
    for part in path:
        try:
            found = found[part]
        except (KeyError, IndexError, TypeError):
            return ""
    if not isinstance(found, list):
        return ""
    return (
        f" All cables that {path[-1]} is for have the same; topology from_file takes a rate and a"
        " delay for each cable (docs/scenarios.md, Cables of unequal length)."
    )


class Resolver:
    """Resolves many points of scenarios; what they share is computed once.

    Without `types` what is resolved is a spec from disk: its attributes are settled and its files
    have been found already.
    """

    def __init__(self, types: TypeIds | None):
        self._types = types
        self._shapes: Shapes = {}

    def resolve(self, scenario: ScenarioFile) -> Spec:
        """Return the resolved spec of a scenario, as `resolve_with_network`."""
        return self.resolve_with_network(scenario)[0]

    def resolve_with_network(self, scenario: ScenarioFile) -> tuple[Spec, Network]:
        """Return the resolved spec of a scenario with all overrides applied, and its network.

        Raises
        ------
        SpecError
            With file, line, key path, what is wrong, what is allowed, what to do.
        """
        return _Point(scenario, self._types, self._shapes).settled()


class _Point:
    """One point of a scenario on its way to a spec."""

    def __init__(self, scenario: ScenarioFile, types: TypeIds | None, shapes: Shapes):
        self._scenario, self._types, self._shapes = scenario, types, shapes

    @contextmanager
    def _at(self, *path: str | int) -> Iterator[None]:
        """Say of a FieldError where it stands: below this path."""
        try:
            yield
        except FieldError as error:
            where = (*path, *overrides.split(error.field))
            raise self._scenario.error(where, str(error)) from None

    def settled(self) -> tuple[Spec, Network]:
        """Return the spec, and its network."""
        values = {k: v for k, v in self._scenario.values.items() if k not in PLANNING_KEYS}
        of_file = _left_to_file(values)
        model = schema.complete(self._types or typeids.load())
        try:
            if of_file:
                values["link"] = {**values.get("link", {}), **of_file}
            point = model.model_validate(values)
        except ValidationError as error:
            path, message = messages.first(error, model)
            raise self._scenario.error(path, message + _by_cable(values, path)) from None
        switch, link = self._switch(point.switch), self._link(point.link)
        topology = Topology.model_construct(
            type=point.topology.type,
            params=self._params(Topology, point.topology, ("topology",), {"link": link}),
        )
        network = self._shape(topology, link)
        # What is said of all links is then said of the fastest and longest.
        columns = [{"rate": "rate_bps", "delay": "delay_ps"}[key] for key in of_file]
        link = link.model_copy(update={name: int(network.links[name].max()) for name in columns})
        trace = Trace(**point.trace.model_dump())
        with self._at("trace"):
            check_trace(trace, network.nodes, point.stop_ps)
        transports = self._transports(point.transport)
        loads = [
            self._load(load, ("workload", i), topology, transports, point.wire, link)
            for i, load in enumerate(point.workload)
        ]
        jobs = None
        if point.jobs is not None:
            jobs, loads = self._hand_out(point, loads, network)
        parts: list[Workload] = []
        for i, load in enumerate(loads):
            carriers = [transports[index] for index in load.carriers]
            most_bytes = largest_message_bytes(carriers, point.engine.type == "packets")
            own = replace(_own_network(jobs, network, i), largest_message_bytes=most_bytes)
            self._check_load(load, ("workload", i), own, point.stop_ps)
            with self._at("workload", i):
                seed = nth_seed(i, point.seed)
                parts += divided(load, transports, switch, own, jobs is not None, seed)
        spec = Spec(
            name=point.name,
            template=point.template,
            topology=topology,
            link=link,
            wire=Options(**point.wire.model_dump()),
            switch=switch,
            workload=tuple(parts),
            jobs=jobs,
            transport=transports,
            failures=tuple(
                self._failure(failure, ("failures", i), network, point.stop_ps)
                for i, failure in enumerate(point.failures)
            ),
            stop_ps=point.stop_ps,
            trace=trace,
            engine=Engine(**point.engine.model_dump(exclude={"threads"})),
            seed=point.seed,
        )
        self._check(spec, network)
        return spec, network

    def _check(self, spec: Spec, network: Network) -> None:
        """Refuse sections that do not fit each other."""
        with self._at():
            check_tiers(spec, network)
            check_jitter(spec)
            check_controllers(spec)
            check_shared(spec)
            check_fluid(spec)
            check_skip(spec)
            if self._types is not None:
                check_reduction(spec)
                check_signals(spec, self._types)
                check_controlled(spec, self._types)
        with self._at("switch"):
            if self._types is not None:
                check_buffer(spec)
                check_forwarding(spec)

    def _params(
        self, part: type[Part | resolved.Jobs], plugin: Plugin, path: KeyPath, context: dict
    ) -> Closed:
        """Return the parameters of a plug-in, checked by its own model."""
        try:
            module = plugins.load(part.PACKAGE, plugin.type)
        except PluginError as error:
            raise self._scenario.error((*path, "type"), str(error)) from None
        given = plugin.model_extra or {}
        folder = Path(self._scenario.source).parent
        context = {**context, "folder": folder, "stored": self._types is None}
        try:
            return module.Params.model_validate(given, context=context)
        except ValidationError as error:
            inner, message = messages.first(error, module.Params)
            message += _by_cable({path[0]: given}, (path[0], *inner))
            raise self._scenario.error((*path, *inner), message) from None
        except FieldError as error:
            raise self._scenario.error((*path, error.field), str(error)) from None

    def _shape(self, topology: Topology, link: Link) -> Network:
        """Return what a topology makes, computed once."""
        key = topology.model_dump_json(), link.model_dump_json()
        if key not in self._shapes:
            with self._at("topology"):
                counts = topology.counts()
                if counts.get("cables", 0) > MOST_LINKS:
                    raise FieldError(
                        "type", f"{counts['cables']} links in all; there may be {MOST_LINKS}."
                        " Lower the numbers of the topology.",
                    )  # fmt: skip
                tables = topology.tables(link)
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[key] = Network(counts, tables["nodes"], tables["links"])
        return self._shapes[key]

    def _transports(self, given: list[schema.Transport]) -> tuple[Transport, ...]:
        """Return the transports, each with a name of its own."""
        found = []
        for i, its in enumerate(given):
            typed = self._typed("transport", its, ("transport", i))
            with self._at("transport", i, "host"):
                _check_costs(its.host.model_dump())
            host = None if its.host == type(its.host)() else Options(**its.host.model_dump())
            found.append(
                Transport(type=typed.type, attributes=typed.attributes, name=its.name, host=host)
            )
        names = [its.name for its in given]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise self._scenario.error(
                    ("transport", index, "name"),
                    f"{quoted(name)} is the name of another transport too. Give each its own name.",
                )
        return tuple(found)

    def _load(
        self,
        load: schema.Load,
        path: KeyPath,
        topology: Topology,
        transports: tuple[Transport, ...],
        wire: Any,
        link: Link,
    ) -> Workload:
        """Return a workload with the index of its transport, or of one for each network."""
        names = [transport.name for transport in transports]
        by_reach = load.transport if isinstance(load.transport, dict) else {}
        for key, name in by_reach.items() or [("", load.transport)]:
            if name is not None and name not in names:
                raise self._scenario.error(
                    (*path, "transport", *filter(None, [key])),
                    f"no transport is called {quoted(name)}. There are {', '.join(names)}."
                    f"{did_you_mean(name, names)}",
                )
        context = {"topology": topology, "framing_bytes": wire.framing_bytes, "link": link}
        found: int | ByReach
        if by_reach:
            found = ByReach(**{key: names.index(name) for key, name in by_reach.items()})
            context["transport"] = transports[found.wide_area]
        else:
            found = index = names.index(load.transport) if load.transport else 0
            context["transport"] = transports[index]
        params = self._params(Workload, load, path, context)
        return Workload.model_construct(type=load.type, params=params, transport=found)

    def _hand_out(
        self, point: schema.Scenario, loads: list[Workload], network: Network
    ) -> tuple[resolved.Jobs, list[Workload]]:
        """Return the hosts of each workload; leave one workload if only that runs."""
        jobs = point.jobs
        params = self._params(resolved.Jobs, jobs, ("jobs",), {})
        chosen = None if jobs.only == "all" else jobs.only
        n_loads, n_jobs = len(loads), len(jobs.hosts)
        if chosen is not None and chosen >= n_jobs:
            raise self._scenario.error(
                ("jobs", "only"), f"there is no job {chosen}; they are 0 to {n_jobs - 1}."
            )
        alone = chosen is not None and n_loads == 1
        if n_loads != n_jobs and not alone:
            raise self._scenario.error(
                ("jobs", "hosts"), f"{n_jobs} numbers for {n_loads} workloads. Write one for each."
            )
        with self._at("jobs"):
            placed = handed_out(jobs.type, params, jobs.hosts, network, point.seed)
        if chosen is not None:
            placed = [placed[chosen]]
            loads = loads if alone else [loads[chosen]]
        own = {"hosts": jobs.hosts, "only": chosen, "placed": placed}
        return resolved.Jobs(**params.model_dump(), type=jobs.type, **own), loads

    def _failure(self, failure: Plugin, path: KeyPath, network: Network, stop_ps: int) -> Failure:
        """Return a failure model that fits the network."""
        params = self._params(Failure, failure, path, {})
        found = Failure.model_construct(type=failure.type, params=params)
        with self._at(*path):
            found.module.check(params, network.nodes, network.links, stop_ps)
        return found

    def _check_load(self, load: Workload, path: KeyPath, network: Network, stop_ps: int) -> None:
        """Refuse a workload that does not fit the topology, or begins when the run has ended."""
        start_ps = getattr(load.params, "start_ps", 0)
        with self._at(*path):
            load.module.check(load.params, network, stop_ps)
            if start_ps >= stop_ps:
                start, stop = (format_exact(t, TIME) for t in (start_ps, stop_ps))
                raise FieldError("start", f"{start} is not before stop, {stop}. Raise stop.")

    def _switch(self, given: schema.Switch) -> Switch:
        """Return what all switches have: types with all their attributes, and options."""
        own = self._plugged("switch", SWITCH_ROLES, given)
        own |= dict(schema.options_of(given.model_dump()))
        programs = self._programs(given.programs, ("switch",))
        whole = Switch(**own, programs=programs, classes=())
        classes = tuple(
            self._switch_class(its, whole, ("switch", "classes", i))
            for i, its in enumerate(given.classes)
        )
        return whole.model_copy(update={"classes": classes})

    def _link(self, given: schema.Link) -> Link:
        """Return what all links have."""
        own = self._plugged("link", LINK_ROLES, given)
        whole = Link(**given.model_dump(exclude={*LINK_ROLES, "classes"}), **own)
        classes = tuple(
            self._link_class(its, whole, ("link", "classes", i))
            for i, its in enumerate(given.classes)
        )
        return whole.model_copy(update={"classes": classes})

    def _plugged(
        self, section: str, roles: Iterable[str], given: schema.Switch | schema.Link
    ) -> dict[str, Typed | None]:
        """Return what plugs into a section, by role."""
        types = {role: getattr(given, role) for role in roles}
        return {
            role: typed and self._typed(role, typed, (section, role))
            for role, typed in types.items()
        }

    def _programs(self, given: list[Typed], path: KeyPath) -> tuple[Typed, ...]:
        return tuple(
            self._typed("program", program, (*path, "programs", i))
            for i, program in enumerate(given)
        )

    def _switch_class(
        self, given: schema.SwitchClass, switch: Switch, path: KeyPath
    ) -> SwitchClass:
        """Return everything that switches of some tiers have; what is not said is as elsewhere."""
        own = {}
        for key, value in schema.options_of(given.model_dump()):
            own[key] = getattr(switch, key) if value is None else None if value == "none" else value
        for role in SWITCH_ROLES:
            given_type, default = getattr(given, role), getattr(switch, role)
            own[role] = self._override(role, given_type, default, path)
        own["programs"] = (
            switch.programs if given.programs is None else self._programs(given.programs, path)
        )
        return SwitchClass(tiers=given.tiers, **own)

    def _link_class(self, given: schema.LinkClass, link: Link, path: KeyPath) -> LinkClass:
        """Return everything that links of two tiers have; what is not said is as elsewhere."""
        types = {
            role: self._override(role, getattr(given, role), getattr(link, role), path)
            for role in LINK_ROLES
        }
        return LinkClass(tiers=sorted(given.tiers), **types)

    def _override(
        self, role: str, given: Typed | str | None, default: Typed | None, path: KeyPath
    ) -> Typed | None:
        """Return the type that a class names, the default if it names none, None for ``none``."""
        if given is None:
            return default
        if isinstance(given, str):  # "none"
            return None
        return self._typed(role, given, (*path, role))

    def _typed(self, role: str, typed: Typed, path: KeyPath) -> Typed:
        """Return an ns-3 type with all its attributes."""
        for name, value in typed.attributes.items():
            try:
                check_text(value)
            except ValueError as error:
                raise self._scenario.error((*path, "attributes", name), str(error)) from None
        if self._types is None:
            return self._stored_type(typed, path)
        try:
            self._types.check_type(role, typed.type)
        except SpecError as error:
            raise self._scenario.error((*path, "type"), str(error)) from None
        try:
            attributes = self._types.settle(typed.type, typed.attributes)
        except FieldError as error:
            where = (*path, "attributes", error.field)
            raise self._scenario.error(where, str(error)) from None
        return typed.model_copy(update={"attributes": attributes})

    def _stored_type(self, typed: Typed, path: KeyPath) -> Typed:
        """Return an ns-3 type of a spec from disk; its module knows its attributes."""
        if not _TYPE_ID.fullmatch(typed.type) or len(typed.type) > LONGEST_TEXT:
            message = f"{quoted(typed.type)} is no TypeId. Write one, for example ns3::DropTail."
            raise self._scenario.error((*path, "type"), message)
        for name, value in typed.attributes.items():
            where = (*path, "attributes", name)
            if not _ATTRIBUTE.fullmatch(name):
                raise self._scenario.error(
                    where, "is no name of an attribute: letters, digits and _."
                )
            try:
                as_built(typed.type, name, value)
            except ValueError as error:
                raise self._scenario.error(where, str(error)) from None
        return typed


def _own_network(jobs: resolved.Jobs | None, network: Network, workload: int) -> Network:
    """Return the network as a workload sees it: with the hosts that it has."""
    if jobs is None:
        return network
    counts = network.counts | {"hosts": len(jobs.placed[workload])}
    return Network(counts, nodes_of(jobs, network.nodes, workload), network.links)
