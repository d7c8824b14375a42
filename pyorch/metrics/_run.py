# SPDX-License-Identifier: GPL-2.0-only
"""The tables of one finished run, and what several metrics ask of them."""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch import traces
from pyorch.errors import TraceError
from pyorch.metrics._idle import IdleTimes
from pyorch.render import input_tables, relayed_flows, rows_of_workload
from pyorch.spec.resolved import Spec
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

    def columns(self, name: str, columns: Collection[str]) -> pd.DataFrame:
        """Return columns of a table of the run, without keeping its others in memory."""
        if name in self._tables:
            return self._tables[name][list(columns)]
        return traces.read_table(self.folder, name, columns)

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
    def slowdown(self) -> np.ndarray:
        """Flow completion time over what the flow would need alone [1]; 1 of one of no bytes."""
        alone_ps = self.idle_ps["unloaded_fct_ps"].to_numpy()
        return np.where(alone_ps > 0, self.fct_ps / np.maximum(alone_ps, 1), 1.0)

    @cached_property
    def first_parts(self) -> np.ndarray:
        """The row of the first part of each message that is relayed, -1 for all other rows."""
        found = np.full(len(self.table("flows")), -1)
        if hasattr(self.spec.topology.module, "relays"):
            relayed = relayed_flows(self.spec)
            of_tables = len(self.inputs["flows"]["flow"])  # others are made as the run goes on
            found[relayed] = of_tables - len(relayed) + np.arange(len(relayed))
        return found

    @cached_property
    def begins_ps(self) -> pd.Series:
        """When each message begins at its first sender, not at a relay, by the id of its flow."""
        flows = self.table("flows")
        rows = np.where(self.first_parts >= 0, self.first_parts, np.arange(len(flows)))
        return flows["start_ps"].astype("Int64").iloc[rows].set_axis(flows["flow"])

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
        if (self.folder / "tables.npz").exists():
            return traces.read_inputs(self.folder)
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
    def idle(self) -> IdleTimes:
        """What messages take alone on the network of this run."""
        return IdleTimes(self.spec, self.inputs["nodes"], self.network, self.table("transports"))

    @cached_property
    def idle_ps(self) -> pd.DataFrame:
        """What each flow would need alone: times, bytes on the wire, its rate, propagation.

        On the path that it kept to; on all shortest paths, if it was sprayed; when links change, on
        the one of them, at the rates that links begin with, that no other beats.
        """
        flows, paths = self.flows, self.table("paths")
        single = np.isin(flows["flow"], paths["flow"])
        if "link_events" in self.inputs or not single.any():
            return self.idle.of_flows(flows, one_path=single)
        columns = {name: paths[name].to_numpy(dtype=np.int64) for name in paths.columns}
        own = self.network.recorded_routes(flows["flow"].to_numpy()[single], columns)
        routes = np.full((len(flows), own.shape[1]), -1)
        routes[single] = own
        return self.idle.of_flows(flows, routes)


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
    cut = int((last_bps == 0).sum())
    return (
        f"{cut} link{' is' if cut == 1 else 's are'} cut at the end, and a flow that has no other"
        f" way waits for ever: give the failure a 'duration', or rails their 'nics', or {more}"
    )


def changes_of_links(spec: Spec) -> str:
    """Return why runs of a spec have no fluid value; nothing if they have."""
    return _LINKS_CHANGE if spec.failures else ""


def refuse(reason: str) -> None:
    """Raise TraceError if there is a reason."""
    if reason:
        raise TraceError(reason)
