# SPDX-License-Identifier: GPL-2.0-only
"""GOAL read and written: by hand, there and back on any graph, and what is refused."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_times import LATENCY, PER_BYTE, ends, graphs, of_goal

from pyorch.collective import ring
from pyorch.collective._graph import Call
from pyorch.spec.fields import FieldError
from pyorch.training import BARRIER, COMPUTE, MESSAGE, Builder, check, goal

TINY = """\
// two ranks
num_ranks 2
rank 0 {
l1: calc 100
l2: send 1024b to 1 tag 7
l2 requires l1
}
rank 1 {
l1: recv 1024b from 0 tag 7 /* the one
above */
l2: calc 50 cpu 1
l2 requires l1
}
"""


def test_two_ranks_by_hand():
    graph = of_goal(TINY, "tiny.goal")
    check(graph)

    # The computation, the message, its recv, and the computation behind that.
    assert graph.kind.tolist() == [COMPUTE, MESSAGE, BARRIER, COMPUTE]
    assert graph.device.tolist() == [0, 0, 1, 1]
    assert graph.size_bytes.tolist() == [0, 1024, 0, 0]
    assert graph.duration_ps.tolist() == [100_000, 0, 0, 50_000]
    assert graph.stream.tolist() == [0, 0, 0, 1]
    edges = sorted(zip(graph.task.tolist(), graph.after.tolist(), strict=True))
    assert edges == [(1, 0), (2, 1), (3, 2)]
    assert ends(graph).max() == 100_000 + LATENCY + 1024 * PER_BYTE + 50_000


def test_what_requires_a_send_waits_for_its_acknowledgement():
    text = "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: calc 2\nb requires a\n}\n"
    graph = of_goal(text + "rank 1 {\nrecv 9b from 0\n}\n", "x.goal")

    rows = zip(graph.task.tolist(), graph.after.tolist(), graph.at_sender.tolist(), strict=True)
    b, send = (int(np.flatnonzero(graph.kind == kind)[0]) for kind in (COMPUTE, MESSAGE))
    assert (b, send, 1) in list(rows)


def test_to_start_when_another_has_started_is_to_wait_for_the_same():
    text = "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 7 cpu 1\nb requires a\nc: calc 1 cpu 2\n"
    graph = of_goal(text + "c irequires b\n}\n", "x.goal")

    # The start of b is a point in time of its own, 5 ns.
    assert sorted(ends(graph).tolist()) == [5000, 5000, 6000, 12000]


@pytest.mark.parametrize("lines", list(itertools.permutations(
    ["b irequires a", "a requires c", "d irequires b"]
)))  # fmt: skip
def test_the_order_of_lines_decides_nothing(lines):
    # c ends at 5 ns, so a and all that start with it begin then, each on a cpu of its own.
    operations = "a: calc 7 cpu 1\nb: calc 1 cpu 2\nc: calc 5\nd: calc 2 cpu 3\n"
    text = f"num_ranks 1\nrank 0 {{\n{operations}" + "\n".join(lines) + "\n}\n"
    graph = of_goal(text, "x.goal")
    works = graph.kind == COMPUTE

    assert sorted(ends(graph)[works].tolist()) == [5000, 6000, 7000, 12000]


def test_starts_that_wait_for_starts_stay_as_many_as_their_lines():
    # Written out, each would wait for all before: 2000 squared.
    n = 2000
    lines = [f"t{i}: calc 1 cpu {i}" for i in range(n)]
    lines += [f"t{i + 1} irequires t{i}\nt{i + 1} requires t{i}" for i in range(n - 1)]
    graph = of_goal("num_ranks 1\nrank 0 {\n" + "\n".join(lines) + "\n}\n", "x.goal")

    assert len(graph.task) < 4 * n
    assert ends(graph).max() == n * 1000


def test_starts_in_a_circle_never_come():
    text = "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 7\na irequires b\nb irequires a\n}\n"
    with pytest.raises(FieldError, match="x.goal:3: waits for itself in a circle"):
        of_goal(text, "x.goal")


def test_a_computation_may_stand_before_what_it_requires():
    text = "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 7\na requires b\n}\n"

    assert sorted(ends(of_goal(text, "x.goal")).tolist()) == [7000, 12000]


def test_a_ring_all_reduce_there_and_back():
    # Closed form: 2 (n-1) messages one after the other, and the step between of no time.
    n, size = 5, 500
    build = Builder(n)
    begin = build.compute(np.arange(n)[None], 10_000, "forward")
    call = Call("all_reduce", n, size)
    build.collective(ring.graph(call, ring.Params()), np.arange(n)[None], begin, "DP")
    graph = build.graph()
    again = of_goal(goal.write(graph), "ring.goal")

    expected = 10_000 + 2 * (n - 1) * (LATENCY + size // n * PER_BYTE)
    assert ends(graph).max() == ends(again).max() == expected


@settings(max_examples=150)
@given(graph=graphs())
def test_any_graph_there_and_back_takes_the_same_time(graph):
    # Each task ends when it did; a recv that stands for the end of a message is one more.
    again = of_goal(goal.write(graph), "any.goal")
    check(again)

    assert set(ends(graph).tolist()) == set(ends(again).tolist())
    for kind in (COMPUTE, MESSAGE):
        assert sorted(ends(graph)[graph.kind == kind]) == sorted(ends(again)[again.kind == kind])


@settings(max_examples=60)
@given(graph=graphs(), data=st.data())
def test_a_file_cut_short_is_said_in_one_line(graph, data):
    # Cut before the last brace: at least that is missing.
    text = goal.write(graph).rstrip()
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.raises(FieldError) as caught:
        of_goal(cut, "cut.goal")
    assert str(caught.value).startswith("cut.goal") and "\n" not in str(caught.value)


MISTAKES = {
    "no number of ranks": ("rank 0 {\n}\n", "x.goal: begins with num_ranks"),
    "a rank too few": ("num_ranks 2\nrank 0 {\ncalc 1\n}\n", "x.goal: num_ranks is 2, but there"),
    "no end": ("num_ranks 1\nrank 0 {\ncalc 1\n", "x.goal: ends inside rank 0: the file is cut"),
    "ranks out of order": ("num_ranks 2\nrank 1 {\n}\n", "x.goal:2: rank 1; ranks follow"),
    "a word that is none": ("num_ranks 1\nrank 0 {\nclac 1\n}\n", "x.goal:3: 'clac 1' is no line"),
    "a label that is there twice": (
        "num_ranks 2\nrank 0 {\na: calc 1\n}\nrank 1 {\na: calc 1\nb: calc 1\na: calc 5\n}\n",
        "x.goal:8: label 'a' stands twice in rank 1.",
    ),
    "a label that is not there": (
        "num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}\n", "x.goal:4: there is no label b",
    ),
    "whoever comes": (
        "num_ranks 2\nrank 0 {\nrecv 1b from -1\n}\nrank 1 {\n}\n", "x.goal:3: -1 is whoever comes",
    ),
    "a rank that is not there": (
        "num_ranks 2\nrank 0 {\nsend 1b to 2\n}\nrank 1 {\n}\n",
        "x.goal:3: rank 0 cannot send to rank 2; write another one of 0 to 1.",
    ),
    "no partner": (
        "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4\n}\nrank 1 {\nrecv 1b from 0\n}\n",
        "x.goal:6: no send of rank 0 with tag 0 is left.",
    ),
    "nobody receives": (
        "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 4\n}\nrank 1 {\n}\n",
        "x.goal:3: no recv of rank 1 with tag 4 is left.",
    ),
    "another size": (
        "num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 2b from 0\n}\n",
        "x.goal:6: 2 bytes, but x.goal:3 sends 1.",
    ),
    "a circle": (
        "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
        "x.goal:3: waits for itself in a circle",
    ),
    "nothing": ("num_ranks 1\nrank 0 {\n}\n", "x.goal: there is no operation in it."),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_line(mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(FieldError, match=re.escape(message)):
        of_goal(text, "x.goal")


def test_delays_and_news_without_a_message_are_not_written():
    build = Builder(2)
    rows = build.compute(np.arange(2), 1000, "c")
    build.wait(rows[1], rows[0], 0, 500)
    with pytest.raises(
        FieldError, match="task 1 starts 500 ps after task 0, of whose end device 0"
    ):
        goal.write(build.graph())
