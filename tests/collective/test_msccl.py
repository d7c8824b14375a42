# SPDX-License-Identifier: GPL-2.0-only
"""Programs of MSCCL: rings and pairs against our own graphs, and what is refused."""

import numpy as np
import pytest
from carried import known
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyorch.collective import _chunks, direct, msccl, ring
from pyorch.collective._graph import Call
from pyorch.errors import SpecError
from pyorch.spec.fields import FieldError

SIZE = 4800


def step(number, kind, source=("i", 0), target=("i", 0), count=1, after=(-1, -1)):
    return (
        f'<step s="{number}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}"'
        f' dstbuf="{target[0]}" dstoff="{target[1]}" cnt="{count}" depid="{after[0]}"'
        f' deps="{after[1]}" hasdep="0"/>'
    )


def algo(coll, chunks, gpus, in_place=1):
    """Return a file; each GPU is a list of thread blocks: send, receive, steps."""
    parts = [f'<algo name="x" nchunksperloop="{chunks}" ngpus="{len(gpus)}" coll="{coll}"'
             f' inplace="{in_place}">']  # fmt: skip
    output, scratch = 0 if in_place else chunks, min(len(gpus) * chunks, 2**16)
    for rank, blocks in enumerate(gpus):
        parts.append(f'<gpu id="{rank}" i_chunks="{chunks}" o_chunks="{output}"'
                     f' s_chunks="{scratch}">')  # fmt: skip
        for number, (send, receive, steps) in enumerate(blocks):
            parts.append(f'<tb id="{number}" send="{send}" recv="{receive}" chan="0">')
            parts += [*steps, "</tb>"]
        parts.append("</gpu>")
    return "\n".join([*parts, "</algo>"])


def ring_of(n):
    """Return a ring all-reduce as MSCCL's compiler writes it, one thread block for each rank."""
    gpus = []
    for rank in range(n):
        chunks = [(rank - i) % n for i in range(2 * n)]
        kinds = ["s", *["rrs"] * (n - 2), "rrcs", *["rcs"] * (n - 2), "r"]
        steps = [step(i, kind, ("i", chunks[i]), ("i", chunks[i])) for i, kind in enumerate(kinds)]
        gpus.append([((rank + 1) % n, (rank - 1) % n, steps)])
    return algo("allreduce", n, gpus)


def pairs_of(n):
    """Return an all-to-all: a thread block for each peer sends and receives; a copy of its own."""
    gpus = []
    for rank in range(n):
        blocks = [(-1, -1, [step(0, "cpy", ("i", rank), ("o", rank))])]
        for peer in sorted({*range(n)} - {rank}):
            steps = [step(0, "s", ("i", peer), ("o", rank)), step(1, "r", ("i", 0), ("o", peer))]
            blocks.append((peer, peer, steps))
        gpus.append(blocks)
    return algo("alltoall", n, gpus, in_place=0)


@pytest.fixture
def load(tmp_path):
    def params(text):
        (tmp_path / "a.xml").write_text(text)
        return msccl.Params.model_validate({"file": "a.xml"}, context={"folder": tmp_path})

    return params


def rows(graph):
    """Return what each message is and waits for, in an order that does not depend on rows."""
    named = [(int(a), int(b), int(s)) for a, b, s in zip(graph.src, graph.dst, graph.step,
                                                         strict=True)]  # fmt: skip
    came = [(named[f], named[a]) for f, a, at in zip(graph.flow, graph.after, graph.at_sender,
                                                     strict=True) if not at]  # fmt: skip
    return sorted(zip(named, graph.bytes.tolist(), graph.reduced.tolist(), strict=True)), came


@pytest.mark.parametrize("n", [3, 4, 5])
def test_a_ring_is_our_ring(load, n):
    params, call = load(ring_of(n)), Call("all_reduce", n, n * 100)
    msccl.check(call, params)
    ours, theirs = ring.graph(call, ring.Params()), msccl.graph(call, params)

    assert rows(theirs)[0] == rows(ours)[0]
    assert set(rows(ours)[1]) == set(rows(theirs)[1])
    assert msccl.counts(call, params).port_bytes == ring.counts(call, ring.Params()).port_bytes
    counts = msccl.counts(call, params)
    assert (counts.messages, counts.sent_bytes, counts.steps) == (
        2 * n * (n - 1), 2 * n * (n - 1) * 100, 2 * (n - 1)
    )  # fmt: skip
    assert sum(size for _, size in counts.reductions) == (n - 1) * 100


@pytest.mark.parametrize(
    "text, operation", [(ring_of(4), "all_reduce"), (pairs_of(4), "all_to_all")]
)
def test_it_keeps_the_contract_of_other_algorithms(load, text, operation):
    graph = msccl.graph(Call(operation, 4, SIZE), load(text))
    assert (graph.after < graph.flow).all()
    learns = np.where(graph.at_sender == 1, graph.src[graph.after], graph.dst[graph.after])
    assert (learns == graph.src[graph.flow]).all()
    heard = {rank: {rank} for rank in range(4)}
    for row, carried in enumerate(known(graph)):
        heard[int(graph.dst[row])] |= carried
    assert all(heard[rank] == {0, 1, 2, 3} for rank in range(4))


def test_pairs_send_at_once_as_ours_do(load):
    call = Call("all_to_all", 4, SIZE)
    ours, theirs = direct.graph(call, direct.Params()), msccl.graph(call, load(pairs_of(4)))
    ends = [sorted(zip(g.src.tolist(), g.dst.tolist(), g.bytes.tolist(), strict=True))
            for g in (ours, theirs)]  # fmt: skip
    assert ends[0] == ends[1] and len(theirs.flow) == 0


def test_a_second_block_waits_and_a_local_sum_counts(load):
    # Rank 0 takes both vectors into scratch, adds them one after the other, and sends the sum.
    gather = [[step(0, "r", ("i", 0), ("s", peer - 1))] for peer in (1, 2)]
    add = [step(i, "re", ("s", i), ("i", 0), after=(i, 0)) for i in (0, 1)]
    blocks = [(-1, peer, steps) for peer, steps in zip((1, 2), gather, strict=True)]
    blocks += [(1, -1, [*add, step(2, "s")]), (2, -1, [step(0, "s", after=(2, 1))])]
    others = [[(0, 0, [step(0, "s"), step(1, "r")])]] * 2
    graph = msccl.graph(Call("all_reduce", 3, 90), load(algo("allreduce", 1, [blocks, *others])))

    down = np.flatnonzero(graph.src == 0)
    assert graph.reduced.tolist() == (graph.dst == 0).tolist()
    for row in down:
        waits = graph.after[graph.flow == row]
        assert sorted(graph.src[waits].tolist()) == [1, 2]


@pytest.mark.parametrize(
    "local",
    [
        [("re", ("s", 0), ("i", 0))],
        [("cpy", ("s", 0), ("s", 1)), ("re", ("s", 1), ("i", 0))],
        [("re", ("i", 0), ("s", 0)), ("cpy", ("s", 0), ("i", 0))],
    ],
)
def test_what_came_is_reduced_wherever_it_is_added(load, local):
    steps = [step(0, "s"), step(1, "r", target=("s", 0))]
    steps += [step(i, *one) for i, one in enumerate(local, 2)]
    graph = msccl.graph(
        Call("all_reduce", 2, 8), load(algo("allreduce", 1, [[(1, 1, steps)], [(0, 0, steps)]]))
    )

    assert graph.reduced.tolist() == [True, True]


def test_a_sum_of_two_that_came_is_one_reduction_and_its_sum_another(load):
    # Rank 0 adds what came from 1 to what came from 2, and then both to its own.
    blocks = [(-1, 1, [step(0, "r", target=("s", 0))]), (2, 2, [
        step(0, "r", target=("s", 1)), step(1, "re", ("s", 0), ("s", 1), after=(0, 0)),
        step(2, "re", ("s", 1)), step(3, "s"),
    ]), (1, -1, [step(0, "s", after=(1, 2))])]  # fmt: skip
    others = [[(0, 0, [step(0, "s"), step(1, "r")])]] * 2
    graph = msccl.graph(Call("all_reduce", 3, 90), load(algo("allreduce", 1, [blocks, *others])))

    assert graph.reduced.tolist() == (graph.dst == 0).tolist()


SIZES = 'i_chunks="1" o_chunks="0" s_chunks="2"'


def a_result_after(n):
    """Return an all-reduce of two, whose rank 1 has waited for `n` other messages."""
    exchange = [step(0, "s"), step(1, "r", target=("s", 0)), step(2, "re", ("s", 0), ("i", 0))]
    one = f'<tb id="{n}" send="{{0}}" recv="{{0}}" chan="{n}">' + "".join(exchange) + "</tb>"
    sends = [f'<tb id="{i}" send="1" recv="-1" chan="{i}">{step(0, "s")}</tb>' for i in range(n)]
    takes = [
        f'<tb id="{i}" send="-1" recv="0" chan="{i}">{step(0, "r", target=("s", 1))}</tb>'
        for i in range(n)
    ]
    waits = f'<tb id="{n + 1}" send="-1" recv="-1" chan="0">' + "".join(
        step(i, "nop", after=(i, 0)) for i in range(n)
    )
    gpus = [[*sends, one.format(1)], [*takes, one.format(0), waits + "</tb>"]]
    text = "".join(f'<gpu id="{i}" {SIZES}>{"".join(tbs)}</gpu>' for i, tbs in enumerate(gpus))
    return f'<algo nchunksperloop="1" ngpus="2" coll="allreduce" inplace="1">{text}</algo>'


GOOD = ring_of(3)
MISTAKES = {
    "no xml": ("<algo", "is no XML ("),
    "another root": ("<topology/>", "begins with 'topology', not with algo."),
    "an entity": ('<!DOCTYPE a [<!ENTITY b "c">]>' + GOOD, "declares a document type or entities."),
    "an operation": (GOOD.replace("allreduce", "scan"), "coll: 'scan' is none of allreduce"),
    "a rank that is not there": (GOOD.replace('send="1"', 'send="7"'), "send '7' is no whole numb"),
    "no peer": (GOOD.replace('send="1"', 'send="-1"'), "gpu 0, tb 0, step 0: its thread block has"),
    "itself": (GOOD.replace('send="1"', 'send="0"'), "gpu 0, tb 0: a rank does not send to itself"),
    "a type": (GOOD.replace('"rrs"', '"rxs"'), "step 1: type 'rxs' is none of nop"),
    "a buffer": (GOOD.replace('srcbuf="i"', 'srcbuf="q"'), "srcbuf 'q' is none of i, o, s."),
    "a negative chunk": (GOOD.replace('srcoff="1"', 'srcoff="-3"'), "srcoff '-3' is no whole"),
    "no chunks": (GOOD.replace('nchunksperloop="3"', 'nchunksperloop="0"'), "nchunksperloop '0'"),
    "a rank less": (GOOD.replace('ngpus="3"', 'ngpus="4"'), "ngpus is 4, but there are 3 gpu."),
    "a receive too many": (
        GOOD.replace("</tb>", step(5, "r") + "</tb>", 1), "step 5: waits for what never comes",
    ),
    "a send too many": (
        GOOD.replace("</tb>", step(5, "s") + "</tb>", 1), "gpu 0 sends 5 times to 1 over channel 0",
    ),
    "a step that is not there": (
        GOOD.replace('depid="-1" deps="-1"', 'depid="5" deps="0"', 1), "waits for what never comes",
    ),
    "a result that is not summed": (GOOD.replace('"rrs"', '"rcs"'), "gpu "),
    "data that are added twice": (
        algo("allreduce", 1, [[(1, 1, [step(0, "s"), step(1, "rrcs"), step(2, "rrc")])]] * 1
             + [[(0, 0, [step(0, "s"), step(1, "rrcs"), step(2, "rrc")])]]),
        "adds the data of gpu",
    ),
    "chunks that do not belong together": (
        GOOD.replace('srcoff="2" dstbuf="i" dstoff="2"', 'srcoff="1" dstbuf="i" dstoff="1"', 1),
        "adds chunks that do not belong together",
    ),
    "chunks of many ranks": (
        '<algo nchunksperloop="65536" ngpus="64" coll="allreduce">'
        + "".join(f'<gpu id="{rank}"/>' for rank in range(64)) + "</algo>",
        "4,194,304 chunks of all ranks; at most 1,000,000.",
    ),
    "steps of many chunks": (
        algo("allreduce", 2**16, [[(1, 1, [step(i, "s", count=2**16) for i in range(16)])], []]),
        "1,048,576 chunks in all steps; at most 1,000,000.",
    ),
    "many messages": (
        algo("allreduce", 1, [[(1, 1, [step(i, "s") for i in range(2**16 + 1)])], []]),
        "65,537 messages; at most 65,536.",
    ),
    "two senders over one channel": (
        algo("allreduce", 1, [[(1, 1, [step(0, "s")]), (1, -1, [step(0, "s")])], []]),
        "gpu 0, tb 1: tb 0 sends to 1 over channel 0, too. Give each its own channel.",
    ),
    "two receivers over one channel": (
        algo("allreduce", 1, [[(1, 1, [step(0, "r")]), (-1, 1, [step(0, "r")])], []]),
        "gpu 0, tb 1: tb 0 receives from 1 over channel 0, too.",
    ),
    "another count": (GOOD.replace('cnt="1"', 'cnt="2"', 1), "1 chunks, but 2 are sent"),
    "what is not there": (
        algo("allreduce", 1, [[(1, 1, [step(0, "s", ("s", 1))])], [(0, 0, [step(0, "r")])]]),
        "there is nothing yet in s 1",
    ),
    "a place beyond its buffer": (
        algo("allreduce", 1, [[(1, 1, [step(0, "r", target=("s", 2))])], []]),
        "step 0: dstoff 2 and cnt 1 reach beyond the 2 chunks of buffer s.",
    ),
    "no size of a buffer": (GOOD.replace('s_chunks="9"', "", 1), "gpu 0: s_chunks 'None' is no"),
    "no yes or no": (GOOD.replace('inplace="1"', 'inplace="yes"'), "inplace 'yes' is neither 0"),
    "a step twice": (GOOD.replace('s="1"', 's="0"', 1), "gpu 0, tb 0: step 0 stands twice."),
    "no step of this number": (GOOD.replace('s="4"', 's="5"', 1), "s '5' is no whole number, 0 to"),
    "unequal parts": (algo("alltoall", 1, [[], []], in_place=0), "1 chunks are not equal parts"),
}  # fmt: skip


def gather_of(n, waits):
    """Return an all-gather over a ring: one thread block receives, one sends on what has come."""
    gpus = []
    for rank in range(n):
        own = [step(0, "s", target=("o", rank)), *(
            step(i, "s", ("o", (rank - i) % n), after=(0, i - 1) if rank in waits else (-1, -1))
            for i in range(1, n - 1)
        )]  # fmt: skip
        came = [step(i, "r", target=("o", (rank - 1 - i) % n)) for i in range(n - 1)]
        gpus.append([(-1, (rank - 1) % n, came), ((rank + 1) % n, -1, own),
                     (-1, -1, [step(0, "cpy", target=("o", rank))])])  # fmt: skip
    return algo("allgather", n, gpus, in_place=0)


@pytest.mark.parametrize("n", [3, 4])
def test_a_step_that_does_not_wait_for_what_it_reads_is_refused(load, n):
    # Whichever rank it is: a run would send what has not come.
    ranks = set(range(n))
    msccl.check(Call("all_gather", n, 3 * SIZE), load(gather_of(n, ranks)))
    for rank in ranks:
        with pytest.raises(FieldError, match="nothing yet in|but does not wait for a message from"):
            msccl.check(Call("all_gather", n, 3 * SIZE), load(gather_of(n, ranks - {rank})))


def test_steps_follow_each_other_by_their_numbers(load):
    # In the file the last step of rank 0 comes first.
    steps, other = [step(0, "s"), step(1, "r")], [(0, 0, [step(0, "rrcs")])]
    found = [rows(msccl.graph(Call("all_reduce", 2, 2), load(algo("allreduce", 1, gpus))))
             for gpus in ([[(1, 1, steps)], other], [[(1, 1, steps[::-1])], other])]  # fmt: skip
    assert found[0] == found[1]


def test_steps_that_wait_for_ever_more_messages_are_refused(load, monkeypatch):
    monkeypatch.setattr(_chunks, "_MOST_COMPARED", 10_000)
    msccl.check(Call("all_reduce", 2, 2), load(a_result_after(1)))
    with pytest.raises(FieldError, match="its steps wait for too many messages at a time"):
        msccl.check(Call("all_reduce", 2, 2), load(a_result_after(40)))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_place(load, mistake):
    text, message = MISTAKES[mistake]
    with pytest.raises(FieldError) as caught:
        msccl.check(Call("all_reduce", 3, SIZE), load(text))
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert "a.xml" in str(caught.value)


@pytest.mark.parametrize(
    "call, key",
    [
        (Call("all_gather", 3, SIZE), "operation"),
        (Call("all_reduce", 4, SIZE), "ranks"),
        (Call("all_reduce", 3, 100), "bytes"),
    ],
)
def test_what_the_file_cannot_do_is_refused(load, call, key):
    with pytest.raises(FieldError) as caught:
        msccl.check(call, load(GOOD))
    assert caught.value.field == key


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(GOOD) - 1), many=st.integers(0, 9), more=st.text(max_size=5))
def test_any_edit_is_a_right_algorithm_or_one_line(load, at, many, more):
    try:
        params = load(GOOD[:at] + more + GOOD[at + many :])
        msccl.check(Call("all_reduce", 3, SIZE), params)
        graph = msccl.graph(Call("all_reduce", 3, SIZE), params)
    except (SpecError, UnicodeEncodeError) as error:
        assert "\n" not in str(error)
    else:
        assert int((graph.bytes * graph.reduced).sum()) == 2 * SIZE
