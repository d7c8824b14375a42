# SPDX-License-Identifier: GPL-2.0-only
"""Takes one point of a scenario, returns its resolved spec: checked, in integers, no defaults left.

The parameters of topologies and workloads are checked by their own models, which are found by
the name in `type`; attributes of ns-3 types are checked against what the modules registered.
"""

import json
import re
from pathlib import Path

from pydantic import ValidationError

from pyorch import plugins
from pyorch.errors import PluginError, SpecError, did_you_mean, quoted
from pyorch.spec import engine as engines
from pyorch.spec import messages, overrides, schema, typeids
from pyorch.spec.checks import (
    check_buffer,
    check_controlled,
    check_controllers,
    check_credits,
    check_forwarding,
    check_jitter,
    check_pfc,
    check_reduction,
    check_signals,
    check_tiers,
    check_trace,
)
from pyorch.spec.engine_checks import (
    check_domains,
    check_fluid,
    check_skip,
)
from pyorch.spec.fields import FieldError, check_text, restore
from pyorch.spec.jobs import check_shared, handed_out, nodes_of
from pyorch.spec.limits import LONGEST_TEXT, MOST_LINKS
from pyorch.spec.network import Network
from pyorch.spec.planning import PLANNING_KEYS
from pyorch.spec.scenario import ScenarioFile
from pyorch.spec.schema import (
    Jobs,
    LinkClass,
    Load,
    Plugin,
    Scenario,
    SwitchClass,
    Typed,
    options_of,
)
from pyorch.spec.typeids import LINK_ROLES, TypeIds, check_value
from pyorch.spec.yaml_lines import KeyPath
from pyorch.units import TIME, format_exact

#: Networks that are kept, since the next run may have the same.
_MOST_SHAPES = 16
_TYPE_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*")
_ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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


class Resolver:
    """Resolves many points of scenarios; what they share is computed once.

    Without `types` what is resolved is a spec from disk: its attributes are settled and its files
    have been found already.
    """

    def __init__(self, types: TypeIds | None):
        self._types = types
        self._shapes: dict[str, Network] = {}

    def resolve(self, scenario: ScenarioFile) -> dict:
        """Return the resolved spec of a scenario whose overrides have all been applied.

        Raises
        ------
        SpecError
            With file, line, key path, what is wrong, what is allowed, what to do.
        """
        return self.resolve_with_network(scenario)[0]

    def resolve_with_network(self, scenario: ScenarioFile) -> tuple[dict, Network]:
        """Return what `resolve` does, and the network of that spec.

        Raises
        ------
        SpecError
            With file, line, key path, what is wrong, what is allowed, what to do.
        """
        values = {k: v for k, v in scenario.values.items() if k not in PLANNING_KEYS}
        of_file = _left_to_file(values)
        model = schema.complete(self._types or typeids.load())
        try:
            if of_file:
                values["link"] = {**values.get("link", {}), **of_file}
            point = model.model_validate(values)
        except ValidationError as error:
            raise scenario.error(*messages.first(error, model)) from None
        spec = point.model_dump(exclude={"topology", "workload", "failures", "engine", "jobs"})
        spec |= engines.settled(point.engine)
        self._choose_types(scenario, point, spec)
        spec["topology"] = self._plugin(
            scenario, "topology", point.topology, ("topology",), {"link": spec["link"]}
        )
        network = self._shape(scenario, spec["topology"], spec["link"])
        nodes, links = network.nodes, network.links
        for key in of_file:  # what is said of all links is then said of the fastest and longest
            column = {"rate": "rate_bps", "delay": "delay_ps"}[key]
            spec["link"][column] = int(links[column].max())
        try:
            check_trace(spec["trace"], nodes, spec["stop_ps"])
        except FieldError as error:
            raise scenario.error(("trace", error.field), str(error)) from None
        spec["transport"] = [
            {"name": t.name, **self._typed(scenario, "transport", t, ("transport", i))}
            for i, t in enumerate(point.transport)
        ]
        self._unique_names(scenario, spec["transport"])
        spec["workload"] = [
            self._load(scenario, load, ("workload", i), spec)
            for i, load in enumerate(point.workload)
        ]
        if point.jobs is not None:
            self._hand_out(scenario, point.jobs, spec, network)
        for i, load in enumerate(spec["workload"]):
            own = self._own_network(spec, network, i)
            self._check_load(scenario, load, ("workload", i), own, spec["stop_ps"])
        spec["failures"] = [
            self._failure(scenario, failure, ("failures", i), nodes, links, spec["stop_ps"])
            for i, failure in enumerate(point.failures)
        ]
        try:
            check_tiers(spec, nodes, links)
            check_jitter(spec)
            check_controllers(spec)
            check_shared(spec)
            check_fluid(spec)
            check_domains(spec, point.engine.threads, nodes)
            check_skip(spec)
            if self._types is not None:
                check_reduction(spec)
                check_signals(spec, self._types)
                check_controlled(spec, self._types)
        except FieldError as error:
            raise scenario.error(overrides.split(error.field), str(error)) from None
        try:
            if self._types is not None:
                check_buffer(spec)
                check_pfc(spec, links, nodes)
                check_forwarding(spec)
                check_credits(spec, links, nodes)
        except FieldError as error:
            raise scenario.error(("switch", error.field), str(error)) from None
        return spec, network

    def _plugin(
        self, scenario: ScenarioFile, kind: str, plugin: Plugin, path: KeyPath, context: dict
    ) -> dict:
        """Return the parameters of a topology or workload, checked by its own model."""
        try:
            module = plugins.load(f"pyorch.{kind}", plugin.type)
        except PluginError as error:
            raise scenario.error((*path, "type"), str(error)) from None
        given = plugin.model_extra or {}
        folder = Path(scenario.source).parent
        context = {**context, "folder": folder, "stored": self._types is None}
        try:
            params = module.Params.model_validate(given, context=context)
        except ValidationError as error:
            inner, message = messages.first(error, module.Params)
            raise scenario.error((*path, *inner), message) from None
        except FieldError as error:
            raise scenario.error((*path, error.field), str(error)) from None
        return {"type": plugin.type, **params.model_dump()}

    def _shape(self, scenario: ScenarioFile, topology: dict, link: dict) -> Network:
        """Return what a topology makes, computed once."""
        key = json.dumps([topology, link], sort_keys=True)
        if key not in self._shapes:
            module = plugins.load("pyorch.topology", topology["type"])
            params = restore(module.Params, topology)
            try:
                counts = module.counts(params)
                if counts.get("cables", 0) > MOST_LINKS:
                    raise FieldError(
                        "type", f"{counts['cables']} links in all; there may be {MOST_LINKS}."
                        " Lower the numbers of the topology.",
                    )  # fmt: skip
                tables = module.tables(params, link)
            except FieldError as error:
                raise scenario.error(("topology", error.field), str(error)) from None
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            self._shapes[key] = Network(counts, tables["nodes"], tables["links"])
        return self._shapes[key]

    def _load(self, scenario: ScenarioFile, load: Load, path: KeyPath, spec: dict) -> dict:
        """Return a workload with the index of its transport."""
        transports = spec["transport"]
        names = [transport["name"] for transport in transports]
        if load.transport is not None and load.transport not in names:
            raise scenario.error(
                (*path, "transport"),
                f"no transport is called {quoted(load.transport)}. There are {', '.join(names)}."
                f"{did_you_mean(load.transport, names)}",
            )
        index = names.index(load.transport) if load.transport else 0
        context = {"topology": spec["topology"], "transport": transports[index]}
        resolved = self._plugin(scenario, "workload", load, path, context)
        resolved["transport"] = index
        return resolved

    def _hand_out(self, scenario: ScenarioFile, jobs: Jobs, spec: dict, network: Network) -> None:
        """Put the hosts of each workload into the spec; leave one workload if only that runs."""
        found = self._plugin(scenario, "allocation", jobs, ("jobs",), {})
        chosen = None if jobs.only == "all" else jobs.only
        found |= {"hosts": jobs.hosts} | ({} if chosen is None else {"only": chosen})
        n_loads, n_jobs = len(spec["workload"]), len(jobs.hosts)
        if chosen is not None and chosen >= n_jobs:
            raise scenario.error(
                ("jobs", "only"), f"there is no job {chosen}; they are 0 to {n_jobs - 1}."
            )
        alone = chosen is not None and n_loads == 1
        if n_loads != n_jobs and not alone:
            raise scenario.error(
                ("jobs", "hosts"), f"{n_jobs} numbers for {n_loads} workloads. Write one for each."
            )
        try:
            found["placed"] = handed_out(found, network.nodes, network.links, spec["seed"])
        except FieldError as error:
            raise scenario.error(("jobs", error.field), str(error)) from None
        if chosen is not None:
            found["placed"] = [found["placed"][chosen]]
            spec["workload"] = spec["workload"] if alone else [spec["workload"][chosen]]
        spec["jobs"] = found

    @staticmethod
    def _own_network(spec: dict, network: Network, workload: int) -> Network:
        """Return the network as a workload sees it: with the hosts that it has."""
        if "jobs" not in spec:
            return network
        counts = network.counts | {"hosts": len(spec["jobs"]["placed"][workload])}
        return network._replace(counts=counts, nodes=nodes_of(spec, network.nodes, workload))

    def _failure(
        self,
        scenario: ScenarioFile,
        failure: Plugin,
        path: KeyPath,
        nodes: dict,
        links: dict,
        stop_ps: int,
    ) -> dict:
        """Return a failure model that fits the network."""
        resolved = self._plugin(scenario, "failure", failure, path, {})
        module = plugins.load("pyorch.failure", resolved["type"])
        try:
            module.check(restore(module.Params, resolved), nodes, links, stop_ps)
        except FieldError as error:
            raise scenario.error((*path, error.field), str(error)) from None
        return resolved

    def _check_load(
        self,
        scenario: ScenarioFile,
        load: dict,
        path: KeyPath,
        network: Network,
        stop_ps: int,
    ) -> None:
        """Refuse a workload that does not fit the topology, or begins when the run has ended."""
        module = plugins.load("pyorch.workload", load["type"])
        params = restore(module.Params, load)
        try:
            module.check(params, network, stop_ps)
            if load.get("start_ps", 0) >= stop_ps:
                start, stop = (format_exact(t, TIME) for t in (load["start_ps"], stop_ps))
                raise FieldError("start", f"{start} is not before stop, {stop}. Raise stop.")
        except FieldError as error:
            raise scenario.error((*path, error.field), str(error)) from None

    def _unique_names(self, scenario: ScenarioFile, transports: list[dict]) -> None:
        names = [transport["name"] for transport in transports]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise scenario.error(
                    ("transport", index, "name"),
                    f"{quoted(name)} is the name of another transport too. Give each its own name.",
                )

    def _choose_types(self, scenario: ScenarioFile, point: Scenario, spec: dict) -> None:
        """Put the types that switches and links name into the spec, with all their attributes."""
        switch, link = spec["switch"], spec["link"]
        for role in ("queue", "scheduler", "forwarding"):
            if typed := getattr(point.switch, role):
                switch[role] = self._typed(scenario, role, typed, ("switch", role))
        switch["programs"] = self._programs(scenario, point.switch.programs, ("switch",))
        for role in LINK_ROLES:
            if typed := getattr(point.link, role):
                link[role] = self._typed(scenario, role, typed, ("link", role))
        switch["classes"] = [
            self._switch_class(scenario, given, switch, ("switch", "classes", i))
            for i, given in enumerate(point.switch.classes)
        ]
        link["classes"] = [
            self._link_class(scenario, given, link, ("link", "classes", i))
            for i, given in enumerate(point.link.classes)
        ]

    def _programs(self, scenario: ScenarioFile, given: list[Typed], path: KeyPath) -> list[dict]:
        return [
            self._typed(scenario, "program", program, (*path, "programs", i))
            for i, program in enumerate(given)
        ]

    def _switch_class(
        self, scenario: ScenarioFile, given: SwitchClass, switch: dict, path: KeyPath
    ) -> dict:
        """Return everything that switches of some tiers have; what is not said is as elsewhere."""
        resolved = {"tiers": given.tiers}
        for key, value in options_of(given.model_dump()):
            resolved[key] = switch[key] if value is None else None if value == "none" else value
        for role in ("queue", "scheduler", "forwarding"):
            own = getattr(given, role)
            resolved[role] = self._override(scenario, role, own, switch[role], path)
        resolved["programs"] = (
            switch["programs"]
            if given.programs is None
            else self._programs(scenario, given.programs, path)
        )
        return resolved

    def _link_class(
        self, scenario: ScenarioFile, given: LinkClass, link: dict, path: KeyPath
    ) -> dict:
        """Return everything that links of two tiers have; what is not said is as elsewhere."""
        types = {
            role: self._override(scenario, role, getattr(given, role), link[role], path)
            for role in LINK_ROLES
        }
        return {"tiers": sorted(given.tiers), **types}

    def _override(
        self,
        scenario: ScenarioFile,
        role: str,
        given: Typed | str | None,
        default: dict | None,
        path: KeyPath,
    ) -> dict | None:
        """Return the type that a class names, the default if it names none, None for ``none``."""
        if given is None:
            return default
        if given == "none":
            return None
        return self._typed(scenario, role, given, (*path, role))

    def _typed(self, scenario: ScenarioFile, role: str, typed: Typed, path: KeyPath) -> dict:
        """Return an ns-3 type with all its attributes."""
        for name, value in typed.attributes.items():
            try:
                check_text(value)
            except ValueError as error:
                raise scenario.error((*path, "attributes", name), str(error)) from None
        if self._types is None:
            return self._stored_type(scenario, typed, path)
        try:
            self._types.check_type(role, typed.type)
        except SpecError as error:
            raise scenario.error((*path, "type"), str(error)) from None
        try:
            attributes = self._types.settle(typed.type, typed.attributes)
        except FieldError as error:
            where = (*path, "attributes", error.field)
            raise scenario.error(where, str(error)) from None
        return {"type": typed.type, "attributes": attributes}

    def _stored_type(self, scenario: ScenarioFile, typed: Typed, path: KeyPath) -> dict:
        """Return an ns-3 type of a spec from disk; its module knows its attributes."""
        if not _TYPE_ID.fullmatch(typed.type) or len(typed.type) > LONGEST_TEXT:
            message = f"{quoted(typed.type)} is no TypeId. Write one, for example ns3::DropTail."
            raise scenario.error((*path, "type"), message)
        for name, value in typed.attributes.items():
            where = (*path, "attributes", name)
            if not _ATTRIBUTE.fullmatch(name):
                raise scenario.error(where, "is no name of an attribute: letters, digits and _.")
            try:
                as_built(typed.type, name, value)
            except ValueError as error:
                raise scenario.error(where, str(error)) from None
        return {"type": typed.type, "attributes": typed.attributes}
