# SPDX-License-Identifier: GPL-2.0-only
"""The task graphs of a run: tasks as planned and as they went, and what devices waited for."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyorch import plugins
from pyorch.errors import TraceError
from pyorch.metrics._run import RunTables
from pyorch.render import rows_of_workload
from pyorch.spec.fields import restore
from pyorch.training.graph import BARRIER, COMPUTE, MESSAGE
from pyorch.training.tables import places
from pyorch.units import TIME, format_exact


class Interval(NamedTuple):
    """A time in which a device computes nothing, and the task at whose start it ends."""

    device: int
    start_ps: int
    end_ps: int
    before: int


class Step:
    """One training step, or what a trace has instead.

    Attributes
    ----------
    workload : int
        Index in the scenario.
    devices : int
        How many take part.
    tasks : DataFrame
        In the order of the graph: ``kind``, ``device``, ``peer``, ``lane``, ``start_ps``,
        ``end_ps`` from the start of the step, ``after``, a row or -1.
    step_ps : int
        From its start until its last task is over [ps].
    """

    def __init__(self, workload: int, devices: int, tasks: pd.DataFrame):
        self.workload, self.devices, self.tasks = workload, devices, tasks
        self.step_ps = int(tasks["end_ps"].max())

    def busy_ps(self) -> np.ndarray:
        """Return how long each device computes [ps]."""
        own = self.tasks[self.tasks["kind"] == COMPUTE]
        took_ps = (own["end_ps"] - own["start_ps"]).to_numpy()
        return np.bincount(own["device"], took_ps, self.devices).astype(np.int64)

    def idle(self) -> list[Interval]:
        """Return when each device computes nothing, in the order of devices and times."""
        own = self.tasks[self.tasks["kind"] == COMPUTE].sort_values(["device", "start_ps"])
        last = int(self.tasks["end_ps"].to_numpy().argmax())
        found = []
        for device in range(self.devices):
            rows = own[own["device"] == device]
            starts = [*rows["start_ps"].tolist(), self.step_ps]
            ends = [0, *np.maximum.accumulate(rows["end_ps"].to_numpy()).tolist()]
            before = [*self._reasons[rows.index].tolist(), last]
            found += [
                Interval(device, end, start, task)
                for end, start, task in zip(ends, starts, before, strict=True)
                if start > end
            ]
        return found

    def waited(self) -> pd.DataFrame:
        """Return what devices waited for: ``device``, ``lane``, ``start_ps``, ``waited_ps``.

        From the end of each idle interval back along what decided it: the time of a message or of a
        computation of another device is that of its lane.
        """
        starts, reasons = self.tasks["start_ps"].to_numpy(), self._reasons
        lanes, kinds = self.tasks["lane"].to_numpy(), self.tasks["kind"].to_numpy()
        rows = []
        for device, start_ps, end_ps, task in self.idle():
            at_ps = end_ps
            while task >= 0 and at_ps > start_ps:
                from_ps = max(int(starts[task]), start_ps)
                if kinds[task] != BARRIER and from_ps < at_ps:
                    rows.append((device, lanes[task], from_ps, at_ps - from_ps))
                    at_ps = from_ps
                task = int(reasons[task])
        return pd.DataFrame(rows, columns=["device", "lane", "start_ps", "waited_ps"])

    @cached_property
    def _reasons(self) -> np.ndarray:
        return self.tasks["after"].to_numpy()


def has_steps(spec: dict) -> bool:
    """Return whether a workload of a resolved spec computes."""
    return any(map(_computes, spec["workload"]))


def _computes(load: dict) -> bool:
    return hasattr(plugins.load("pyorch.workload", load["type"]), "tasks")


def steps(run: RunTables) -> Iterator[Step]:
    """Yield the training steps and traces of a run.

    Raises
    ------
    TraceError
        A step did not end before the run.
    """
    for index, load in enumerate(run.spec["workload"]):
        if not _computes(load):
            continue
        module = plugins.load("pyorch.workload", load["type"])
        table = run.table("tasks").astype("Int64").set_index("task")
        params = restore(module.Params, load)
        graph = module.graph_of(params)
        ids = rows_of_workload(run.spec, index)[places(graph)]
        own = table.loc[ids]
        if unfinished := int(own["end_ps"].isna().sum()):
            stop = format_exact(run.spec["stop_ps"], TIME)
            raise TraceError(
                f"{run.folder}/tasks.parquet: {unfinished} of {len(own)} tasks did not end; raise"
                f" 'stop' (now {stop})."
            )
        after = pd.Index(ids).get_indexer(own["after"].fillna(-1).astype("int64"))
        yield Step(index, graph.devices, pd.DataFrame({
            "kind": graph.kind, "device": graph.device, "peer": graph.peer,
            "lane": np.array(graph.lanes, dtype=object)[graph.lane],
            "start_ps": own["start_ps"].to_numpy(dtype=np.int64) - params.start_ps,
            "end_ps": own["end_ps"].to_numpy(dtype=np.int64) - params.start_ps,
            "after": after,
        }))  # fmt: skip


def spans_of(step: Step, device: int) -> pd.DataFrame:
    """Return when a device is busy with what: ``lane``, ``start_ps``, ``end_ps``; no overlaps."""
    tasks = step.tasks
    computes = tasks[(tasks["kind"] == COMPUTE) & (tasks["device"] == device)]
    ends = (tasks["device"] == device) | (tasks["peer"] == device)
    sends = tasks[(tasks["kind"] == MESSAGE) & ends]
    rows = [("compute", *row) for row in computes[["start_ps", "end_ps"]].itertuples(index=False)]
    for lane, own in sends.groupby("lane", sort=True):
        rows += [(lane, *span) for span in _together(own["start_ps"], own["end_ps"])]
    return pd.DataFrame(rows, columns=["lane", "start_ps", "end_ps"])


def _together(start_ps: pd.Series, end_ps: pd.Series) -> list[tuple[int, int]]:
    """Return intervals that overlap or touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(zip(start_ps, end_ps, strict=True)):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
