# SPDX-License-Identifier: GPL-2.0-only
"""Takes finished runs, returns them in the Trace Event Format, for ui.perfetto.dev.

Source: Trace Event Format, Google, 2016: complete events and counters, in microseconds. A host is a
process with a thread for each message that it sends at a time; a device of a training step is a
process whose computations are one thread, and what it sends one for each lane. Queues and loads of
the links that had the longest queues are counters, pauses of PFC are events of the link held back.
"""

import json
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch.look.grid import LINK
from pyorch.metrics._steps import Step, steps
from pyorch.training.graph import BARRIER, COMPUTE
from pyorch.writing import write_text

PS_PER_US = 1_000_000
#: Links whose queue and load are shown.
MOST_LINKS = 64
#: Columns of a message that are told with it.
COUNTED = ("retransmitted_packets", "trimmed_packets", "timeouts")


def write(runs: Iterable, path: Path | str) -> Path:
    """Write finished runs to one file of JSON; return where.

    Parameters
    ----------
    runs : iterable of RunResult
        Finished runs. What was not recorded is left out: queues and loads need
        ``trace: {sample: ...}``, pauses need ``trace: {pauses: true}``.
    path : path
        File of JSON.
    """
    events, numbers = [], count()
    for run in runs:
        about = f"{run.point_label or run.id}: "
        for step in steps(run) if "tasks" in run.tables else ():
            events += _named(about, _step(step), numbers)
        events += _named(about, _messages(run), numbers)
        if "pauses" in run.tables:
            events += _named(about, _pauses(run), numbers)
        if "port_samples" in run.tables:
            events += _named(about, _counters(run), numbers)
    text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))
    write_text(Path(path), text + "\n")
    return Path(path)


def _named(about: str, events: Iterable[dict], numbers: Iterator[int]) -> Iterator[dict]:
    """Yield events with numbers for the names of their processes and threads, and these names."""
    processes, threads = {}, {}
    for event in events:
        process, thread = event["pid"], event["tid"]
        if process not in processes:
            processes[process] = next(numbers)
            yield {"name": "process_name", "ph": "M", "pid": processes[process], "tid": 0,
                   "args": {"name": about + process}}  # fmt: skip
        own = threads.setdefault(process, {})
        if thread not in own:
            own[thread] = len(own)
            yield {"name": "thread_name", "ph": "M", "pid": processes[process], "tid": own[thread],
                   "args": {"name": thread}}  # fmt: skip
        yield {**event, "pid": processes[process], "tid": own[thread]}


def _complete(process: str, thread: str, name: str, start_ps: int, end_ps: int, **args) -> dict:
    return {"name": name, "ph": "X", "pid": process, "tid": thread, "ts": start_ps / PS_PER_US,
            "dur": (end_ps - start_ps) / PS_PER_US, "args": args}  # fmt: skip


def _step(step: Step) -> Iterator[dict]:
    tasks = step.tasks[step.tasks["kind"] != BARRIER]
    for row in tasks.itertuples(index=False):
        computes = row.kind == COMPUTE
        args = {} if computes else {"to": int(row.peer)}
        yield _complete(
            f"device {row.device}", "compute" if computes else row.lane, row.lane,
            row.start_ps, row.end_ps, **args,
        )  # fmt: skip


def _messages(run) -> Iterator[dict]:
    """Yield messages; those of a host that overlap are on threads of their own."""
    now_ps = int(run.outcome["now_ps"])
    flows = run.flows
    flows = flows[flows["start_ps"].notna() & (flows["bytes"] > 0)]
    flows = flows.sort_values(["src", "start_ps", "flow"])
    for src, own in flows.groupby("src"):
        free, busy, threads = [], [], count(1)
        for row in own.itertuples(index=False):
            start_ps = int(row.start_ps)
            ended = not pd.isna(row.receiver_end_ps)
            end_ps = int(row.receiver_end_ps) if ended else now_ps
            while busy and busy[0][0] <= start_ps:
                heappush(free, heappop(busy)[1])
            thread = heappop(free) if free else next(threads)
            heappush(busy, (end_ps, thread))
            yield _complete(
                f"host {src}", f"messages {thread}", f"message {row.flow} to host {row.dst}",
                start_ps, end_ps, bytes=int(row.bytes), ended=ended, **_counts(row),
            )  # fmt: skip


def _counts(row) -> dict[str, int]:
    """Return what was counted of a message; at flow level nothing is."""
    counted = {name: getattr(row, name) for name in COUNTED}
    return {name: int(value) for name, value in counted.items() if not pd.isna(value)}


def _pauses(run) -> Iterator[dict]:
    pauses = run.pauses.fillna({"end_ps": int(run.outcome["now_ps"])})
    for row in pauses.sort_values([*LINK, "start_ps"]).itertuples(index=False):
        toward = None if pd.isna(row.congested_peer) else f"{row.peer} to {row.congested_peer}"
        yield _complete(
            "held back by PFC", f"{_name(row)}, priority {row.priority}", "held back",
            int(row.start_ps), int(row.end_ps), frames_to=toward,
        )  # fmt: skip


def _counters(run) -> Iterator[dict]:
    """Yield queue and load of the links with the longest queues, 0 again where a row is missing."""
    samples = run.port_samples.astype("int64")
    longest = samples.groupby(LINK)["queue_bytes"].max().nlargest(MOST_LINKS, keep="first")
    period_ps = int(run.spec.trace.sample_ps)
    rates = run.ports.astype("int64").set_index(LINK)["rate_bps"]
    for link, own in samples.set_index(LINK).loc[longest.index].groupby(level=LINK):
        times = own["time_ps"].to_numpy()
        queue = own["queue_bytes"].to_numpy()
        load = own["sent_bytes"].to_numpy() * 8e12 / (period_ps * rates[link])
        gaps = np.append(np.diff(times) > period_ps, True)
        name = f"{link[0]} to {link[1]}" + (f" ({link[2]})" if link[2] else "")
        for time_ps, bytes_, share, is_last in zip(times, queue, load, gaps, strict=True):
            begins_us = max(0, time_ps - period_ps) / PS_PER_US
            yield _counter("link loads", name, begins_us, "share", round(float(share), 4))
            yield _counter("queues", name, time_ps / PS_PER_US, "bytes", int(bytes_))
            if is_last:
                yield _counter("link loads", name, time_ps / PS_PER_US, "share", 0)
                yield _counter("queues", name, (time_ps + period_ps) / PS_PER_US, "bytes", 0)


def _counter(process: str, name: str, us: float, key: str, value: float) -> dict:
    return {"name": name, "ph": "C", "pid": process, "tid": name, "ts": us, "args": {key: value}}


def _name(row) -> str:
    return f"{row.node} to {row.peer}" + (f" ({row.parallel})" if row.parallel else "")
