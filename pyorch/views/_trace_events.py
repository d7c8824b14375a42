# SPDX-License-Identifier: GPL-2.0-only
"""Takes training steps, returns them in the Trace Event Format, for ui.perfetto.dev.

Source: Trace Event Format, Google, 2016: complete events, in microseconds. A device is a process;
its computations are one thread, what it sends is one thread for each lane.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from pyorch.errors import FigureError
from pyorch.metrics._steps import Step, steps
from pyorch.training.graph import BARRIER, COMPUTE
from pyorch.writing import write_text

PS_PER_US = 1_000_000


def write(runs: Iterable, path: Path) -> None:
    """Write the steps of runs to one file of JSON.

    Raises
    ------
    FigureError
        None of the runs has a training step.
    """
    found = [step for run in runs for step in steps(run)]
    if not found:
        raise FigureError("no workload of these runs computes, so there is no timeline.")
    events = [event for index, step in enumerate(found) for event in _events(step, index)]
    write_text(path, json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}) + "\n")


def _events(step: Step, index: int) -> list[dict]:
    first = index * step.devices
    names = {(device, 0): "compute" for device in range(step.devices)}
    lanes = {lane: 1 + i for i, lane in enumerate(sorted(set(step.tasks["lane"])))}
    events: list[dict] = []
    for row in step.tasks[step.tasks["kind"] != BARRIER].itertuples(index=False):
        thread = 0 if row.kind == COMPUTE else lanes[row.lane]
        names.setdefault((row.device, thread), row.lane)
        event = {
            "name": row.lane, "ph": "X", "pid": first + row.device, "tid": thread,
            "ts": row.start_ps / PS_PER_US, "dur": (row.end_ps - row.start_ps) / PS_PER_US,
        }  # fmt: skip
        if thread:
            event["args"] = {"to": first + row.peer}
        events.append(event)
    for (device, thread), name in names.items():
        place = {"ph": "M", "pid": first + device, "tid": thread}
        events.append({**place, "name": "thread_name", "args": {"name": name}})
        if not thread:
            about = {"name": f"device {device}"}
            events.append({**place, "name": "process_name", "args": about})
    return events
