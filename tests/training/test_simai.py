# SPDX-License-Identifier: GPL-2.0-only
"""Workloads of SimAI: steps by hand, groups by their definition, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from task_times import LATENCY, PER_BYTE, ends, of_chakra, of_goal

from pyorch.collective import direct, double_tree, ring
from pyorch.collective._graph import Call, Counts, part_bytes
from pyorch.spec.fields import FieldError
from pyorch.training import COMPUTE, MESSAGE, chakra, check, foreign, goal, simai

HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {tp} ep: {ep} pp: {pp} vpp: 1"
HEAD += " ga: 1 all_gpus: {n} checkpoints: 0 checkpoint_initiates: 0"
NS = 1000
US = 10**6


def algorithm(operation):
    module = direct if operation == "all_to_all" else ring
    return module, module.Params()


def text(*rows, tp=2, ep=1, pp=1, n=4):
    return "\n".join([HEAD.format(tp=tp, ep=ep, pp=pp, n=n), str(len(rows)), *rows, ""])


def row(forward="0 NONE 0", input_gradient="0 NONE 0", weight_gradient="0 NONE 0", update=0):
    return f"layer -1 {forward} {input_gradient} {weight_gradient} {update}"


def read(*rows, gpus=None, **sizes):
    graph = simai.read(text(*rows, **sizes), algorithm, gpus).graph
    check(graph)
    return graph


def all_reduce(ranks, size):
    return 2 * (ranks - 1) * (LATENCY + size // ranks * PER_BYTE)


def test_ranks_compute_and_wait_forward_and_backward_and_not_for_weights():
    # Forward 10, all-reduce, 7, then 20. Backward 30, all-reduce, 7, 40 of layer two, whose
    # reduction of weights goes on beside 50 and 60 of layer one.
    graph = read(
        row("10000 NONE 0", "50000 NONE 0", "60000 NONE 0"),
        row("20000 ALLREDUCE 8000", "30000 ALLREDUCE 4000", "40000 ALLREDUCE 2000", 7000),
    )
    main = (10 + 20 + 7 + 30 + 7 + 40 + 50 + 60) * US + all_reduce(2, 8000) + all_reduce(2, 4000)
    beside = main - 110 * US + all_reduce(2, 2000) + 7 * US

    last = ends(graph)[graph.kind == COMPUTE].max()
    assert last == max(main, beside)
    assert (
        graph.duration_ps[graph.device == 0].sum() == (10 + 20 + 7 + 30 + 7 + 40 + 50 + 60 + 7) * US
    )


def test_reductions_of_weights_follow_each_other_in_their_group():
    graph = read(
        row(weight_gradient="1000 ALLREDUCE 2000000"), row(weight_gradient="1000 ALLREDUCE 1000000")
    )
    expected = 1 * US + all_reduce(2, 1_000_000) + all_reduce(2, 2_000_000)
    assert ends(graph).max() == expected


def by_definition(kind, tp, ep, n):
    """Return groups from places: rank = tensor + tp x (expert + ep x replica)."""
    place = [(rank % tp, rank // tp % ep, rank // (tp * ep)) for rank in range(n)]
    same = {"TP": (1, 2), "EP": (0, 2), "DP_EP": (0, 1), "DP": (0,)}[kind]
    found = {}
    for rank, its in enumerate(place):
        found.setdefault(tuple(its[axis] for axis in same), []).append(rank)
    return sorted(found.values())


@given(tp=st.integers(1, 4), ep=st.integers(1, 4), replicas=st.integers(1, 4))
def test_groups_are_those_of_places(tp, ep, replicas):
    n = tp * ep * replicas
    for kind in simai.GROUPS:
        got = simai.groups(kind, {"TP": tp, "EP": ep}, n).tolist()
        assert sorted(got) == by_definition(kind, tp, ep, n)


@pytest.mark.parametrize(
    "word, column, pairs",
    [
        ("ALLTOALL_EP", 0, {(0, 2), (1, 3), (4, 6), (5, 7)}),
        ("ALLTOALL", 1, {(0, 1), (2, 3), (4, 5), (6, 7)}),
        ("ALLTOALL_DP_EP", 2, {(0, 4), (1, 5), (2, 6), (3, 7)}),
    ],
)
def test_a_suffix_says_which_ranks_exchange(word, column, pairs):
    passes = ["0 NONE 0"] * 3
    passes[column] = f"0 {word} 8192"
    graph = read(row(*passes), tp=2, ep=2, n=8)
    sent = graph.kind == MESSAGE

    got = set(zip(graph.device[sent].tolist(), graph.peer[sent].tolist(), strict=True))
    assert got == pairs | {(b, a) for a, b in pairs}
    assert set(graph.size_bytes[sent].tolist()) == {4096}


def test_small_forward_operations_are_4096_bytes_and_parts_are_equal():
    found = simai.read(text(row("0 ALLREDUCE 8", "0 ALLGATHER 3")), algorithm)
    sent = found.graph.size_bytes[found.graph.kind == MESSAGE]

    assert sorted(set(sent.tolist())) == [2, 2048]
    assert found.remarks == (
        "workload: 1 operations are made larger, by at most 1 B, so that ranks have equal parts.",
    )


def test_an_all_reduce_by_two_trees_has_two_equal_parts_and_no_more():
    # 4099 B among three: each tree has half of 4100 B, which two ranks send up and get down again.
    def trees(operation):
        return double_tree, double_tree.Params()

    found = simai.read(text(row("0 ALLREDUCE 4099"), tp=3, n=3), trees)
    sent = found.graph.size_bytes[found.graph.kind == MESSAGE]

    assert sent.tolist() == [2050] * 2 * 2 * 2
    assert "1 operations are made larger, by at most 1 B" in found.remarks[0]


@given(
    data_bytes=st.integers(1, 500), ranks=st.integers(2, 9), asked=st.lists(st.integers(1, 12),
    max_size=3),
)  # fmt: skip
def test_an_operation_is_as_little_larger_as_its_algorithm_needs(data_bytes, ranks, asked):
    # Oracle: the first of all larger sizes that every number of parts divides, by trying them.
    least = next(n for n in itertools.count(data_bytes) if all(n % parts == 0 for parts in asked))

    class Picky:
        OPERATIONS = ("all_reduce",)

        @staticmethod
        def check(call, params):
            for parts in asked:
                part_bytes(call, parts)

        @staticmethod
        def graph(call, params):
            return call.data_bytes

        @staticmethod
        def counts(call, params):
            return Counts(1, 0, 0, ())

    padded = foreign.Padded(lambda operation: (Picky, None), "x.txt", "file")
    assert padded(Call("all_reduce", ranks, data_bytes), 1) == least
    assert len(list(padded.remarks())) == (least > data_bytes)


def test_micro_tests_are_operations_of_all_ranks_one_after_the_other():
    rows = [row(weight_gradient=f"1 ALLREDUCE {size}", update=1) for size in (4000, 8000)]
    graph = simai.read("\n".join(["MICRO", "2", *rows]), algorithm, 4).graph

    assert ends(graph).max() == 4 * NS + all_reduce(4, 4000) + all_reduce(4, 8000)


def test_a_pipeline_is_one_stage_and_says_so():
    found = simai.read(text(row("1 ALLREDUCE 8192"), pp=3, n=12), algorithm)

    assert found.graph.devices == 4
    assert "4 ranks are one of 3 pipeline stages" in found.remarks[0]


def test_what_simai_passes_over_is_said():
    found = simai.read(text(row("5 BROADCAST 100", "0 ALLREDUCE 4")), algorithm)
    assert "1 BROADCASTs are left out, as SimAI does" in found.remarks[0]


def test_as_other_formats_it_takes_the_same_time():
    graph = read(
        row("10000 ALLREDUCE 8192", "20000 NONE 0", "30000 REDUCESCATTER 8000", 5000),
        row("10000 NONE 0", "20000 ALLREDUCE 800", "30000 ALLGATHER 4000", 5000),
    )
    last = ends(graph).max()
    assert ends(of_goal(goal.write(graph), "x.goal")).max() == last
    missing = chakra.Missing(algorithm)
    assert ends(of_chakra(chakra.write(graph), missing).graph).max() == last


def test_what_a_micro_test_leaves_out_is_said():
    rows = [row("900 ALLREDUCE 8", "0 ALLGATHER 8", "1 ALLREDUCE 4000"), row(update=5)]
    found = simai.read("\n".join(["MICRO", "2", *rows]), algorithm, 4)

    assert found.remarks == (
        "workload: 2 forward passes and input gradients are left out: MICRO has weight gradients"
        " alone; 1 updates are left out: their rows have no operation.",
    )


def test_messages_are_counted_before_they_are_made():
    # 16384 x 16383 of an all-to-all: a column of them has 2 GiB.
    with pytest.raises(FieldError, match="268,419,072 with this all_to_all of 16384 ranks; at"):
        one = row(weight_gradient="0 ALLTOALL 268435456")
        simai.read("\n".join(["MICRO", "1", one]), algorithm, 16384)


def test_messages_of_all_operations_and_groups_are_counted_together(monkeypatch):
    # A ring all-reduce of 4 ranks has 4 x 6 messages, in two groups 48.
    monkeypatch.setattr(foreign, "MOST_FLOWS", 100)
    one = row("0 ALLREDUCE 8192")

    assert (read(one, one, tp=4, n=8).kind == MESSAGE).sum() == 96
    with pytest.raises(FieldError, match="144 with this all_reduce of 4 ranks; at most 100."):
        read(one, one, one, tp=4, n=8)


def test_computations_are_counted_before_they_are_made():
    ones = [row(weight_gradient="1 NONE 0")] * 30
    with pytest.raises(FieldError, match="30 computations and operations of 1,000,000 ranks; at"):
        simai.read("\n".join(["MICRO", "30", *ones]), algorithm, 10**6)


GOOD = text(row("5 ALLREDUCE 4096"))
MISTAKES = {
    "nothing": ("", "w.txt: has no two lines"),
    "another policy": (GOOD.replace("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "DATA"), "w.txt:1: policy"),
    "rows that are not there": (GOOD.replace("\n1\n", "\n2\n"), "w.txt:2: says 2 rows, but there"),
    "a word too few": (GOOD.replace("4096", ""), "w.txt:3: 11 words; a row has 12."),
    "a negative time": (GOOD.replace("-1 5", "-1 -5"), "w.txt:3: duration '-5' is no whole number"),
    "an endless time": (GOOD.replace("-1 5", "-1 " + "9" * 99), "w.txt:3: duration '999"),
    "an operation": (GOOD.replace("ALLREDUCE", "ALLREDUCEALLTOALL"), "w.txt:3: 'ALLREDUCEALL"),
    "a group": (GOOD.replace("ALLREDUCE", "ALLREDUCE_PP"), "w.txt:3: 'ALLREDUCE_PP' is none of"),
    "a key": (GOOD.replace("vpp:", "vp:"), "w.txt:1: 'vp' is none of"),
    "checkpoints": (GOOD.replace("checkpoints: 0", "checkpoints: 1"), "w.txt:1: checkpoints 1:"),
    "no size": (GOOD.replace("initiates: 0", "initiates:"), "w.txt:1: 'checkpoint_initiates:' has"),
    "groups of none": (GOOD.replace("ep: 1", "ep: 0"), "w.txt:1: ep is 0; write 1 or more."),
    "half a group": (GOOD.replace("all_gpus: 4", "all_gpus: 3"), "w.txt: 3 ranks are not whole"),
    "a part of a stage": (GOOD.replace("pp: 1", "pp: 3"), "4 GPUs are not 3 equal pipeline stages"),
    "words behind the rows": (GOOD.replace("\n1\n", "\n1 2\n"), "w.txt:2: '2' stands behind the"),
    "a key twice": (GOOD.replace("vpp: 1", "ep: 2"), "w.txt:1: 'ep' stands twice."),
    "no ranks": (GOOD.replace("all_gpus: 4", "pp_comm: 1"), "does not say how many GPUs there"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_line(mistake):
    given_text, message = MISTAKES[mistake]
    with pytest.raises(FieldError) as caught:
        simai.read(given_text, algorithm, where="w.txt")
    assert message in str(caught.value) and "\n" not in str(caught.value)


@settings(max_examples=200)
@given(cut=st.integers(0, len(GOOD)), more=st.text(max_size=80))
def test_any_text_is_a_workload_or_one_line(cut, more):
    given_text = GOOD[:cut] + more
    try:
        graph = simai.read(given_text, algorithm).graph
    except FieldError as error:
        assert "\n" not in str(error)
    else:
        assert graph.devices >= 2 and (np.diff(graph.duration_ps) <= 10**18).all()
