# SPDX-License-Identifier: GPL-2.0-only
"""GOAL's binary form read and written: bytes by hand, there and back, and what is refused."""

import io
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_times import ends, graphs, of_goal
from test_goal import TINY

from pyorch.spec.fields import FieldError
from pyorch.training import Builder, check, goal, goal_binary


def node(needs, kind, peer, size, tag, cpu, n_then=0, then=0, n_begin=0, begin=0):
    return struct.pack(
        "<IBIQIBBIIII", needs, kind, peer, size, tag, cpu, 0, n_then, then, n_begin, begin
    )


def file(*schedules, magic=4223, ranks=None):
    """Return a file; where schedules begin and end is counted from byte 8."""
    ranks = len(schedules) if ranks is None else ranks
    at, jumps = 6 + 16 * len(schedules), b""
    for one in schedules:
        jumps += struct.pack("<QQ", at, at + len(one))
        at += len(one)
    return struct.pack("<QIBB", magic, ranks, 2, 1) + jumps + b"".join(schedules)


def schedule(nodes, roots, appendix=()):
    parts = [struct.pack("<II", len(nodes), len(roots)), struct.pack(f"<{len(roots)}I", *roots)]
    return b"".join([*parts, *nodes, struct.pack(f"<{len(appendix)}I", *appendix)])


#: The two ranks of `TINY`: 100 ns and a send behind it, a recv and 50 ns on cpu 1 behind it.
FIRST = schedule([node(0, 3, 0, 100, 0, 0, 1, 0, 0, 1), node(1, 1, 1, 1024, 7, 0, 0, 1, 0, 1)],
                 [0], [1])  # fmt: skip
SECOND = schedule([node(0, 2, 0, 1024, 7, 0, 1, 0, 0, 1), node(1, 3, 0, 50, 0, 1, 0, 1, 0, 1)],
                  [0], [1])  # fmt: skip


def test_bytes_by_hand_are_those_of_the_text():
    data = file(FIRST, SECOND)
    graph, text = of_goal(data, "tiny.bin"), of_goal(TINY, "tiny.goal")
    check(graph)

    of_bytes, of_text = (goal_binary.is_binary(io.BytesIO(one)) for one in (data, TINY.encode()))
    assert of_bytes and not of_text
    for mine, other in zip(graph[2:], text[2:], strict=True):
        assert mine.tolist() == other.tolist()


def test_what_is_written_has_the_bytes_of_the_format():
    # No operation but sends, recvs and computations, so the file is that of the text.
    build = Builder(2)
    work = build.compute(0, 100_000, "a")
    build.wait(build.message(0, 1, 1024, "m"), work)
    data = goal_binary.write(build.graph())

    first = [node(0, 3, 0, 100, 0, 0, 1, 0, 0, 1), node(1, 1, 1, 1024, 1, 0, 0, 1, 0, 1)]
    second = schedule([node(0, 2, 0, 1024, 1, 0)], [0])
    expected = file(schedule(first, [0], [1]), second)
    assert data == expected[:12] + b"\x01" + expected[13:]  # one cpu


def test_to_start_when_another_has_started_is_to_wait_for_the_same():
    # 5 ns, then 7 ns on cpu 1; 1 ns on cpu 2 starts with the second.
    nodes = [
        node(0, 3, 0, 5, 0, 0, 1, 0),
        node(1, 3, 0, 7, 0, 1, 0, 1, 1, 1),
        node(1, 3, 0, 1, 0, 2),
    ]
    graph = of_goal(file(schedule(nodes, [0], [1, 2])), "x.bin")
    assert sorted(ends(graph).tolist()) == [5000, 5000, 6000, 12000]


@settings(max_examples=150)
@given(graph=graphs())
def test_any_graph_there_and_back_takes_the_same_time(graph):
    again = of_goal(goal_binary.write(graph), "x.bin")
    text = of_goal(goal.write(graph), "x.goal")
    check(again)

    assert sorted(ends(again).tolist()) == sorted(ends(text).tolist())


@settings(max_examples=300)
@given(graph=graphs(), cut=st.integers(0, 4000), more=st.binary(max_size=8))
def test_any_edit_is_a_graph_or_one_line(graph, cut, more):
    data = goal_binary.write(graph)
    data = data[: cut % len(data)] + more + data[cut % len(data) + len(more) :]
    try:
        check(of_goal(data, "x.bin"), "file")
    except FieldError as error:
        assert "\n" not in str(error)


GOOD = file(FIRST, SECOND)
MISTAKES = {
    "used up": (file(FIRST, SECOND, magic=2342), "has been used up by LogGOPSim --save-mem."),
    "a head alone": (GOOD[:20], "ends within its head"),
    "no rank": (file(ranks=0), "0 ranks; a file has 1 to"),
    "too many ranks": (file(ranks=2**32 - 1), "4294967295 ranks; a file has 1 to"),
    "cut short": (GOOD[:-4], "rank 1 lies from byte"),
    "nodes that are not there": (
        file(struct.pack("<II", 2**31, 0), SECOND), "rank 0: is shorter than what it counts",
    ),
    "a type": (file(schedule([node(0, 4, 0, 5, 0, 0)], [0])), "operation 0: type 4 is none of"),
    "a peer": (file(schedule([node(0, 1, 5, 5, 0, 0)], [0])), "operation 0: peer 5 is no other"),
    "itself": (file(schedule([node(0, 1, 0, 5, 0, 0)], [0])), "operation 0: peer 0 is no other"),
    "anybody": (file(schedule([node(0, 2, 2**32 - 1, 5, 0, 0)], [0])), "takes from anybody"),
    "no bytes": (file(schedule([node(0, 1, 1, 0, 0, 0)], [0]), SECOND), "0 bytes; a message has"),
    "too long": (file(schedule([node(0, 3, 0, 2**63, 0, 0)], [0])), "ns; at most ten days."),
    "one that waits and is not there": (
        file(schedule([node(0, 3, 0, 5, 0, 0, 1, 0)], [0], [7])), "what waits for it is not there.",
    ),
    "another count": (
        file(schedule([node(3, 3, 0, 5, 0, 0)], [0])), "counts other dependencies than it has.",
    ),
    "ranks with the same bytes": (
        GOOD[:30] + GOOD[14:30] + GOOD[46:], "ranks 0 and 1 have bytes in common",
    ),
    "dependencies that share their places": (
        file(schedule([node(2, 3, 0, 5, 0, 0, 1, 0, 1, 0)], [], [0])),
        "2 dependencies, but there are places for 1.",
    ),
    "a circle": (
        file(schedule([node(1, 3, 0, 5, 0, 0, 1, 1), node(1, 3, 0, 5, 0, 0, 1, 0)], [], [0, 1])),
        "waits for itself in a circle",
    ),
    "no partner": (file(FIRST, schedule([], [])), "no recv of rank 1 with tag 7 is left."),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_place(mistake):
    data, message = MISTAKES[mistake]
    with pytest.raises(FieldError) as caught:
        of_goal(data, "x.bin")
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith("x.bin: ")
