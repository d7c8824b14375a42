# SPDX-License-Identifier: GPL-2.0-only
"""Chakra traces read and written: known bytes, rings by hand, there and back, what is refused."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_times import LATENCY, PER_BYTE, ends, graphs, of_chakra

from pyorch.collective import direct, ring
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


def rings(_):
    return ring, ring.Params()


def _read(files, algorithm=rings, communicators=None, **more):
    return of_chakra(files, chakra.Missing(algorithm, communicators or {}, **more)).graph


def value(given_):
    """Return the field of an attribute that holds this: int64, a text, or a list of flags."""
    if isinstance(given_, tuple):
        return 28, encoded([(1, list(given_))])
    return (29 if isinstance(given_, str) else 9), given_


def node(number, kind, after=(), duration_us=0, start_us=0, **attributes):
    """Return a node with attributes, written here by hand."""
    fields = [(10, encoded([(1, name), value(its)], zeros=True))
              for name, its in attributes.items()]  # fmt: skip
    head = [(1, number), (3, kind), (5, list(after)), (6, start_us), (7, duration_us)]
    return encoded([*head, *fields])


def groups(text):
    """Return the node in which PyTorch has its communicators."""
    return encoded([(1, 90), (3, 1), (8, encoded([(1, f"['{text}']")]))])


def trace(*nodes):
    return framed([encoded([(1, "0.0.4")]), *nodes])


def test_known_bytes_are_one_all_reduce_of_a_mebibyte():
    # Its node has an id of 0, and attributes that are 0, which are written.
    assert len(ALL_REDUCE) == 81
    graph = _read([ALL_REDUCE] * 4, rings)
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
    graph = _read(files, rings)

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
    gathered = _read([one] * 3, rings)
    both = _read(files, rings, {"1": [0, 1], "2": [2, 3]})

    assert gathered.size_bytes.sum() == 3 * 2 * 600
    assert ends(both).max() == 2 * (LATENCY + 400 * PER_BYTE)


def test_a_ring_all_reduce_there_and_back():
    n, size = 5, 500
    build = Builder(n)
    begin = build.compute(np.arange(n)[None], 10_000_000, "forward")
    build.collective(
        ring.graph(Call("all_reduce", n, size), ring.Params()), np.arange(n)[None], begin, "DP"
    )
    graph = build.graph()
    again = _read(chakra.write(graph), rings)

    expected = 10_000_000 + 2 * (n - 1) * (LATENCY + size // n * PER_BYTE)
    assert ends(graph).max() == ends(again).max() == expected


@settings(max_examples=150)
@given(graph=graphs(1_000_000))
def test_any_graph_there_and_back_takes_the_same_time(graph):
    again = _read(chakra.write(graph), rings)
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
        again = _read(files, rings)
    except FieldError as error:
        assert str(error).startswith("trace") and "\n" not in str(error)
    else:
        assert len(again.kind) < len(graph.kind) + (graph.kind == MESSAGE).sum()


@settings(max_examples=300)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_trace_or_one_line(data):
    try:
        _read([data], rings)
    except FieldError as error:
        assert "\n" not in str(error)


#: All-reduce of 2 ranks: 2 messages after one another, of half of the bytes.
PAIR = 2 * (LATENCY + 500 * PER_BYTE)
REDUCE = {"comm_type": 0, "comm_size": 1000}


@pytest.mark.parametrize(
    "amounts, duration_ps",
    [
        ({"num_ops": 6_000_000}, 3_000_000),  # 6 M operations at 2 TFLOPS
        ({"num_ops": 1000, "tensor_size": 5_000_000}, 40_000_000),  # 5 MB at 1 Tb/s
        ({"num_ops": 1}, 1),  # half a ps
    ],
)
def test_a_computation_without_a_duration_takes_the_time_of_the_roofline(amounts, duration_ps):
    rates = chakra.Roofline(2 * 10**12, 10**12)
    graph = _read([trace(node(1, 4, **amounts), node(2, 4, [1], 7))], roofline=rates)

    assert graph.duration_ps.tolist() == [duration_ps, 7_000_000]


def test_rates_that_no_computation_needs_are_refused():
    with pytest.raises(FieldError, match="every computation has a duration already") as caught:
        _read([trace(node(1, 4, [], 7))], roofline=chakra.Roofline(1, 1))
    assert caught.value.field == "compute"


def test_launches_of_a_cpu_take_its_time_and_send_nothing():
    # As Kineto's traces have it: c10d::allreduce_ on the CPU, and the kernel behind it.
    file = trace(
        node(1, 7, [], 5, is_cpu_op=1, tid=1), node(2, 7, [1], 99, is_cpu_op=0, tid=14, **REDUCE)
    )
    graph = _read([file] * 2)

    assert (graph.kind == MESSAGE).sum() == 4 and ends(graph).max() == 5_000_000 + PAIR


def test_an_operation_of_fewer_bytes_than_ranks_grows_and_that_is_said():
    found = of_chakra([trace(node(1, 7, comm_type=0, comm_size=1))] * 4, chakra.Missing(rings))
    assert "1 operations are made larger, by at most 3 B" in found.remarks[0]
    assert set(found.graph.size_bytes[found.graph.size_bytes > 0].tolist()) == {1}


def test_a_barrier_is_passed_when_all_have_come():
    files = [trace(node(1, 4, [], work), node(2, 7, [1], comm_type=9), node(3, 4, [2], 1))
             for work in (10, 50)]  # fmt: skip
    graph = _read(files)

    assert ends(graph).max() == 51_000_000 + 2 * (LATENCY + PER_BYTE)


def test_dimensions_are_counted_through_the_first_one_first():
    # 6 ranks of [2, 3]: along the first 0-1, 2-3, 4-5; along the second 0-2-4 and 1-3-5.
    def pairs(flags):
        files = [trace(node(1, 7, comm_type=6, comm_size=600, involved_dim=flags))] * 6
        graph = _read(files, lambda _: (direct, direct.Params()), dimensions=(2, 3))
        sent = graph.kind == MESSAGE
        return set(zip(graph.device[sent].tolist(), graph.peer[sent].tolist(), strict=True))

    assert pairs((1, 0)) == {(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4)}
    assert pairs((0, 1, 1)) == {
        (a, b) for a in range(6) for b in range(6) if a != b and a % 2 == b % 2
    }


@pytest.mark.parametrize("flags", [(1,), (0,)])
def test_no_dimension_is_left_unsaid(flags):
    with pytest.raises(FieldError, match=r"\[3, 2\]: trace.0.et: node 1 has involved_dim of 1 dim"):
        _read([trace(node(1, 7, involved_dim=flags, **REDUCE))] * 6, dimensions=(3, 2))


@pytest.mark.parametrize("dimensions", [(2, 2), (3, 3)])
def test_dimensions_have_as_many_ranks_as_the_trace(dimensions):
    with pytest.raises(FieldError, match="ranks; the trace has 6"):
        _read([trace(node(1, 7, involved_dim=(1, 0), **REDUCE))] * 6, dimensions=dimensions)


def test_communicators_of_pytorch_stand_in_the_trace():
    lists = '[{"pg_name": "0", "ranks": []}, {"pg_name": "3", "ranks": [0, 2]}, ' + (
        '{"pg_name": "4", "ranks": [1, 3]}]'
    )
    files = [trace(groups(lists), node(1, 7, pg_name=name, **REDUCE)) for name in "3434"]
    sent = _read(files)
    sent = {(a, b) for a, b, kind in zip(sent.device.tolist(), sent.peer.tolist(), sent.kind,
                                         strict=True) if kind == MESSAGE}  # fmt: skip
    assert sent == {(0, 2), (2, 0), (1, 3), (3, 1)}


def test_kernels_of_a_stream_follow_each_other_and_streams_do_not_wait():
    # The kernels depend on their launch alone. An all-reduce on the stream of the kernels comes
    # after the first and before the second; on a stream of its own it begins at once.
    def ends_with(stream):
        file = trace(
            node(1, 4, [], 1, is_cpu_op=1),
            node(2, 4, [1], 10, stream=7),
            node(3, 7, [1], stream=stream, **REDUCE),
            node(4, 4, [1], 10, stream=7),
        )
        return ends(_read([file] * 2)).max()

    assert ends_with(7) == 21_000_000 + PAIR
    assert ends_with(20) == max(21_000_000, 1_000_000 + PAIR)


def test_streams_are_in_the_order_of_starts_where_ids_are_not():
    # Ids say 50 us, then the all-reduce; starts say that it came first.
    file = trace(
        node(1, 4, [], 50, start_us=20, stream=7), node(2, 7, start_us=10, stream=7, **REDUCE)
    )
    graph = _read([file] * 2)

    assert ends(graph)[graph.kind == COMPUTE].tolist() == [PAIR + 50_000_000] * 2


def test_a_caller_that_the_converter_has_left_out_is_said():
    lost = encoded([(1, 2), (3, 4), (4, [1, 3]), (7, 5)])
    found = of_chakra([trace(node(1, 4, [], 7), lost)], chakra.Missing(rings))

    assert ends(found.graph).tolist() == [7_000_000, 12_000_000]
    assert found.remarks == ("trace.*.et: 1 control dependencies are on nodes that are not there.",)


def test_callers_that_contradict_data_are_left_out_and_said():
    # A converter of 2024 leaves old numbers in control dependencies.
    def named(parents):
        two = [encoded([(1, 1), (3, 4), (4, parents), (7, 5)]), node(2, 4, [1], 5)]
        return of_chakra([trace(*two)], chakra.Missing(rings)).remarks

    assert named([]) == ()
    assert named([2]) == (
        "trace.*.et: 1 control dependencies are left out: they contradict those of data.",
    )


@pytest.mark.parametrize("kinds", [(0, 7), (0, 0)])
def test_operations_meet_in_the_order_that_dependencies_allow(kinds):
    # Each rank does the same two, the second one with the smaller id on rank 1.
    first, second = ({"comm_type": kind, "comm_size": 1000} for kind in kinds)
    files = [trace(node(a, 7, **first), node(b, 7, [a], **second)) for a, b in ((1, 2), (2, 1))]
    same_ids = [trace(node(1, 7, **first), node(2, 7, [1], **second))] * 2

    found, wanted = (_read(its, rings) for its in (files, same_ids))
    check(found)
    assert ends(found).max() == ends(wanted).max()


def test_an_operation_that_waits_for_another_communicator_keeps_its_place():
    # On rank 0 the first two go behind a node with a larger id, and still meet those of rank 1.
    one, two = {"comm_type": 0, "comm_size": 1000}, {"comm_type": 2, "comm_size": 500}
    files = [
        trace(node(1, 7, [4], **one), node(2, 7, [4], **two), node(3, 7, **REDUCE), node(4, 4)),
        trace(node(1, 7, **one), node(2, 7, **two), node(3, 7, **REDUCE)),
    ]
    check(_read(files, rings))


def test_what_is_not_used_is_said_once():
    file = trace(
        node(1, 4, [], 5, num_ops=9, fw_parent=0),
        node(2, 4, [1]),
        node(3, 7, [2], 77, comm_type=0, comm_size=5, comm_priority=3, involved_dim=(1, 1)),
        groups('[{"pg_name": "5", "ranks": [1]}]'),
        node(4, 7, [3], pg_name="5", **REDUCE),
        node(5, 0),
    )
    other = trace(node(1, 4, [], 5), node(3, 7, comm_type=0, comm_size=5),
                  groups('[{"pg_name": "5", "ranks": [1]}]'))  # fmt: skip
    found = of_chakra([other, file], chakra.Missing(rings), "step")

    assert found.remarks == (
        "step.*.et: attributes comm_priority, fw_parent, num_ops are not used;"
        " 1 computations have no duration and take no time;"
        " 1 durations of communications are not used: the network decides;"
        " 1 nodes are of type 0, invalid, and take no time;"
        " 1 operations of one rank alone send nothing;"
        " 1 operations are made larger, by at most 1 B, so that ranks have equal parts.",
    )
    assert found.graph.size_bytes.sum() == 4 * 3


BOTH_RANKS = '[{"pg_name": "a", "ranks": [0, 1]}, {"pg_name": "b", "ranks": [0, 1]}]'

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
    "the same id twice": (
        [trace(node(1, 4)), trace(node(2, 4), node(1, 4), node(2, 4))],
        "trace.1.et: node 2 stands twice. Give it its own id.",
    ),
    "a negative time": (
        [trace(node(1, 4, duration_us=2**64 - 5))], "trace.0.et: node 1: lasts -5 us; write 0 to",
    ),
    "two communicators, one rank the other way round": (
        [
            trace(groups(BOTH_RANKS), node(5, 7, pg_name=first, comm_type=0, comm_size=8),
                  node(7, 7, [5], pg_name=second, comm_type=0, comm_size=8))
            for first, second in ("ab", "ba")
        ],
        "trace.0.et: node 7: waits for itself through node 7 of rank 1, so it never starts.",
    ),
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
        [trace(node(1, 7, comm_type=4, comm_size=4))], "trace.0.et: node 1: comm_type 4 is none of",
    ),
    "a rank that stays away": (
        [trace(node(1, 7, comm_type=0, comm_size=4)), trace(node(1, 4))],
        "trace.0.et: node 1: not all ranks of communicator '' do as many operations in it.",
    ),
    "others want something else": (
        [trace(node(1, 7, comm_type=t, comm_size=4)) for t in (0, 2)],
        "trace.0.et: node 1: other ranks of its communicator do something else",
    ),
    "a type that is not known": (
        [trace(node(1, 8))], "trace.0.et: node 1: there is no type 8; types are 0 to 7.",
    ),
    "operations and no rates": (
        [trace(node(1, 4, num_ops=10, tensor_size=20))],
        "trace.0.et: node 1: has 10 operations on 20 B and no duration. Write compute: {peak:",
    ),
    "a communicator without ranks": (
        [trace(node(1, 7, comm_type=0, comm_size=4, pg_name="0.0"))] * 2,
        "trace.0.et: node 1: communicator '0.0' is in no file",
    ),
    "a part of the dimensions": (
        [trace(node(1, 7, comm_type=0, comm_size=4, involved_dim=(1, 0)))] * 4,
        "trace.0.et: node 1: involved_dim is [True, False]. Write how many ranks each dimension",
    ),
    "a stream against its dependencies": (
        [trace(node(1, 4, [2], 5, 1, stream=7), node(2, 4, [], 5, 2, stream=7))],
        "trace.0.et: node 1: waits for itself in a circle, so it never starts. The order of",
    ),
    "communicators that are no list": (
        [trace(groups('[{"pg_name"'))], "trace.0.et: node 90 names communicators, but not as a",
    ),
    "communicators of ranks that are not there": (
        [trace(groups('[{"pg_name": "1", "ranks": [0, 1]}]'))], "node 90 names communicators, but",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_node(mistake):
    files, message = MISTAKES[mistake]
    with pytest.raises(FieldError, match=re.escape(message)):
        _read(files, rings)
