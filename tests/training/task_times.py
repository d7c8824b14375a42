# SPDX-License-Identifier: GPL-2.0-only
"""Graphs of tasks at random, and when their tasks end if every message takes its own time."""

import io

import numpy as np
from hypothesis import strategies as st

from pyorch.training import BARRIER, COMPUTE, MESSAGE, Builder, chakra, goal, goal_binary

#: Of a message [ps], [ps/byte].
LATENCY, PER_BYTE = 5000, 3


def of_goal(data, where="x.goal"):
    """Return the tasks of GOAL: of bytes, or of a text."""
    form = goal_binary if isinstance(data, bytes) else goal
    return form.read(io.BytesIO(data if isinstance(data, bytes) else data.encode()), where).graph


def of_chakra(files, missing, *where):
    """Return the trace of files, a rank each."""
    return chakra.read(map(io.BytesIO, files), len(files), missing, *where)


def ends(graph):
    """Return when each task ends where a message takes a latency and its bytes, row by row."""
    found = np.full(len(graph.kind), -1, dtype=np.int64)
    waits = [[] for _ in found]
    for task, after, at_sender, delay in zip(
        graph.task, graph.after, graph.at_sender, graph.delay_ps, strict=True
    ):
        known = LATENCY if at_sender and graph.kind[after] == MESSAGE else 0
        waits[task].append((after, delay + known))
    stream = {}
    for row in range(len(found)):
        if graph.kind[row] == COMPUTE:
            place = (graph.device[row], graph.stream[row])
            if place in stream:
                waits[row].append((stream[place], 0))
            stream[place] = row
    while (left := np.flatnonzero(found < 0)).size:
        done = False
        for row in left:
            if all(found[after] >= 0 for after, _ in waits[row]):
                start = max([0, *(found[after] + delay for after, delay in waits[row])])
                takes = LATENCY + PER_BYTE * graph.size_bytes[row]
                takes = takes if graph.kind[row] == MESSAGE else graph.duration_ps[row]
                found[row], done = start + takes, True
        assert done, "tasks wait for each other"
    return found


@st.composite
def graphs(draw, unit_ps=1000):
    """Return a graph whose computations last whole units."""
    n_devices, n_tasks = draw(st.integers(1, 4)), draw(st.integers(1, 14))
    build = Builder(n_devices)
    kinds, waits = [], []
    for row in range(n_tasks):
        device = draw(st.integers(0, n_devices - 1))
        kind = draw(st.sampled_from([COMPUTE, MESSAGE, BARRIER][: 3 if n_devices > 1 else 1]))
        if kind == COMPUTE:
            build.compute(device, unit_ps * draw(st.integers(1, 9)), "c", draw(st.integers(0, 1)))
            at = {0: device}
        elif kind == BARRIER:
            build.barrier(device, "b")
            at = {0: device}
        else:
            peer = (device + draw(st.integers(1, n_devices - 1))) % n_devices
            build.message(device, peer, draw(st.integers(1, 99)), "m")
            at = {0: peer, 1: device}
        for before in range(row):
            for end, known in kinds[before].items():
                if known == device and draw(st.booleans()):
                    waits.append((row, before, end))
        kinds.append(at)
    if waits:
        build.wait(*np.array(waits).T)
    return build.graph()
