# SPDX-License-Identifier: GPL-2.0-only
"""The tables of one finished run, and what several metrics ask of them."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch import traces
from pyorch.errors import TraceError
from pyorch.render import input_tables, relayed_flows, rows_of_workload
from pyorch.spec.resolved import Spec
from pyorch.theory.fct import Framing, reverse_ack_ps, unloaded_fct_ps
from pyorch.theory.paths import Network
from pyorch.units import TIME, format_exact

_LINKS_CHANGE = (
    "links change during this run, so it has no fluid value. Ask for slowdown or recovery instead."
)


class RunTables:
    """One run: its resolved spec and its tables, read when they are asked for.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    folder : path
        Where the Parquet tables are.
    tables : mapping of str to DataFrame, optional
        Tables that need no reading.
    """

    def __init__(
        self,
        spec: Spec,
        folder: Path | str,
        tables: Mapping[str, pd.DataFrame] | None = None,
    ):
        self.spec = spec
        self.folder = Path(folder)
        self._tables = dict(tables or {})

    def table(self, name: str) -> pd.DataFrame:
        """Return a table of the run."""
        if name not in self._tables:
            self._tables[name] = traces.read_table(self.folder, name)
        return self._tables[name]

    @cached_property
    def flows(self) -> pd.DataFrame:
        """The flows, all finished, as plain int64 columns; without those that its engine knows not.

        Raises
        ------
        TraceError
            A flow did not finish: leaving it out would make the tail look better than it is.
        """
        flows = self.table("flows")
        if unfinished := int(flows["receiver_end_ps"].isna().sum()):
            raise TraceError(
                f"{self.folder}/flows.parquet: {unfinished} of {len(flows)} flows did not finish;"
                f" {remedy(self.spec)}."
            )
        known = flows.drop(columns="sender_end_ps").dropna(axis="columns", how="all")
        return known.astype("int64")

    def refuse_changes_of_links(self) -> None:
        """Raise TraceError if links change: then neither rates nor paths hold for the whole run."""
        refuse(_LINKS_CHANGE if "link_events" in self.inputs else "")

    @property
    def fct_ps(self) -> np.ndarray:
        """Flow completion time at the receiver [ps]."""
        return (self.flows["receiver_end_ps"] - self.flows["start_ps"]).to_numpy()

    @cached_property
    def first_parts(self) -> np.ndarray:
        """The row of the first part of each message that is relayed, -1 for all other rows."""
        found = np.full(len(self.flows), -1)
        if hasattr(self.spec.topology.module, "relays"):
            relayed = relayed_flows(self.spec)
            of_tables = len(self.inputs["flows"]["flow"])  # others are made as the run goes on
            found[relayed] = of_tables - len(relayed) + np.arange(len(relayed))
        return found

    def ids_of(self, workload: int) -> np.ndarray:
        """Return ids of flows and tasks of a workload, also of those made as the run goes on."""
        found = [rows_of_workload(self.spec, workload)]
        if hasattr(self.spec.workload[workload].module, "served"):
            batches = self.table("batches")
            own = batches[batches["workload"] == workload]
            spans = zip(own["first_task"], own["last_task"] + 1, strict=True)
            found += [np.arange(first, last) for first, last in spans]
        return np.concatenate(found)

    @cached_property
    def inputs(self) -> dict[str, dict[str, np.ndarray]]:
        """The tables that the run was given: nodes, links, flows and so on."""
        return input_tables(self.spec)

    @cached_property
    def network(self) -> Network:
        """The directed links of the run's topology, at the rates they begin with."""
        return Network(self.inputs["nodes"], self.inputs["links"])

    @cached_property
    def routes(self) -> np.ndarray:
        """Directed links of each flow as recorded, n_flows x n_hops, padded with -1."""
        paths = self.table("paths")
        columns = {name: paths[name].to_numpy(dtype=np.int64) for name in paths.columns}
        return self.network.recorded_routes(self.flows["flow"].to_numpy(), columns)

    @cached_property
    def idle_ps(self) -> pd.DataFrame:
        """What each flow would need alone: times, bytes on the wire, slowest rate, propagation.

        On the path that it kept to; for a sprayed flow, or when links change, on the first of the
        shortest ones, which are alike unless parallel links are not. A sprayed flow of a host with
        several ports (planes) deals its packets out over all that lead to its destination.
        """
        flows, network = self.flows, self.network
        paths = self.table("paths")
        single = np.isin(flows["flow"], paths["flow"])
        ports = network.exits(flows["src"].to_numpy(), flows["dst"].to_numpy()).number
        routes = _first_routes(network, flows)
        if single.any() and "link_events" not in self.inputs:
            columns = {name: paths[name].to_numpy(dtype=np.int64) for name in paths.columns}
            own = network.recorded_routes(flows["flow"].to_numpy()[single], columns)
            missing = max(0, own.shape[1] - routes.shape[1])
            routes = np.pad(routes, ((0, 0), (0, missing)), constant_values=-1)
            routes[single] = -1
            routes[np.flatnonzero(single), : own.shape[1]] = own
        wires = self.table("transports")
        return idle_times(self.spec, wires, network, flows, np.where(single, 1, ports), routes)


def total(column: pd.Series) -> int | pd.api.typing.NAType:
    """Return the sum of a column, <NA> if the engine of the run does not know it."""
    found = column.sum(min_count=1) if len(column) else 0
    return found if pd.isna(found) else int(found)


def remedy(spec: Spec) -> str:
    """Return what may let flows finish that have not: more time, or a way around what is cut."""
    more = f"raise 'stop' (now {format_exact(spec.stop_ps, TIME)})"
    if not spec.failures:
        return more
    events = pd.DataFrame(input_tables(spec)["link_events"])
    last_bps = events.groupby(["node_a", "node_b", "parallel"])["rate_bps"].last()
    if (last_bps > 0).all():
        return more
    return (
        f"{(last_bps == 0).sum()} links are cut at the end, and a flow that has no other way waits"
        f" for ever: give the failure a 'duration', or rails their 'nics', or {more}"
    )


def changes_of_links(spec: Spec) -> str:
    """Return why runs of a spec have no fluid value; nothing if they have."""
    return _LINKS_CHANGE if spec.failures else ""


def refuse(reason: str) -> None:
    """Raise TraceError if there is a reason."""
    if reason:
        raise TraceError(reason)


def framing_of(spec: Spec, wire: Mapping[str, int]) -> Framing:
    """Return how a transport of a run cuts messages into frames; `wire` is its row."""
    return Framing(
        mtu_bytes=wire["mtu_bytes"],
        header_bytes=wire["header_bytes"],
        first_header_bytes=wire["first_header_bytes"],
        framing_bytes=spec.wire.framing_bytes,
    )


def idle_times(
    spec: Spec,
    wires: pd.DataFrame,
    network: Network,
    flows: Mapping[str, np.ndarray],
    n_ports: np.ndarray | int = 1,
    routes: np.ndarray | None = None,
) -> pd.DataFrame:
    """Return, for each flow, its exact unloaded FCT and what the ACKs of an equal flow cost.

    Columns unloaded_fct_ps, reverse_ack_ps, wire_bytes, slowest_bps, delay_ps (propagation).

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    wires : DataFrame
        Table ``transports`` of the run.
    network : Network
        Links of the topology.
    flows : mapping of arrays
        Columns src, dst, bytes and transport.
    n_ports : ndarray or int
        Over how many ports of its host each flow is sprayed.
    routes : ndarray, n_flows x n_hops, optional
        Directed links of each flow, padded with -1; without, the first of its shortest paths.
    """
    columns = {key: np.asarray(flows[key]) for key in ("src", "dst", "bytes", "transport")}
    routes = _first_routes(network, flows) if routes is None else routes
    rates = np.where(routes >= 0, network.rate_bps[routes], 0)
    delays = np.where(routes >= 0, network.delay_ps[routes], -1)
    planes = np.broadcast_to(n_ports, len(columns["bytes"]))
    cases = np.column_stack([columns["bytes"], columns["transport"], planes, rates, delays])
    unique, index = np.unique(cases, axis=0, return_inverse=True)
    n_hops = routes.shape[1]
    rows = wires.set_index("transport").to_dict("index")
    values = np.array(
        [_idle(spec, rows[case[1]], case, n_hops) for case in unique.tolist()], dtype=np.int64
    )
    names = ["unloaded_fct_ps", "reverse_ack_ps", "wire_bytes", "slowest_bps", "delay_ps"]
    return pd.DataFrame(values[index.ravel()], columns=names)


def _first_routes(network: Network, flows: Mapping[str, np.ndarray]) -> np.ndarray:
    src, dst = np.asarray(flows["src"]), np.asarray(flows["dst"])
    return network.routes(src, dst, lambda hop, rows, n: np.zeros_like(rows))


def _idle(
    spec: Spec, wire: dict[str, int], case: list[int], n_hops: int
) -> tuple[int, int, int, int, int]:
    size, _, n_ports, *hops = case
    rates = [rate for rate in hops[:n_hops] if rate > 0]
    delays = [delay for delay in hops[n_hops:] if delay >= 0]
    framing = framing_of(spec, wire)
    busiest = busiest_port_bytes(size, framing.mtu_bytes, n_ports)
    return (
        unloaded_fct_ps(busiest, rates, delays, framing, spec.switch.processing_delay_ps),
        reverse_ack_ps(
            busiest, min(rates), framing, wire["ack_bytes"], wire["ack_interval_packets"]
        ),
        framing.message_wire_bytes(size),
        min(rates),
        sum(delays),
    )


def busiest_port_bytes(message_bytes: int, mtu_bytes: int, n_ports: int) -> int:
    """Return the payload of the port that ends last when packets are dealt out in turn [byte]."""
    n_packets = -(-message_bytes // mtu_bytes)
    rounds = -(-n_packets // n_ports)
    last_alone = n_packets % n_ports == 1 or n_ports == 1
    last_bytes = message_bytes - (n_packets - 1) * mtu_bytes
    return (rounds - 1) * mtu_bytes + (last_bytes if last_alone else mtu_bytes)
