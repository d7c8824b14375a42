# SPDX-License-Identifier: GPL-2.0-only
"""Computations of a stream follow each other, barriers take no time, and the table says why."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, NEVER, NS_PS, US_PS, Flows, run, star

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3
ENGINES = pytest.mark.parametrize("engine", ["packets", "fluid"])

NETWORK = star(4, 100 * GBPS, 500 * NS_PS)
COMPUTATION, MESSAGE, BARRIER = 0, 1, 2


def rows_of(got):
    """Return start, end and reason of each task by its id."""
    columns = (got["tasks"][name].tolist() for name in ("task", "start_ps", "end_ps", "after"))
    return {task: (start, end, after) for task, start, end, after in zip(*columns, strict=True)}


@ENGINES
def test_a_chain_of_tasks_and_a_message(engine):
    # Oracle by hand: host 0 computes 3 us and then, on the same stream, 4 us; a message leaves
    # after the first of them. Host 1 computes 5 us from its end on, and passes a barrier then.
    flows = Flows()
    flows.add(0, 1, 10_000)
    got = run(
        NETWORK, flows,
        tasks=[(1, 0, 0, 0, 3 * US_PS), (2, 0, 0, 0, 4 * US_PS), (3, 0, 1, 0, 5 * US_PS),
               (4, 2, 1, 0, 0)],
        dependencies=[(0, 1, 0), (3, 0, 0), (4, 3, 0)], engine=engine,
    )  # fmt: skip

    there_ps = 3 * US_PS + got.fct_ps()
    assert rows_of(got) == {
        0: (3 * US_PS, there_ps, 1),
        1: (0, 3 * US_PS, NEVER),
        2: (3 * US_PS, 7 * US_PS, 1),
        3: (there_ps, there_ps + 5 * US_PS, 0),
        4: (there_ps + 5 * US_PS, there_ps + 5 * US_PS, 3),
    }
    assert got["tasks"]["kind"].tolist() == [MESSAGE, *[COMPUTATION] * 3, BARRIER]
    assert got["tasks"]["node"].tolist() == [0, 0, 0, 1, 1]


@ENGINES
def test_streams_of_a_host_do_not_wait_for_each_other(engine):
    tasks = [(i, 0, 0, stream, US_PS) for i, stream in enumerate([0, 1, 0, 1, 1], start=1)]
    flows = Flows()
    flows.add(1, 2, 1000)
    got = rows_of(run(NETWORK, flows, engine=engine, tasks=tasks))
    assert [got[i][0] // US_PS for i in range(1, 6)] == [0, 0, 1, 1, 2]


@ENGINES
def test_a_stream_keeps_its_order_although_a_later_one_could_begin(engine):
    # Task 1 waits for a message; task 2 of the same stream waits for task 1, task 3 of another
    # stream for nobody.
    flows = Flows()
    flows.add(1, 0, 100_000)
    tasks = [(1, 0, 0, 0, US_PS), (2, 0, 0, 0, US_PS), (3, 0, 0, 1, US_PS)]
    got = run(NETWORK, flows, engine=engine, tasks=tasks, dependencies=[(1, 0, 0)])
    rows = rows_of(got)
    assert rows[1][0] == got.flow(0)["receiver_end_ps"]
    assert rows[2] == (rows[1][1], rows[1][1] + US_PS, 1)
    assert rows[3] == (0, US_PS, NEVER)


@ENGINES
def test_a_run_goes_on_until_its_computations_are_over(engine):
    flows = Flows()
    flows.add(0, 1, 1000)
    got = run(NETWORK, flows, engine=engine, tasks=[(1, 0, 0, 0, 900 * US_PS)])
    assert got["summary"]["now_ps"][0] == 900 * US_PS
    cut = run(NETWORK, flows, engine=engine, tasks=[(1, 0, 0, 0, 900 * US_PS)], stop_ps=100 * US_PS)
    assert rows_of(cut)[1] == (0, NEVER, NEVER)


@st.composite
def graphs(draw):
    """Return flows, tasks on few streams, and dependencies of each on some of those before it."""
    flows, tasks, at = Flows(), [], []
    rows = []
    for item in range(draw(st.integers(2, 14))):
        host = draw(st.integers(0, 3))
        is_message = item == 0 or draw(st.booleans())
        if is_message:
            n_bytes = draw(st.sampled_from([1, 4096, 30_000]))
            flows.add(host, peer := (host + draw(st.integers(1, 3))) % 4, n_bytes)
            at.append(("flow", len(flows.rows) - 1, host, peer))
        else:
            kind = draw(st.sampled_from([COMPUTATION, COMPUTATION, BARRIER]))
            duration_ps = draw(st.sampled_from([0, 1, 700, 5 * US_PS])) * (kind == COMPUTATION)
            tasks.append((100 + len(tasks), kind, host, draw(st.integers(0, 1)), duration_ps))
            at.append(("task", len(tasks) - 1, host, host))
        for before in range(item):
            if draw(st.integers(0, 3)) == 0:
                at_sender = int(at[before][0] == "flow" and draw(st.booleans()))
                knows = at[before][2 if at_sender else 3]
                delay_ps = 0 if knows == host else draw(st.integers(1, 5 * US_PS))
                rows.append((item, before, at_sender, delay_ps))
    # Ids as in the tables: flows from 0, tasks from 100; dependencies name these.
    ids = [index if what == "flow" else 100 + index for what, index, _, _ in at]
    waits = [(ids[item], ids[before], end, delay) for item, before, end, delay in rows]
    return flows, tasks, draw(st.permutations(waits))


@ENGINES
@settings(max_examples=60)
@given(graph=graphs())
def test_every_task_starts_when_the_last_of_what_it_waits_for_has_ended(engine, graph):
    flows, tasks, waits = graph
    got = run(NETWORK, flows, engine=engine, tasks=tasks, dependencies=waits)
    table = got["flows"]
    ends = {
        (int(f), 0): int(e) for f, e in zip(table["flow"], table["receiver_end_ps"], strict=True)
    }
    ends |= {
        (int(f), 1): int(e) for f, e in zip(table["flow"], table["sender_end_ps"], strict=True)
    }
    if not tasks:
        return
    rows = rows_of(got)
    ends |= {(task, 0): end for task, (_, end, _) in rows.items() if task >= 100}
    before = {}
    reasons = {task: [] for task in rows}
    for task, kind, host, stream, _ in tasks:
        if kind == COMPUTATION:
            if (host, stream) in before:
                reasons[task].append((ends[before[host, stream], 0], before[host, stream]))
            before[host, stream] = task
    for item, after, at_sender, delay_ps in waits:
        reasons[item].append((ends[after, at_sender] + delay_ps, after))
    durations = {task: duration for task, _, _, _, duration in tasks}
    for task, (start, end, after) in rows.items():
        expected = max((at for at, _ in reasons[task]), default=0)
        assert start == expected
        assert after in [who for at, who in reasons[task] if at == start] or (
            after == NEVER and not reasons[task]
        )
        if task in durations:
            assert end - start == durations[task]


@ENGINES
@pytest.mark.parametrize(
    "tasks, waits, message",
    [
        ([(1, 0, 9, 0, 5)], [], "tasks: task 1: node 9 is no host"),
        ([(1, 0, 1000, 0, 5)], [], "tasks: task 1: node 1000 is no host"),
        ([(0, 0, 1, 0, 5)], [], "tasks: task 0 has the id of a flow"),
        ([(1, 0, 1, 0, 5), (1, 0, 2, 0, 5)], [], "tasks: task 1 is listed twice"),
        ([(1, 0, 1, 0, -5)], [], "tasks: task 1: duration_ps is -5, not >= 0"),
        ([(1, 2, 1, 0, 5)], [], "tasks: task 1 is a barrier, so duration_ps is 0, not 5"),
        ([(1, 1, 1, 0, 5)], [], "tasks: task 1: kind is 1, not 0 (computation) or 2 (barrier)"),
        ([(1, 0, 1, 0, 5)], [(7, 1, 0)], "there is no flow or task 7"),
        ([(1, 0, 0, 0, 5), (2, 0, 0, 0, 5)], [(1, 2, 0)],
         "dependencies: task 1 can never start: it waits for task 2"),
        ([(1, 0, 2, 0, 5)], [(0, 1, 0)],
         "dependencies: flow 0 after task 1: it starts at host 0, but host 2 learns of that end"),
    ],
)  # fmt: skip
def test_tasks_that_cannot_be_are_refused(tasks, waits, message, engine):
    flows = Flows()
    flows.add(0, 1, 1000)
    with pytest.raises(PyorchError, match=re.escape(message)):
        run(NETWORK, flows, engine=engine, tasks=tasks, dependencies=waits)


@ENGINES
def test_the_order_of_rows_changes_nothing(engine):
    tasks = [(i, 0, i % 4, 0, US_PS * i) for i in range(10, 30)]
    flows = Flows()
    flows.add(0, 1, 1000)
    waits = [(i, i - 4, 0) for i in range(20, 30)]
    one, other = (
        run(NETWORK, flows, engine=engine, tasks=order, dependencies=rows)
        for order, rows in ((tasks, waits), (tasks[::-1], waits[::-1]))
    )
    assert all(np.array_equal(one["tasks"][name], other["tasks"][name]) for name in one["tasks"])
