# SPDX-License-Identifier: GPL-2.0-only
"""A graph of tasks says what it means, and what cannot run is refused in one line."""

import re

import numpy as np
import pytest

from pyorch.collective import ring
from pyorch.collective._graph import AT_SENDER, Call
from pyorch.spec.fields import FieldError
from pyorch.training import BARRIER, COMPUTE, MESSAGE, Builder, check, dependencies, flows, tasks
from pyorch.training.graph import stream_edges

HOSTS = np.array([10, 11, 12, 13])


def chain():
    """Return a computation on device 0, a message to 1, a computation there; rows 0, 1, 2."""
    made = Builder(4)
    first = made.compute(0, 700, "forward")
    sent = made.message(0, 1, 4096, "PP")
    last = made.compute(1, 900, "forward")
    made.wait(sent, first)
    made.wait(last, sent)
    return made


def test_tables_of_a_chain():
    # Oracle by hand: one flow, row 0; two tasks, rows 1 and 2 behind it.
    graph = chain().graph()
    check(graph)
    assert graph.kind.tolist() == [COMPUTE, MESSAGE, COMPUTE]
    assert graph.lanes == ("forward", "PP")
    assert {name: column.tolist() for name, column in flows(graph, HOSTS, 5).items()} == {
        "src": [10], "dst": [11], "bytes": [4096], "start_ps": [5],
    }  # fmt: skip
    assert {name: column.tolist() for name, column in tasks(graph, HOSTS, 5).items()} == {
        "kind": [0, 0], "node": [10, 11], "stream": [0, 0], "duration_ps": [700, 900],
        "start_ps": [5, 5],
    }  # fmt: skip
    waits = dependencies(graph)
    assert {name: column.tolist() for name, column in waits.items()} == {
        "flow": [0, 2], "after": [1, 0], "at_sender": [0, 0],
    }  # fmt: skip


def test_of_two_delays_the_longer_one_is_kept():
    made = chain()
    made.wait(2, 0, delay_ps=[30, 50, 40])
    waits = dependencies(made.graph())
    rows = list(zip(*(waits[name].tolist() for name in waits), strict=True))
    assert rows == [(0, 1, 0, 0), (2, 0, 0, 0), (2, 1, 0, 50)]


def test_streams_are_followed_in_the_order_of_rows():
    # Oracle by hand: device 0 has streams 0 and 1, device 1 has stream 0; a barrier has none.
    made = Builder(2)
    made.compute([0, 1, 0], 1, "a")
    made.barrier(0, "a")
    made.compute(0, 1, "a", stream=1)
    made.compute([1, 0], 1, "a")
    later, before = stream_edges(made.graph())
    assert list(zip(later.tolist(), before.tolist(), strict=True)) == [(2, 0), (6, 2), (5, 1)]


def test_a_collective_in_two_groups_has_its_messages_twice():
    # Oracle: a ring all-reduce among n sends 2 (n-1) messages of S/n per rank. What carries data
    # of its sender waits for that rank's own task, each rank is done after its n needed messages.
    n, size = 4, 4000
    graph = ring.graph(Call("all_reduce", n, size), ring.Params())
    made = Builder(8)
    ranks = np.arange(8).reshape(2, n)
    begin = made.compute(ranks, 10, "forward")
    done = made.collective(graph, ranks, begin, "DP")
    whole = made.graph()
    check(whole)

    sent = whole.kind == MESSAGE
    assert sent.sum() == 2 * n * 2 * (n - 1)
    assert np.bincount(whole.device[sent], whole.size_bytes[sent]).tolist() == [6000] * 8
    assert (whole.device[sent] // n == whole.peer[sent] // n).all()
    assert whole.device[done].tolist() == ranks.tolist()
    assert (whole.kind[done] == BARRIER).all()
    for row in done.ravel():
        awaited = whole.after[whole.task == row]
        assert whole.device[row] in whole.device[awaited[whole.kind[awaited] == COMPUTE]]
        messages = awaited[whole.kind[awaited] == MESSAGE]
        assert (whole.peer[messages] == whole.device[row]).all() and len(messages) == n
    firsts = np.setdiff1d(np.flatnonzero(sent), whole.task)
    assert not firsts.size, "a message that waits for nothing sends what is not there yet"


def changed(graph, row, **values):
    return graph._replace(
        **{name: np.where(np.arange(len(graph.kind)) == row, value, getattr(graph, name))
           for name, value in values.items()}
    )  # fmt: skip


@pytest.mark.parametrize(
    "values, message",
    [
        ({"device": 4}, "task 1: there is no device 4; the 4 devices are 0 to 3."),
        ({"peer": -1}, "task 1: there is no device -1; the 4 devices are 0 to 3."),
        ({"peer": 0}, "task 1: device 0 sends to itself."),
        ({"size_bytes": 0}, "task 1: size_bytes is 0."),
        ({"duration_ps": 5}, "task 1: duration_ps is 5."),
        ({"kind": 3}, "task 1: kind is 3."),
        ({"lane": 2}, "task 1: lane is 2."),
        ({"stream": -1}, "task 1: stream is -1."),
        ({"kind": COMPUTE, "size_bytes": 0, "duration_ps": -1}, "task 1: duration_ps is -1."),
    ],
)
def test_a_task_that_cannot_be_is_refused(values, message):
    with pytest.raises(FieldError, match=re.escape(message)):
        check(changed(chain().graph(), 1, **values))


def test_a_dependency_on_a_task_that_is_not_there_is_refused():
    made = chain()
    made.wait(1, 3)
    with pytest.raises(FieldError, match=re.escape("names task 3; the tasks are 0 to 2.")):
        check(made.graph())


@pytest.mark.parametrize(
    "task, after, at_sender, knows", [(2, 0, 0, 0), (0, 2, 0, 1), (2, 1, AT_SENDER, 0)]
)
def test_news_needs_a_path_to_travel(task, after, at_sender, knows):
    made = chain()
    made.wait(task, after, at_sender)
    message = f"starts 0 ps after task {after}, of whose end device {knows} knows."
    with pytest.raises(FieldError, match=re.escape(message)):
        check(made.graph())


def test_tasks_that_wait_for_each_other_are_named():
    # Devices 0 and 1 send to each other, each after the other's message; task 0 has no part in it.
    made = Builder(2)
    made.compute(0, 1, "a")
    there, back = made.message(0, 1, 1, "a"), made.message(1, 0, 1, "a")
    made.wait(there, back)
    made.wait(back, there)
    with pytest.raises(FieldError, match=re.escape("2 tasks wait for each other")) as error:
        check(made.graph())
    assert str(error.value).endswith(": 1, 2.")


def test_a_stream_can_close_a_circle():
    # The first computation of a stream waits for the second one of it.
    made = Builder(1)
    made.compute([0, 0], 1, "a")
    made.wait(0, 1)
    with pytest.raises(FieldError, match=re.escape("2 tasks wait for each other")):
        check(made.graph())


def test_a_task_that_waits_for_itself_is_refused():
    made = Builder(1)
    made.compute([0, 0], 1, "a")
    made.wait(1, 1)
    with pytest.raises(FieldError, match=re.escape("1 tasks wait for each other")):
        check(made.graph())
