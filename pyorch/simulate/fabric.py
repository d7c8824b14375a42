# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a scenario script says, returns the C++ engine built from it and its columns."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pyorch.errors import SimulationError
from pyorch.reading import read_archive
from pyorch.simulate import loader, sizes, stack
from pyorch.simulate.control import Controller
from pyorch.simulate.serve import Server
from pyorch.simulate.warnings import (
    Plugin,
    far_ends,
    few_entropies,
    kept_limits,
    late_marks,
    narrow_incasts,
    never_trimmed,
    overtaking,
    skip_surprises,
    small_buffers,
)

INPUT_TABLES = (
    "nodes", "links", "flows", "tasks", "drops", "link_events", "loss_changes", "dependencies",
    "sampled", "routes", "rate_changes", "controlled", "requests", "servers",
)  # fmt: skip
#: These the engine does not read.
_OURS = ("controlled", "requests", "servers")
ENDLESS_PS = 2**63 - 1
WHOLE_FRAME_BYTES = 65535

#: What the fluid engine passes over: roles of types, columns of links and options.
_KEYS = {
    "queue": "switch.queue", "scheduler": "switch.scheduler", "program": "switch.programs",
    "flow_control": "link.flow_control", "loss_model": "link.loss_model",
}  # fmt: skip
_LOSSES = {"loss": "loss_ratio", "bit_error_ratio": "bit_error_ratio"}
_OF_PACKETS = {"buffer_bytes": "switch.buffer", "cut_through_bytes": "switch.cut_through"}

Attributes = Mapping[str, str | int | float | bool]


class Fabric:
    """A network with its flows: said here, built and run by the engine.

    Nothing is loaded before `load`, so a mistake in a script costs no time.

    Parameters
    ----------
    seed : int
        Names every random stream of the run.
    """

    def __init__(self, *, seed: int):
        #: What of the engine is not the default, as ``engine`` of the scenario has it.
        self.engine: dict[str, object] = {}
        #: Of this process; they decide no result. None: the engine chooses.
        self.threads = 1
        self.domains: int | None = None
        self.seed = seed
        self.stop_ps = ENDLESS_PS
        #: (type, index of its class) to the options that were said, by their keys
        self._sections: dict[tuple[str, int], dict[str, object]] = {}
        self._link_classes: list[int] = []
        self._tables: dict[str, dict[str, np.ndarray]] = {}
        #: (role, index of its class, type, attributes), in the order in which they were said
        self._roles: list[tuple[str, int, str, dict[str, str]]] = []
        self._transports: list[tuple[str, dict[str, str]]] = []
        self._captures: list[int] = []
        self._controlled: list[tuple[int, Mapping[str, object]]] = []
        self._served: list[tuple[int, Mapping[str, object], Mapping[str, object]]] = []

    def tables(self, path: str | Path) -> None:
        """Read input tables from an ``.npz`` with keys ``<table>.<column>``.

        A relative path counts from the folder of the script that calls.
        """
        path = Path(sys._getframe(1).f_globals.get("__file__", ".")).parent / path
        advice = "Make it again: pyorch render"
        tables = read_archive(path, SimulationError, f"{advice} {path.parent}/spec.json")
        for table, columns in tables.items():
            self.table(table, columns)

    def table(self, name: str, columns: Mapping[str, object]) -> None:
        """Give one input table: ``nodes``, ``links``, ``flows``, ``tasks``, ``drops``, ...

        Parameters
        ----------
        name : str
            Of the table; giving it again replaces it.
        columns : mapping of str to array_like
            Equally long columns; whole numbers, except shares such as ``loss_ratio``.
        """
        if name not in INPUT_TABLES:
            raise SimulationError(f"no input table '{name}'. There are {', '.join(INPUT_TABLES)}.")
        arrays = {column: _column(name, column, values) for column, values in columns.items()}
        rows = {len(array) for array in arrays.values()}
        if len(rows) > 1:
            lengths = ", ".join(f"{column} {len(array)}" for column, array in arrays.items())
            raise SimulationError(f"{name}: columns differ in length: {lengths}.")
        self._tables[name] = arrays

    def least_result_bytes(self) -> int:
        """Return the least a run leaves, as far as that is known before it [byte]."""
        flows, links = (self._tables.get(name, {}) for name in ("flows", "links"))
        if not {"src", "dst", "bytes"} <= flows.keys():  # the engine says what is wrong
            return 0
        n_links = max(map(len, links.values()), default=0)
        arrivals = bool(self._traced("arrivals"))
        kept_bytes = self._traced("snaplen_bytes") or WHOLE_FRAME_BYTES
        captures = [(host, kept_bytes) for host in self._captures]
        return sizes.least_result_bytes(flows, n_links, self._packets(), arrivals, captures)

    def wire(self, **options: object) -> None:
        """Say what a frame occupies on every wire: attributes of ns3::Wire.

        An option is said by its key in a resolved spec, ``framing_bytes=20``; None has none of it.
        """
        self._section("ns3::Wire", 0, options)

    def switch(self, *, node_class: int = 0, **options: object) -> None:
        """Say what switches are like beside their plug-ins: attributes of ns3::Switch.

        Those with another number than 0 in ``nodes.class`` have attributes of ns3::SwitchClass.
        """
        self._section("ns3::SwitchClass" if node_class else "ns3::Switch", node_class, options)

    def host(self, transport: int, **options: object) -> None:
        """Say what messages of a transport cost the hosts at their ends: attributes of ns3::Host.

        `transport` is what `Fabric.transport` has returned.
        """
        self._section("ns3::Host", transport, options)

    def trace(self, **options: object) -> None:
        """Say which optional tables a run leaves: attributes of ns3::Trace."""
        self._section("ns3::Trace", 0, options)

    def _section(self, type_name: str, index: int, options: dict[str, object]) -> None:
        self._sections.setdefault((type_name, int(index)), {}).update(options)

    def _traced(self, option: str) -> Any:
        return self._sections.get(("ns3::Trace", 0), {}).get(option)

    def forwarding(
        self, type_name: str, attributes: Attributes | None = None, node_class: int = 0
    ) -> None:
        """Choose how switches of a class pick one of several equal paths."""
        self._use("forwarding", node_class, type_name, attributes)

    def queue(
        self, type_name: str, attributes: Attributes | None = None, node_class: int = 0
    ) -> None:
        """Choose what an egress queue of switches of a class admits and marks."""
        self._use("queue", node_class, type_name, attributes)

    def scheduler(
        self, type_name: str, attributes: Attributes | None = None, node_class: int = 0
    ) -> None:
        """Choose which priority of an egress goes next; without one the highest does."""
        self._use("scheduler", node_class, type_name, attributes)

    def program(
        self, type_name: str, attributes: Attributes | None = None, node_class: int = 0
    ) -> None:
        """Add a program to the switches of a class; several are called in this order."""
        self._use("program", node_class, type_name, attributes)

    def flow_control(
        self, type_name: str, attributes: Attributes | None = None, link_class: int = 0
    ) -> None:
        """Choose how links of a class keep their senders from overrunning them."""
        self._use("flow_control", link_class, type_name, attributes)

    def loss_model(
        self, type_name: str, attributes: Attributes | None = None, link_class: int = 0
    ) -> None:
        """Choose what is lost on links of a class, beside the ratios in the table ``links``."""
        self._use("loss_model", link_class, type_name, attributes)

    def link_class(self, link_class: int) -> None:
        """Say that there are links with this number in ``links.class``; 0 need not be said.

        Without `flow_control` and `loss_model` of this class they have neither.
        """
        self._link_classes.append(int(link_class))

    def _use(self, role: str, index: int, type_name: str, attributes: Attributes | None) -> None:
        self._roles.append((role, int(index), type_name, as_text(attributes)))

    def transport(self, type_name: str, attributes: Attributes | None = None) -> int:
        """Add a transport; return its index, which ``flows.transport`` refers to."""
        self._transports.append((type_name, as_text(attributes)))
        return len(self._transports) - 1

    def capture(self, host: int) -> None:
        """Write what a host, by its node id, sends and receives to ``host_<host>.pcap``."""
        self._captures.append(int(host))

    def control(self, index: int, workload: Mapping[str, object]) -> None:
        """Have the flows of a workload limited and routed while the run goes on.

        Parameters
        ----------
        index : int
            Which flows: those with it in ``controlled.workload``.
        workload : mapping
            As in the resolved spec; it says who does it, and how.
        """
        self._controlled.append((int(index), workload))

    def controllers(self) -> list[Controller]:
        """Return who limits and routes flows while the run goes on."""
        if self._controlled and self.engine_type == "fluid":
            raise SimulationError("the fluid engine does not pause for a controller; use packets.")
        rows = self._tables.get("controlled", {})
        return [
            Controller(
                workload, rows["flow"][rows["workload"] == index],
                self._tables["nodes"], self._tables["links"],
            )
            for index, workload in self._controlled
        ]  # fmt: skip

    def serve(
        self, index: int, workload: Mapping[str, object], topology: Mapping[str, object]
    ) -> None:
        """Have the requests of a workload answered in batches that are made while the run goes on.

        Parameters
        ----------
        index : int
            Which requests: those with it in ``requests.workload``.
        workload, topology : mapping
            As in the resolved spec; they say who answers, and who relays messages.
        """
        self._served.append((int(index), workload, topology))

    def servers(self) -> list[Server]:
        """Return who answers requests while the run goes on."""
        found = []
        for index, workload, topology in self._served:
            rows, hosts = self._tables.get("requests", {}), self._tables.get("servers", {})
            if "workload" not in rows or "workload" not in hosts:
                raise SimulationError("tables requests and servers say who asks; give both.")
            requests = {k: column[rows["workload"] == index] for k, column in rows.items()}
            own = hosts["host"][hosts["workload"] == index]
            found.append(Server(index, workload, topology, requests, own))
        return found

    @property
    def next_id(self) -> int:
        """The first id that no flow and no task has."""
        ids = [self._tables.get(t, {}).get(c) for t, c in (("flows", "flow"), ("tasks", "task"))]
        return 1 + max((int(column.max()) for column in ids if column is not None and len(column)),
                       default=-1)  # fmt: skip

    def data_packets(self) -> int:
        """Return how many data packets the flows need when nothing is sent twice."""
        return int(self._packets().sum())

    def links_cut(self) -> int:
        """Return how many links are cut at the end."""
        events = self._tables.get("link_events", {"rate_bps": []})
        ends = [events[name] for name in ("node_a", "node_b", "parallel") if name in events]
        last_bps = dict(zip(zip(*ends, strict=True), events["rate_bps"], strict=True))
        return sum(rate_bps == 0 for rate_bps in last_bps.values())

    def _packets(self) -> np.ndarray:
        flows = {"bytes": np.zeros(0, dtype=np.int64), **self._tables.get("flows", {})}
        return sizes.data_packets(flows, [given for _, given in self._transports])

    def load(self):
        """Return the C++ namespace of the facade, with the libraries of the types named loaded.

        Raises
        ------
        BuildError
            The modules are not built, or none registers a type.
        """
        return loader.facade_of(self._type_names(), fluid=self.engine_type == "fluid")

    @property
    def engine_type(self) -> str:
        """Which engine makes the run: packets or fluid."""
        return str(self.engine.get("type", "packets"))

    def not_modelled(self) -> list[str]:
        """Return what was said that the engine passes over, by the keys of a scenario."""
        if self.engine_type == "packets":
            return []
        links = self._tables.get("links", {})
        said = {_KEYS[role] for role, *_ in self._roles if role in _KEYS}
        said |= {f"link.{key}" for key, column in _LOSSES.items() if np.any(links.get(column, 0))}
        options = {k for its in self._sections.values() for k, v in its.items() if v is not None}
        said |= {key for option, key in _OF_PACKETS.items() if option in options}
        return sorted({*said, "transport: windows, recovery, acknowledgements on the wire"})

    def warnings(self, facade) -> list[str]:
        """Return lines on what is allowed, and gives results that may surprise.

        Parameters
        ----------
        facade
            Of the engine, which says what plug-ins are like; the libraries of all types are loaded.
        """
        transports = [plugin(facade, *transport) for transport in self._transports]
        policies = [
            plugin(facade, name, given)
            for role, _, name, given in self._roles if role == "forwarding"
        ]  # fmt: skip
        found = []
        if {"links", "flows"} <= self._tables.keys():  # else the engine says what is wrong
            found += small_buffers(self._tables, transports)
            if self.engine_type == "packets":
                found += far_ends(self._tables, transports)
            found += filter(None, [self._samples()])
        if self.engine_type == "packets":
            found += overtaking(transports, policies)
            found += late_marks(self._roles, transports)
            if "nodes" in self._tables:
                found += kept_limits(self._tables, self._roles)
            if "links" in self._tables:
                found += never_trimmed(self._tables, self._roles, transports)
        if {"nodes", "links"} <= self._tables.keys():
            found += few_entropies(self._tables, transports, policies)
            if "flows" in self._tables:
                found += narrow_incasts(self._tables)
        if "skip_ppm" in self.engine:
            found += skip_surprises(self._tables)
        return found

    def _samples(self) -> str:
        """Return what to warn of if the samples may not fit into memory; refuse what cannot."""
        flows, links = self._tables["flows"], self._tables["links"]
        period_ps = self._traced("sample_ps")
        if not period_ps or "skip_ppm" in self.engine:
            return ""
        ports = np.concatenate([links["node_a"], links["node_b"]])
        if "sampled" in self._tables:
            ports = ports[np.isin(ports, self._tables["sampled"]["node"])]
        duration_ps = sizes.least_duration_ps(flows, links, self.stop_ps)
        return sizes.check_samples(period_ps, len(ports), duration_ps)

    def build(self, namespace, out: Path = Path()):
        """Return a C++ facade with everything said so far, ready to run.

        Parameters
        ----------
        namespace
            From `load`.
        out : Path
            Folder for the captures.

        Raises
        ------
        SimulationError
            An attribute or a value that the engine refuses, or tables that do not fit together.
        """
        facade = namespace.Facade()
        try:
            self._fill(facade)
            for host in self._captures:
                facade.Capture(host, str(out / f"host_{host}.pcap"))
            facade.Build()
        except Exception as error:  # whatever C++ throws arrives as a class of cppyy's
            raise SimulationError(cpp_message(error, facade)) from None
        return facade

    def _type_names(self) -> list[str]:
        """Return every TypeId named, also those that attributes name, given or by default."""
        named = [(name, given) for _, _, name, given in self._roles] + self._transports
        return loader.with_named(named)

    def _engine_of_run(self) -> tuple[str, dict[str, str]]:
        """Return the type that makes the run, and its attributes."""
        if self.engine_type == "fluid":
            return "ns3::FluidEngine", {}
        own = {k: v for k, v in self.engine.items() if k != "type"}
        forced = {} if self.domains is None else {"domains": self.domains}
        return "ns3::PacketEngine", as_attributes({"threads": self.threads, **forced, **own})

    def _fill(self, facade) -> None:
        facade.Seed(self.seed)
        for index in self._link_classes:
            facade.LinkClass(index)
        for role, index, type_name, attributes in self._parts():
            factory = _factory(facade, type_name, attributes)
            if role == "engine":
                facade.Engine(factory)
            elif role == "section":
                facade.Section(factory, index)
            elif role == "transport":
                facade.Transport(factory)
            else:
                facade.Use(role, factory, index)
        give(facade, self._given())

    def _parts(self) -> Iterator[tuple[str, int, str, dict[str, str]]]:
        """Yield role, index of the class, type and attributes of all types, in their order."""
        yield "engine", 0, *self._engine_of_run()
        for (type_name, index), options in self._sections.items():
            yield "section", index, type_name, as_attributes(options)
        yield from self._roles
        for type_name, attributes in self._transports:
            yield "transport", 0, type_name, attributes

    def _given(self) -> dict[str, dict[str, np.ndarray]]:
        """Return the tables that the engine reads."""
        return {t: columns for t, columns in self._tables.items() if t not in _OURS}

    def session_text(self) -> str:
        """Return the network and what it is made of as a file of ``PyorchOpen``, session.h.

        Raises
        ------
        SimulationError
            The network does something that no session can.
        """
        used_by = {"trace.pcap": self._captures, "engine.skip": "skip_ppm" in self.engine,
                   "control": self._controlled, "requests": self._served}  # fmt: skip
        for what, used in used_by.items():
            if used:
                raise SimulationError(f"{what}: a session has none. Leave it out.")
        self.domains = None if self.engine_type == "fluid" else 1
        needed = loader.libraries_of(self._type_names(), fluid=self.engine_type == "fluid")
        lines = ["pyorch session 1", *(f"library {name}" for name in needed)]
        lines += [
            f"seed {self.seed}",
            f"stop {self.stop_ps}",
            *(f"link_class {index}" for index in self._link_classes),
        ]
        for role, index, type_name, attributes in self._parts():
            lines.append(f"part {role} {index} {type_name}")
            lines += [f"attribute {name} {value}" for name, value in attributes.items()]
        for table, columns in self._given().items():
            for column, values in columns.items():
                kind = "real" if values.dtype.kind == "f" else "whole"
                lines.append(f"column {table} {column} {kind} {len(values)}")
                lines.append(" ".join(map(repr, values.tolist())))
        return "\n".join([*lines, "end", ""])


def give(facade, tables: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    """Give input tables to the engine."""
    for table, columns in tables.items():
        for column, values in columns.items():
            values = _column(table, column, values)
            taker = facade.RealColumn if values.dtype.kind == "f" else facade.Column
            # cppyy takes no array without elements; none of this one is read.
            memory = values if len(values) else np.zeros(1, dtype=values.dtype)
            taker(table, column, memory, len(values))


def output_columns(facade) -> dict[str, dict[str, np.ndarray]]:
    """Take the engine's output tables from it, by name and then by column.

    Each column is freed there as soon as it is copied, so that no two of the whole exist at once.
    """
    tables = {}
    for table in sorted(str(name) for name in facade.Tables()):
        rows = int(facade.Rows(table))
        tables[table] = {}
        for column in facade.Columns(table):
            tables[table][str(column)] = _copied(facade.Data(table, column), rows)
            facade.Drop(table, column)
    return tables


def cpp_message(error: Exception, facade) -> str:
    """Return the text of a C++ exception without the signature that cppyy adds.

    Of one that nobody has thrown to say what is wrong, also where that was.
    """
    text = str(error).strip()
    words = text.rpartition("\n")[2].split("=>", 1)[-1].partition(": ")[2] or text
    return f"{words}{stack.culprit(stack.frames(str(facade.ThrownAt())))}"


def _copied(view, rows: int) -> np.ndarray:
    """Copy a C++ array, because its column is dropped."""
    if rows == 0:
        return np.empty(0, dtype=np.int64)
    return np.frombuffer(view, dtype=np.int64, count=rows).copy()


def _factory(facade, type_name: str, attributes: dict[str, str]) -> int:
    factory = facade.Factory(type_name)
    for name, value in attributes.items():
        facade.Attribute(factory, name, value)
    return factory


def plugin(facade, type_name: str, attributes: dict[str, str]) -> Plugin:
    traits = json.loads(str(facade.TraitsOf(_factory(facade, type_name, attributes))))
    return Plugin(type_name, attributes, traits)


def as_text(attributes: Attributes | None) -> dict[str, str]:
    """Spell attribute values as ns-3 reads them."""
    return {
        name: str(value).lower() if value is None or isinstance(value, bool) else str(value)
        for name, value in (attributes or {}).items()
    }


def as_attributes(options: Mapping[str, Any]) -> dict[str, str]:
    """Spell options of a section as ns-3 reads them: BufferBytes for ``buffer_bytes``."""
    return as_text({key.title().replace("_", ""): value for key, value in options.items()})


def _column(table: str, column: str, values: object) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise SimulationError(f"{table}.{column}: must be a column of numbers.")
    kind = np.float64 if array.dtype.kind == "f" else np.int64
    return np.ascontiguousarray(array, dtype=kind)
