# SPDX-License-Identifier: GPL-2.0-only
"""The task graphs of a run: tasks as planned and as they went, and what devices waited for."""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyorch.errors import TraceError
from pyorch.metrics._run import RunTables, remedy
from pyorch.render import rows_of_workload
from pyorch.spec.resolved import Spec, Workload
from pyorch.training.graph import COMPUTE, MESSAGE
from pyorch.training.tables import places

#: What a device waits for that has not begun: its clock is late.
CLOCK = "clock"


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
        ``end_ps`` from the start of the step, ``after``, a row or -1. A message that is relayed is
        one, from its first sender.
    step_ps : int
        From its start until its last task is over [ps].
    """

    def __init__(self, workload: int, devices: int, tasks: pd.DataFrame):
        self.workload, self.devices, self.tasks = workload, devices, tasks
        self.step_ps = int(tasks["end_ps"].max())

    def busy_ps(self) -> np.ndarray:
        """Return how long each device computes on any of its streams [ps]."""
        idle = pd.DataFrame(self.idle(), columns=Interval._fields)
        lasts_ps = idle["end_ps"] - idle["start_ps"]
        return self.step_ps - np.bincount(idle["device"], lasts_ps, self.devices).astype(np.int64)

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
        computation of another device is that of its lane, from the end of what it waited for. So
        all of the interval is in one of them.
        """
        ends, reasons = self.tasks["end_ps"].to_numpy(), self._reasons
        lanes = self.tasks["lane"].to_numpy()
        rows = []
        for device, start_ps, end_ps, task in self.idle():
            at_ps = end_ps
            while task >= 0 and at_ps > start_ps:
                before = int(reasons[task])
                from_ps = max(int(ends[before]) if before >= 0 else 0, start_ps)
                if from_ps < at_ps:
                    rows.append((device, lanes[task], from_ps, at_ps - from_ps))
                    at_ps = from_ps
                task = before
            if at_ps > start_ps:  # nobody is waited for
                rows.append((device, CLOCK, start_ps, at_ps - start_ps))
        return pd.DataFrame(rows, columns=["device", "lane", "start_ps", "waited_ps"])

    @cached_property
    def _reasons(self) -> np.ndarray:
        return self.tasks["after"].to_numpy()


def has_steps(spec: Spec) -> bool:
    """Return whether a workload of a resolved spec computes."""
    return any(map(_computes, spec.workload))


def _computes(load: Workload) -> bool:
    return hasattr(load.module, "graph_of") and hasattr(load.module, "tasks")


def steps(run: RunTables) -> Iterator[Step]:
    """Yield the training steps and traces of a run.

    Raises
    ------
    TraceError
        A step did not end before the run.
    """
    for index, load in enumerate(run.spec.workload):
        if not _computes(load):
            continue
        table = run.table("tasks").astype("Int64").set_index("task")
        graph, begin_ps = load.module.graph_of(load.params), load.params.start_ps
        ids = rows_of_workload(run.spec, index)[places(graph)]
        own = table.loc[ids]
        if unfinished := int(own["end_ps"].isna().sum()):
            raise TraceError(
                f"{run.folder}/tasks.parquet: {unfinished} of {len(own)} tasks did not end;"
                f" {remedy(run.spec)}."
            )
        starts_ps, after = _whole_messages(table, own, ids)
        yield Step(index, graph.devices, pd.DataFrame({
            "kind": graph.kind, "device": graph.device, "peer": graph.peer,
            "lane": np.array(graph.lanes, dtype=object)[graph.lane],
            "start_ps": starts_ps - begin_ps,
            "end_ps": own["end_ps"].to_numpy(dtype=np.int64) - begin_ps,
            "after": after,
        }))  # fmt: skip


def _whole_messages(
    table: pd.DataFrame, own: pd.DataFrame, ids: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return when each task began, and the row that decided it, -1: none; relayed messages are one.

    The way to a relay is a task of its own behind those of the graph, and the message goes on from
    there when it has ended: the message begins with that way, what the way waited for decides for
    both, and who waits for the way waits for the message.
    """
    after = own["after"].fillna(-1).to_numpy(dtype=np.int64)
    rows = pd.Index(ids).get_indexer(after)
    legs = np.flatnonzero((rows < 0) & (after >= 0))
    starts = own["start_ps"].to_numpy(dtype=np.int64, copy=True)
    whole: dict[int, int] = {}
    for row in legs[np.argsort(starts[legs], kind="stable")].tolist():
        whole.setdefault(int(after[row]), row)  # others begin when its acknowledgement is back
    starts[list(whole.values())] = table["start_ps"].loc[list(whole)].to_numpy(dtype=np.int64)
    before = table["after"].fillna(-1).astype("int64")
    known = dict(zip(ids.tolist(), range(len(ids)), strict=True))
    for row in legs.tolist():
        leg = int(after[row])
        if whole[leg] == row:
            leg = int(before[leg])
        rows[row] = known.get(leg, whole.get(leg, -1))
    return starts, rows


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
