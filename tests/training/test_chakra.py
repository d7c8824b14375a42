# SPDX-License-Identifier: GPL-2.0-only
"""Chakra traces read and written: known bytes, rings by hand, there and back, what is refused."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_times import LATENCY, PER_BYTE, ends, graphs

from pyorch.collective import ring
from pyorch.collective._graph import Call
from pyorch.spec.fields import FieldError
from pyorch.training import COMPUTE, MESSAGE, Builder, chakra, check
from pyorch.training._protobuf import encoded, framed

#: An all-reduce of 1 MiB as ASTRA-sim has it among its examples, rank 0 of 4: 81 bytes.
ALL_REDUCE = bytes.fromhex(
    "07 0a05302e302e34 48 1214616c6c5f7265647563655f346e7075735f314d42 1807"
    "520e0a0969735f6370755f6f70d80100 520d0a09636f6d6d5f747970654800 520f0a09636f6d6d5f73697a65"
    "48808040"
)


def rings(call):
    return ring.graph(call, ring.Params())


def node(number, kind, after=(), duration_us=0, **attributes):
    """Return a node with int64 attributes, written here by hand."""
    given_ = [(10, encoded([(1, name), (9, value)], zeros=True))
              for name, value in attributes.items()]  # fmt: skip
    return encoded([(1, number), (3, kind), (5, list(after)), (7, duration_us), *given_])


def trace(*nodes):
    return framed([encoded([(1, "0.0.4")]), *nodes])


def test_known_bytes_are_one_all_reduce_of_a_mebibyte():
    # Its node has an id of 0, and attributes that are 0, which are written.
    assert len(ALL_REDUCE) == 81
    graph = chakra.read([ALL_REDUCE] * 4, rings)
    check(graph)

    assert (graph.kind == MESSAGE).sum() == 4 * 2 * 3
    assert graph.size_bytes.sum() == 2 * 3 * 2**20
    assert ends(graph).max() == 6 * (LATENCY + 2**18 * PER_BYTE)


def test_a_ring_of_sends_and_receives_by_hand():
    # Each of 3 ranks computes 7 us, sends, receives, computes: 2 x (message + 7 us) and 7 us.
    files = []
    for rank in range(3):
        chain, last = [node(1, 4, duration_us=7)], 1
        for step in range(2):
            send = node(last + 1, 5, [last], comm_dst=(rank + 1) % 3, comm_size=1000, comm_tag=step)
            receive = node(
                last + 2, 6, [last], comm_src=(rank - 1) % 3, comm_size=1000, comm_tag=step
            )
            chain += [send, receive, node(last + 3, 4, [last + 2], 7)]
            last += 3
        files.append(trace(*chain))
    graph = chakra.read(files, rings)

    assert (graph.kind == MESSAGE).sum() == 6
    assert ends(graph).max() == 3 * 7_000_000 + 2 * (LATENCY + 1000 * PER_BYTE)


def test_a_gather_has_what_each_rank_gives_and_groups_work_side_by_side():
    one = trace(node(1, 7, comm_type=2, comm_size=600))
    group = [encoded([(1, "pg_name"), (29, name)]) for name in ("1", "2")]
    files = [
        trace(
            encoded([(1, 5), (3, 7), *[(10, encoded([(1, key), (9, value)], zeros=True))
                     for key, value in (("comm_type", 0), ("comm_size", 800))], (10, name)])
        )
        for name in np.repeat(group, 2).tolist()
    ]  # fmt: skip
    gathered = chakra.read([one] * 3, rings)
    both = chakra.read(files, rings, {"1": [0, 1], "2": [2, 3]})

    assert gathered.size_bytes.sum() == 3 * 2 * 600
    assert ends(both).max() == 2 * (LATENCY + 400 * PER_BYTE)


def test_a_ring_all_reduce_there_and_back():
    n, size = 5, 500
    build = Builder(n)
    begin = build.compute(np.arange(n)[None], 10_000_000, "forward")
    build.collective(rings(Call("all_reduce", n, size)), np.arange(n)[None], begin, "DP")
    graph = build.graph()
    again = chakra.read(chakra.write(graph), rings)

    expected = 10_000_000 + 2 * (n - 1) * (LATENCY + size // n * PER_BYTE)
    assert ends(graph).max() == ends(again).max() == expected


@settings(max_examples=150)
@given(graph=graphs(1_000_000))
def test_any_graph_there_and_back_takes_the_same_time(graph):
    again = chakra.read(chakra.write(graph), rings)
    check(again)

    assert set(ends(graph).tolist()) == set(ends(again).tolist())
    for kind in (COMPUTE, MESSAGE):
        assert sorted(ends(graph)[graph.kind == kind]) == sorted(ends(again)[again.kind == kind])


@settings(max_examples=80)
@given(graph=graphs(1_000_000), data=st.data())
def test_a_file_cut_short_is_said_in_one_line_or_has_fewer_nodes(graph, data):
    # A stream has no end mark: cut between two nodes it is a shorter trace, which may be whole.
    files = chakra.write(graph)
    rank = data.draw(st.integers(0, len(files) - 1))
    files[rank] = files[rank][: data.draw(st.integers(0, len(files[rank]) - 1))]
    try:
        again = chakra.read(files, rings)
    except FieldError as error:
        assert str(error).startswith("trace") and "\n" not in str(error)
    else:
        assert len(again.kind) < len(graph.kind) + (graph.kind == MESSAGE).sum()


@settings(max_examples=300)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_trace_or_one_line(data):
    try:
        chakra.read([data], rings)
    except FieldError as error:
        assert "\n" not in str(error)


MISTAKES = {
    "cut within a message": ([ALL_REDUCE[:-3]] * 2, "trace.0.et: ends within a message of 72"),
    "nothing": ([b""], "trace.0.et: there is nothing in it."),
    "a node that is not there": (
        [trace(node(1, 4, [7]))], "trace.0.et: node 1: there is no node 7 to depend on.",
    ),
    "no node": ([trace()] * 2, "trace: there is no node in any of 2 files."),
    "a rank that is not there": (
        [trace(node(1, 5, comm_dst=2, comm_size=4))] * 2,
        "trace.0.et: node 1: comm_dst is '2', not 0 to 1.",
    ),
    "a message of no bytes": (
        [trace(node(1, 5, comm_dst=1, comm_size=0))] * 2,
        "trace.0.et: node 1: comm_size is '0', not 1 to 9007199254740992.",
    ),
    "longer than a run": (
        [trace(node(1, 4, duration_us=10**13))], "trace.0.et: node 1: lasts 10000000000000 us",
    ),
    "the same id twice": ([trace(node(1, 4), node(1, 4))], "trace: two nodes of a rank have"),
    "a circle": (
        [trace(node(1, 4, [2]), node(2, 4, [1]))], "trace.0.et: node 1: waits for itself",
    ),
    "no destination": (
        [trace(node(1, 5, comm_size=4))], "trace.0.et: node 1: has no comm_dst, which only its",
    ),
    "no partner": (
        [trace(node(1, 5, comm_dst=1, comm_size=4)), trace(node(9, 4))],
        "trace.0.et: node 1: rank 0 sends 1 times to 1 with tag 0, which receives 0 times.",
    ),
    "another size": (
        [trace(node(1, 5, comm_dst=1, comm_size=4)), trace(node(2, 6, comm_src=0, comm_size=5))],
        "trace.1.et: node 2: 5 bytes, but trace.0.et: node 1 sends 4.",
    ),
    "memory": ([trace(node(1, 2))], "trace.0.et: node 1: type 2 is of memory"),
    "a collective that is not known": (
        [trace(node(1, 7, comm_type=9, comm_size=4))], "trace.0.et: node 1: comm_type 9 is none of",
    ),
    "a rank that stays away": (
        [trace(node(1, 7, comm_type=0, comm_size=4)), trace(node(1, 4))],
        "trace.0.et: node 1: not all ranks of communicator '' do as many operations in it.",
    ),
    "others want something else": (
        [trace(node(1, 7, comm_type=t, comm_size=4)) for t in (0, 2)],
        "trace.0.et: node 1: other ranks of its communicator do something else",
    ),
    "bytes that do not divide": (
        [trace(node(1, 7, comm_type=0, comm_size=5))] * 2, "5 B are not 2 equal parts.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_node(mistake):
    files, message = MISTAKES[mistake]
    with pytest.raises(FieldError, match=re.escape(message)):
        chakra.read(files, rings)
