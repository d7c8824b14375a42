# SPDX-License-Identifier: GPL-2.0-only
"""Execution plans of MSCCL++: messages and what they wait for by hand, and what is refused."""

import hashlib
import json

import pytest

from pyorch.collective import mscclpp
from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Call
from pyorch.spec.fields import FieldError

PART = 1000


def local(kind, index, size=1):
    return {"type": kind, "index": index, "size": size}


def remote(buffer, index, size=1):
    return {"buffer_id": buffer, "index": index, "size": size}


def move(name, source, target, kind="memory", **more):
    sources, targets = (one if isinstance(one, list) else [one] for one in (source, target))
    return {"name": name, "src_buff": sources, "dst_buff": targets, "channel_type": kind} | more


def sync(name, kind="memory", channels=(0,)):
    return {"name": name, "channel_ids": list(channels), "channel_type": kind}


def plan(collective, chunks, *ranks, buffer="i", kind="memory", in_place=True, **more):
    """Return a plan of two ranks; each is a list of thread blocks of operations.

    Each has a channel to the other for each thread block, and its buffer as remote buffer 0.
    """
    gpus = []
    for rank, blocks in enumerate(ranks):
        peer = 1 - rank
        gpus.append({
            "id": rank, "input_chunks": chunks, "output_chunks": chunks, "scratch_chunks": chunks,
            "channels": [{"channel_type": kind, "connected_to": [peer] * len(blocks)}],
            "remote_buffers": [{"rank": peer, "type": buffer, "access_channel_types": [kind]}],
            "semaphores": [{"init_value": 0}],
            "threadblocks": [
                {"id": i, "ops": ops,
                 "channels": [{"channel_type": kind, "channel_ids": [i]}],
                 "remote_buffer_refs": [{"access_channel_type": kind, "remote_buffer_ids": [0]}]}
                for i, ops in enumerate(blocks)
            ],
        })  # fmt: skip
    return {"name": "x", "collective": collective, "protocol": "Simple", "inplace": in_place,
            "gpus": gpus} | more  # fmt: skip


def loaded(found, folder):
    path = folder / "plan.json"
    data = (found if isinstance(found, str) else json.dumps(found)).encode()
    path.write_bytes(data)
    file = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    return mscclpp.Params.model_construct(file=file)


def graph(found, folder, operation="all_gather", chunks=2):
    params, call = loaded(found, folder), Call(operation, 2, chunks * PART)
    mscclpp.check(call, params)
    made = mscclpp.graph(call, params)
    counts = mscclpp.counts(call, params)
    assert counts.messages == len(made.src) and counts.sent_bytes == made.bytes.sum()
    return made


def sent(made):
    """Return sender, receiver, bytes of each message, and what it waits for."""
    waits = {row: [] for row in range(len(made.src))}
    for flow, after, end in zip(made.flow, made.after, made.at_sender, strict=True):
        waits[int(flow)].append((int(after), int(end)))
    columns = (made.src.tolist(), made.dst.tolist(), made.bytes.tolist())
    return [(*row, sorted(waits[i])) for i, row in enumerate(zip(*columns, strict=True))]


def gather(name="put", ending=("signal", "wait"), kind="memory"):
    """Return an all-gather: each rank puts its chunk of the output to the other."""
    return plan("allgather", 2, *(
        [[move(name, local("o", rank), remote(0, rank), kind), *(sync(e, kind) for e in ending)]]
        for rank in (0, 1)
    ), buffer="o", kind=kind)  # fmt: skip


def test_a_signal_leaves_when_what_was_put_is_acknowledged(tmp_path):
    rows = sent(graph(gather(), tmp_path))

    assert sorted(rows, key=lambda row: row[:3]) == [
        (0, 1, 8, [(0, AT_SENDER)]), (0, 1, PART, []),
        (1, 0, 8, [(2, AT_SENDER)]), (1, 0, PART, []),
    ]  # fmt: skip


def test_a_relaxed_signal_waits_for_no_acknowledgement(tmp_path):
    rows = sent(graph(gather(ending=("rlxsignal", "rlxwait")), tmp_path))

    assert sorted(row[2:] for row in rows) == [(8, []), (8, []), (PART, []), (PART, [])]


def test_a_put_over_a_port_channel_is_its_signal(tmp_path):
    assert sent(graph(gather(kind="port"), tmp_path)) == [(0, 1, PART, []), (1, 0, PART, [])]
    with_signal = plan("allgather", 2, *(
        [[move("pws", local("o", rank), remote(0, rank), "port", channel_ids=[0]),
          sync("wait", "port")]] for rank in (0, 1)
    ), buffer="o", kind="port")  # fmt: skip
    assert sent(graph(with_signal, tmp_path)) == [(0, 1, PART, []), (1, 0, PART, [])]


def test_a_flush_waits_for_acknowledgements(tmp_path):
    found = gather(ending=("flush", "rlxsignal", "rlxwait"))

    assert sorted(row[2:] for row in sent(graph(found, tmp_path)) if row[2] == 8) == [
        (8, [(0, AT_SENDER)]), (8, [(2, AT_SENDER)]),
    ]  # fmt: skip


def test_a_get_is_a_request_and_its_answer(tmp_path):
    found = plan("allgather", 2, *(
        [[move("get", remote(0, 1 - rank), local("o", 1 - rank), channel_ids=[0])]]
        for rank in (0, 1)
    ), buffer="o")  # fmt: skip

    assert sent(graph(found, tmp_path)) == [
        (0, 1, 8, []), (1, 0, PART, [(0, AT_RECEIVER)]),
        (1, 0, 8, []), (0, 1, PART, [(2, AT_RECEIVER)]),
    ]  # fmt: skip


def packets():
    """Return an all-reduce of two ranks in packets, as MSCCL++'s own allreduce_packet.json has it.

    A rank puts half of its vector into the other's scratch, which adds it and puts the sum back.
    """
    ranks = []
    for rank in (0, 1):
        first, second = 2 * rank, 2 - 2 * rank
        block = [move("ppkt", local("i", second, 2), remote(0, 0, 2)),
                 move("respkt", [local("i", first, 2), local("s", 0, 2)],
                      [local("i", first, 2), remote(0, 2, 2)]),
                 move("upkt", local("s", 2, 2), local("i", second, 2), "none")]  # fmt: skip
        ranks.append([block])
    return plan("allreduce", 4, *ranks, buffer="s")


def test_packets_have_twice_the_bytes_and_readers_wait_for_them(tmp_path):
    made = graph(packets(), tmp_path, "all_reduce", 4)
    rows = sent(made)

    assert sorted(rows) == [
        (0, 1, 4 * PART, []), (0, 1, 4 * PART, [(1, AT_RECEIVER)]),
        (1, 0, 4 * PART, []), (1, 0, 4 * PART, [(0, AT_RECEIVER)]),
    ]  # fmt: skip
    assert made.reduced.tolist() == [not waits for *_, waits in rows]


def through_scratch(waits, kind="memory", parts=1):
    """Return an all-reduce of two: each puts its vector into the other's scratch, which adds it.

    Parameters
    ----------
    waits : set of int
        Ranks that wait for the signal of the other before they add; the others get none.
    parts : int
        Puts of a rank before its signal.
    """
    ranks = []
    for rank in (0, 1):
        puts = [move("put", local("i", i), remote(0, i), kind) for i in range(parts)]
        signal = [sync("signal", kind)] if 1 - rank in waits else [{"name": "nop"}]
        wait = [sync("wait", kind)] if rank in waits else [{"name": "nop"}]
        add = [move("re", [local("i", i), local("s", i)], local("i", i)) for i in range(parts)]
        ranks.append([[*puts, *signal, *wait, *add]])
    return plan("allreduce", parts, *ranks, buffer="s", kind=kind)


def test_what_does_not_wait_for_what_it_reads_is_refused(tmp_path):
    graph(through_scratch({0, 1}), tmp_path, "all_reduce", 1)
    for waits in (set(), {0}, {1}):
        with pytest.raises(FieldError, match="there is nothing yet in s 0|reads s 0 of gpu ., but"):
            graph(through_scratch(waits), tmp_path, "all_reduce", 1)


def test_a_signal_over_a_port_channel_follows_all_puts(tmp_path):
    found = through_scratch({0, 1}, "port", parts=3)
    for rank in (0, 1):  # an answer that needs the sum of all parts
        ops = found["gpus"][rank]["threadblocks"][0]["ops"]
        ops += [sync("rlxsignal", "port"), sync("rlxwait", "port")]
    rows = sent(graph(found, tmp_path, "all_reduce", 3))

    puts = {src: [i for i, row in enumerate(rows) if row[:3:2] == (src, PART)] for src in (0, 1)}
    for src, _, size, waits in rows:
        if size == 8:
            assert waits == [(row, AT_RECEIVER) for row in puts[1 - src]]


def test_who_reads_packets_of_another_thread_block_waits_for_what_is_in_them(tmp_path):
    # The first block of a rank adds what came to its own and keeps the sum as packets in its
    # scratch, from which the second sends it back.
    ranks = []
    for rank in (0, 1):
        first, second = 2 * rank, 2 - 2 * rank
        add = move("recpkt", [local("i", first, 2), local("s", 0, 2)],
                   [local("i", first, 2), local("s", 2, 2)])  # fmt: skip
        ranks.append([
            [move("ppkt", local("i", second, 2), remote(0, 0, 2)), add],
            [move("rppkt", local("s", 2, 2), remote(0, 4, 2)),
             move("upkt", local("s", 4, 2), local("i", second, 2), "none")],
        ])  # fmt: skip
    found = plan("allreduce", 4, *ranks, buffer="s")
    for gpu in found["gpus"]:
        gpu["scratch_chunks"] = 6

    assert sorted(sent(graph(found, tmp_path, "all_reduce", 4))) == [
        (0, 1, 4 * PART, []), (0, 1, 4 * PART, [(1, AT_RECEIVER)]),
        (1, 0, 4 * PART, []), (1, 0, 4 * PART, [(0, AT_RECEIVER)]),
    ]  # fmt: skip


def test_ranks_may_stand_in_any_order(tmp_path):
    found = gather()
    swapped = found | {"gpus": found["gpus"][::-1]}
    assert sent(graph(swapped, tmp_path)) == sent(graph(found, tmp_path))


def test_a_remote_operand_is_read_and_a_remote_result_is_put(tmp_path):
    # As in MSCCL++'s reduce.json: each rank reads its half of the other's vector and puts the sum.
    ranks = [
        [[move("rres", [local("i", rank), remote(0, rank)], [local("i", rank), remote(0, rank)]),
          sync("signal"), sync("wait")]] for rank in (0, 1)
    ]  # fmt: skip
    made = graph(plan("allreduce", 2, *ranks), tmp_path, "all_reduce")

    assert [row[:3] for row in sent(made)] == [
        (0, 1, 8), (1, 0, PART), (0, 1, PART), (0, 1, 8),
        (1, 0, 8), (0, 1, PART), (1, 0, PART), (1, 0, 8),
    ]  # fmt: skip
    assert made.reduced.tolist() == [False, True, False, False] * 2


def two_blocks(*between):
    """Return a gather whose first thread block puts, and whose second signals after `between`."""
    first, second = between
    return plan("allgather", 2, *(
        [[move("put", local("o", rank), remote(0, rank)), first],
         [second, sync("signal"), sync("wait")]] for rank in (0, 1)
    ), buffer="o")  # fmt: skip


@pytest.mark.parametrize(
    "between",
    [
        ({"name": "barrier", "barrier_id": 0, "num_threadblocks": 2},) * 2,
        ({"name": "sem_release", "semaphore_ids": [0]}, {"name": "sem_acquire",
                                                          "semaphore_ids": [0]}),
    ],
)  # fmt: skip
def test_thread_blocks_wait_for_each_other(between, tmp_path):
    signals = [row for row in sent(graph(two_blocks(*between), tmp_path)) if row[2] == 8]
    assert [[end for _, end in waits] for *_, waits in signals] == [[AT_SENDER], [AT_SENDER]]

    nop = {"name": "nop"}
    signals = [row for row in sent(graph(two_blocks(nop, nop), tmp_path)) if row[2] == 8]
    assert [waits for *_, waits in signals] == [[], []]


def test_a_group_of_thread_blocks_shares_an_operation(tmp_path):
    found = plan("allgather", 2, *(
        [[move("put", local("o", rank), remote(0, rank), tbg_info={"tb_id": i, "tbg_size": 2})]
         for i in (0, 1)] for rank in (0, 1)
    ), buffer="o")  # fmt: skip

    assert [row[2] for row in sent(graph(found, tmp_path))] == [PART // 2] * 4


def test_sizes_of_a_plan_are_kept(tmp_path):
    found = gather() | {"min_message_size": 100, "max_message_size": 1999}
    with pytest.raises(FieldError, match="plan.json is for 100 to 1999 B, not 2000"):
        graph(found, tmp_path)


def edited(path, value, found=None):
    """Return a plan with another value at a path of keys."""
    found = json.loads(json.dumps(found or gather()))
    at = found
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return found


OPS = ("gpus", 0, "threadblocks", 0, "ops")


@pytest.mark.parametrize(
    "found, message",
    [
        ("{", "plan.json: is no JSON"),
        ("[" * 100_000, "plan.json: is no JSON"),
        ("[]", "plan.json: gpus: write a list"),
        (edited(("gpus",), [{}]), "plan.json: 1 gpus; a plan has 2 or more"),
        (edited(("gpus", 1, "id"), 0), "plan.json: gpus: two have the id 0"),
        (edited(("gpus", 1, "id"), 2), "plan.json: gpus: id: '2' is no whole number, 0 to 1"),
        (edited(("inplace",), "yes"), "plan.json: inplace 'yes' is neither true nor false"),
        (edited((*OPS, 0, "src_buff", 0, "index"), 2), "op 0: index 2 and size 1 reach beyond the 2"
         " chunks of buffer o of gpu 0"),
        (edited(("collective",), "sendrecv"), "collective 'sendrecv' is none of allreduce"),
        (edited(("gpus", 0, "channels", 0, "channel_type"), "switch"),
         "gpu 0: channels: channel_type 'switch' is not read; memory and port are"),
        (edited((*OPS, 0, "name"), "pipeline"), "op 0: 'pipeline': loops over pieces of a chunk"),
        (edited((*OPS, 0, "name"), "glres"), "op 0: 'glres': switches that add or copy are not"),
        (edited((*OPS, 0, "name"), "puut"), "op 0: 'puut' is none of nop, .* Did you mean put"),
        (edited((*OPS, 0, "channel_type"), "switch"), "op 0: channel_type 'switch' is not read"),
        (edited((*OPS, 0, "name"), "get", gather(kind="port")), "op 0: get over a port channel is"),
        (edited((*OPS, 0, "src_buff", 0, "index"), -1), "op 0: index: '-1' is no whole number"),
        (edited((*OPS, 0, "src_buff", 0, "type"), "x"), "op 0: buffer type 'x' is none of i, o, s"),
        (edited((*OPS, 0, "dst_buff", 0, "buffer_id"), 1), "op 0: buffer_id: '1' is no whole"),
        (edited((*OPS, 0, "src_buff", 0, "size"), 2), "op 0: its chunks are not as many"),
        (edited((*OPS, 0, "src_buff", 0, "index"), 1), "op 0: there is nothing yet in o 1"),
        (edited((*OPS, 0, "dst_buff", 0, "index"), 0, edited(
            ("gpus", 1, "threadblocks", 0, "ops", 0, "dst_buff", 0, "index"), 0)),
         "gpu 0 ends with chunk 1 of 1 ranks in o 0, not with chunk 0"),
        (edited((*OPS, 1, "channel_ids"), [1]), "op 1: channel_ids: '1' is no whole"),
        (edited((*OPS, 1), {"name": "nop"}), "gpu 1, threadblock 0, op 2: waits for what never"),
        (edited((*OPS, 2), {"name": "nop"}), "gpu 1 signals 1 times to 0 over a memory channel"),
        (edited(("gpus", 0, "channels", 0, "connected_to"), [0]), "gpu 0 is connected to itself"),
        (edited(("gpus", 0, "output_chunks"), 4), "gpus have different output_chunks: .2, 4."),
        (edited(("gpus", 0, "semaphores", 0, "init_value"), 10**9), "init_value: '1000000000'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(found, message, tmp_path):
    with pytest.raises(FieldError, match=message) as refused:
        graph(found, tmp_path)
    assert "plan.json" in str(refused.value) and "\n" not in str(refused.value)


def test_a_sum_with_the_data_of_a_rank_twice_is_refused(tmp_path):
    twice = packets()
    ops = twice["gpus"][0]["threadblocks"][0]["ops"]
    ops[1]["src_buff"].append(ops[1]["src_buff"][1])
    with pytest.raises(FieldError, match="op 1: adds the data of gpu 1 twice"):
        graph(twice, tmp_path, "all_reduce", 4)
