# SPDX-License-Identifier: GPL-2.0-only
"""Logs of NCCL: public lines by their counts, order and times by hand, and what is refused."""

import gzip
import hashlib

import numpy as np
import pytest
from task_times import LATENCY, PER_BYTE, ends

from pyorch.collective import direct, ring, tree
from pyorch.spec.fields import FieldError
from pyorch.trace_format import nccl_log
from pyorch.training import MESSAGE, check
from pyorch.training.foreign import Asked

#: As ROCm/rccl prints it: MI300X, 8 GPUs of one process (AMD's notes on vLLM).
RCCL = (
    "banff-cyxtera-s78-4:54466:54466 [7] NCCL INFO AllReduce: opCount 3 sendbuff 0x7f96eb600000"
    " recvbuff 0x7f96eb600000 count 268435456 datatype 6 op 0 root 0 comm 0x4fd1e8{0} [nranks=8]"
    " stream 0x4bdded{0} task 0 globalrank {0}"
)
#: As NCCL 2.27.5 prints it: SGLang on two hosts, whose second has another log.
SGLANG = """\
tpgds-aihub0007:185302:185302 [0] NCCL INFO ncclCommInitRank comm 0x55a0be47d620 rank 0 nranks 16 \
cudaDev 0 nvmlDev 0 busId 18000 commId 0x221dee7fa4558566 - Init COMPLETE
tpgds-aihub0007:185302:185302 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f757de00400 recvbuff \
0x7f757de00400 count 1600 datatype 7 op 0 root 0 comm 0x55a0be47d620 [nranks=16] stream 0x55a0
tpgds-aihub0007:185302:185302 [0] NCCL INFO AllReduce: 4 Bytes -> Algo RING proto SIMPLE \
channel{Lo..Hi}={0..0}
[2026-03-03 12:11:38] tpgds-aihub0007:185302:185302 [0] NCCL INFO AllReduce: opCount 1 sendbuff \
0x7f757de00400 recvbuff 0x7f757de00400 count 1600 datatype 7 op 0 root 0 comm 0x55a0be47d620 \
[nranks=16] stream 0x55a0
"""


def algorithm(operation):
    module = {"all_to_all": direct, "broadcast": tree, "reduce": tree}.get(operation, ring)
    return module, module.Params()


def read(text, folder, step_ps=0):
    return read_bytes(text.encode(), folder, step_ps)


def read_bytes(data, folder, step_ps=0):
    path = folder / "nccl.log"
    path.write_bytes(data)
    file = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    found = nccl_log.read(Asked((file,), algorithm, step_ps=step_ps))
    check(found.graph)
    return found


def head(rank):
    return f"n0:{rank}:{rank} [{rank}] NCCL INFO"


def init(rank, ranks, pointer=1, place=None, rest=" commId 0xab"):
    place = rank if place is None else place
    return (f"{head(rank)} comm 0x{pointer} rank {place} nranks {ranks} cudaDev {rank} busId 1000"
            f"{rest} - Init COMPLETE")  # fmt: skip


def call(rank, name, count, *, root=0, ranks=2, pointer=1, turn=0, stream=5, kind=0):
    return (f"{head(rank)} {name}: opCount {turn:x} sendbuff (nil) recvbuff 0x7f count {count}"
            f" datatype {kind} op 0 root {root} comm 0x{pointer} [nranks={ranks}]"
            f" stream 0x{stream}")  # fmt: skip


def log(*lines):
    return "\n".join([*lines, ""])


def both(name, count, **more):
    return [call(rank, name, count, **more) for rank in (0, 1)]


TWO = (init(0, 2), init(1, 2))


def sent(graph):
    """Return sender, receiver and bytes of messages, sorted."""
    is_message = graph.kind == MESSAGE
    rows = (column[is_message].tolist() for column in (graph.device, graph.peer, graph.size_bytes))
    return sorted(zip(*rows, strict=True))


def last(graph):
    return int(ends(graph).max())


def message(size):
    return LATENCY + PER_BYTE * size


def test_ranks_that_a_log_says_do_a_ring_of_the_bytes_that_it_says(tmp_path):
    # 2^28 halves are 2^29 B; a ring of 8 sends 2 x 7 parts of an eighth on each of 8 ranks.
    found = read(log(*(RCCL.format(rank) for rank in range(8))), tmp_path)

    assert sent(found.graph) == sorted([(r, (r + 1) % 8, 2**26) for r in range(8)] * 14)


def test_ranks_that_another_log_has_do_the_same(tmp_path):
    found = read(SGLANG, tmp_path)

    # 6400 B on 16 ranks, twice, one after the other.
    assert sent(found.graph) == sorted([(r, (r + 1) % 16, 400) for r in range(16)] * 60)
    assert last(found.graph) == 60 * message(400)
    assert "15 ranks without lines do as the first that has some" in found.remarks[0]
    assert "times of lines are not used" in found.remarks[0]


@pytest.mark.parametrize(
    "name, messages",
    [  # a count is of one rank's part where there are parts
        ("AllReduce", [(0, 1, 500), (1, 0, 500)] * 2),
        ("AllGather", [(0, 1, 1000), (1, 0, 1000)]),
        ("ReduceScatter", [(0, 1, 1000), (1, 0, 1000)]),
        ("AlltoAll", [(0, 1, 1000), (1, 0, 1000)]),
        ("Broadcast", [(1, 0, 1000)]),
        ("Reduce", [(0, 1, 1000)]),
        ("Gather", [(0, 1, 1000)]),
        ("Scatter", [(1, 0, 1000)]),
    ],
)
def test_what_each_operation_of_two_ranks_with_root_1_sends(name, messages, tmp_path):
    root = int(name in ("Broadcast", "Reduce", "Gather", "Scatter"))
    found = read(log(*TWO, *both(name, 1000, root=root)), tmp_path)

    assert sent(found.graph) == sorted(messages)


@pytest.mark.parametrize(
    "kind, size", list(enumerate([1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1]))
)  # int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 fp8 fp8
def test_types_have_their_bytes(kind, size, tmp_path):
    found = read(log(*TWO, *both("AllGather", 10, kind=kind)), tmp_path)

    assert sent(found.graph) == [(0, 1, 10 * size), (1, 0, 10 * size)]


def test_operations_of_one_stream_or_communicator_follow_each_other_others_do_not(tmp_path):
    # Communicator 2 is a second one of the same ranks. Streams 5, 6: apart. One stream: in turn.
    more = [init(rank, 2, pointer=2, rest=" commId 0xcd") for rank in (0, 1)]
    first = both("AllGather", 1000)
    for second, factor in (
        (both("AllGather", 1000, pointer=2, stream=6), 1),
        (both("AllGather", 1000, pointer=2, stream=5), 2),
        (both("AllGather", 1000, pointer=1, stream=6), 2),
    ):
        graph = read(log(*TWO, *more, *first, *second), tmp_path).graph
        assert last(graph) == factor * message(1000)


def test_sends_of_one_group_are_at_once_and_of_two_groups_in_turn(tmp_path):
    def exchange(turn):
        return [call(rank, name, 1000, root=1 - rank, turn=turn)
                for rank in (0, 1) for name in ("Send", "Recv")]  # fmt: skip

    together = read(log(*TWO, *exchange(7), *exchange(7)), tmp_path).graph
    apart = read(log(*TWO, *exchange(7), *exchange(8)), tmp_path).graph

    assert sent(together) == sent(apart) == [(0, 1, 1000)] * 2 + [(1, 0, 1000)] * 2
    # A rank goes on when its send is acknowledged, a latency after it came.
    assert last(together) == message(1000) + LATENCY
    assert last(apart) == 2 * (message(1000) + LATENCY)


def test_parts_of_a_communicator_are_those_of_one_colour(tmp_path):
    lines = [init(rank, 4) for rank in range(4)]
    for rank in range(4):  # even and odd ranks
        rest = f" parent 0x1 splitCount 1 color {rank % 2} key {rank}"
        lines.append(init(rank, 2, pointer=2, place=rank // 2, rest=rest))
    lines += [call(rank, "AllGather", 10, pointer=2) for rank in range(4)]

    assert sent(read(log(*lines), tmp_path).graph) == [
        (0, 2, 10), (1, 3, 10), (2, 0, 10), (3, 1, 10),
    ]  # fmt: skip


def test_a_pointer_is_that_of_the_last_communicator(tmp_path):
    again = [init(rank, 2, place=1 - rank, rest=" commId 0xcd") for rank in (0, 1)]
    lines = [*TWO, *both("AllGather", 10), *again, *both("Broadcast", 30)]

    # Rank 0 of the second is GPU 1.
    assert sent(read(log(*lines), tmp_path).graph) == [(0, 1, 10), (1, 0, 10), (1, 0, 30)]


def test_old_logs_without_ids_have_one_communicator_of_a_size(tmp_path):
    old = [init(rank, 2, rest="") for rank in (0, 1)]
    assert sent(read(log(*old, *both("AllGather", 9)), tmp_path).graph) == [(0, 1, 9), (1, 0, 9)]

    others = [init(rank, 2, place=rank - 2, rest="") for rank in (2, 3)]
    with pytest.raises(FieldError, match=r"nccl.log:3: rank 0 of 2 is there already, in line 1;"):
        read(log(*old, *others, *both("AllGather", 9)), tmp_path)


def test_a_message_to_oneself_and_an_operation_of_nothing_take_no_time(tmp_path):
    alone = [call(0, "Send", 50, root=0), call(0, "Recv", 50, root=0)]
    found = read(log(*TWO, *alone, *both("AllReduce", 0), *both("AllGather", 9)), tmp_path)

    assert sent(found.graph) == [(0, 1, 9), (1, 0, 9)]
    assert "1 messages of ranks to themselves take no time" in found.remarks[0]


@pytest.mark.parametrize(
    "lines, message",
    [
        (["nothing"], r"nccl.log: has no line of an operation. Write the log with NCCL_DEBUG=INFO"),
        ([*TWO, call(0, "AllReduce", 9)[:60]], r"nccl.log:3: is no whole line of an operation"),
        ([*TWO, call(0, "AllReduce", 9) + call(1, "AllReduce", 9)], r"nccl.log:3: is no whole"),
        ([TWO[0][:40] + " - Init COMPLETE"], r"nccl.log:1: is no whole line of a communicator"),
        ([*TWO, call(0, "PutSignal", 9)], r"nccl.log:3: operation 'PutSignal' is none of"),
        ([*TWO, call(0, "AllReduce", 9, kind=12)], r"nccl.log:3: datatype 12 is none of 0 to 11"),
        ([*TWO, call(0, "AllReduce", 2**60, kind=8)], r"nccl.log:3: 9,22.* B are too many"),
        ([*TWO, call(0, "AllReduce", 9, ranks=3)], r"nccl.log:3: nranks is 3, but its communic"),
        ([*TWO, call(0, "Send", 9, root=2)], r"nccl.log:3: root 2 is none of 2 ranks"),
        ([*TWO, call(0, "AllReduce", 9, pointer=7)], r"nccl.log:3: communicator '0x7' of this"),
        ([*TWO, call(0, "AllReduce", 9)], r"nccl.log:3: rank 0 of 2 does 1 operations in this c"),
        ([*TWO, call(0, "AllReduce", 9), call(1, "Reduce", 9)], r"nccl.log:4: is another operat"),
        ([*TWO, call(0, "Send", 9, root=1)], r"nccl.log:3: rank 0 sends 1 times to 1, which rec"),
        ([*TWO, call(0, "Send", 9, root=1), call(1, "Recv", 8)], r"nccl.log:4: 8 B, but line 3 s"),
        ([init(0, 2), call(0, "Send", 9, root=1)], r"nccl.log:2: of a communicator of 2 ranks, 1"),
        (both("AllReduce", 9, root=1), r"nccl.log:1: names a rank, but the log has no lines of"),
        ([call(0, "AllReduce", 9), call(0, "AllReduce", 9, pointer=2, ranks=4)],
         r"nccl.log: has no lines of communicators, and operations of more than one"),
        ([init(0, 2, rest=" parent 0x9 color 1 key 0")], r"nccl.log:1: its parent '0x9' is in no"),
        ([init(2, 2)], r"nccl.log:1: rank 2 of 2 ranks"),
        ([init(0, 2), init(0, 2, pointer=2, place=1), call(0, "AllReduce", 9)],
         r"nccl.log:2: its GPU has another rank already"),
        (["x" * 5000 + TWO[0]], r"nccl.log:1: a line of more than 4096 characters."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(lines, message, tmp_path):
    with pytest.raises(FieldError, match=message) as refused:
        read(log(*lines), tmp_path)
    assert "\n" not in str(refused.value)


def test_a_log_may_begin_with_a_mark_of_utf_8_and_is_no_other_file(tmp_path):
    lines = log(*TWO, *both("AllGather", 10)).encode()
    plain, marked = (read_bytes(mark + lines, tmp_path) for mark in (b"", b"\xef\xbb\xbf"))
    assert sent(marked.graph) == sent(plain.graph)
    with pytest.raises(FieldError, match="nccl.log: is packed with gzip. Unpack it."):
        read_bytes(gzip.compress(lines), tmp_path)
    for code in ("utf-16", "utf-16-be"):
        mark = "\ufeff" * code.endswith("be")
        with pytest.raises(FieldError, match="nccl.log: is a text in UTF-16. Write it in UTF-8."):
            read_bytes((mark + lines.decode()).encode(code), tmp_path)


def test_ranks_that_would_wait_for_each_other_for_ever_are_refused(tmp_path):
    more = [init(rank, 2, pointer=2, rest=" commId 0xcd") for rank in (0, 1)]
    crossed = [call(0, "AllReduce", 9), call(0, "AllReduce", 9, pointer=2),
               call(1, "AllReduce", 9, pointer=2), call(1, "AllReduce", 9)]  # fmt: skip

    with pytest.raises(FieldError, match=r"nccl.log:\d: waits for itself in a circle"):
        read(log(*TWO, *more, *crossed), tmp_path)


def test_a_chain_of_a_hundred_thousand_splits_is_read(tmp_path):
    lines = [init(0, 1)]
    lines += [init(0, 1, pointer=1, rest=" parent 0x1 color 0 key 0") for _ in range(100_000)]
    with pytest.raises(FieldError, match="has no line of an operation"):
        read(log(*lines), tmp_path)


def test_hosts_are_in_the_order_of_their_numbers(tmp_path):
    lines = [call(rank, "AllGather", 9, ranks=3, kind=0).replace("n0", host)
             for rank, host in enumerate(["n10", "n9", "n1"])]  # fmt: skip
    graph = read(log(*lines), tmp_path).graph

    assert np.array_equal(np.unique(graph.device), [0, 1, 2])
    assert sent(graph) == sorted([(0, 1, 9), (1, 2, 9), (2, 0, 9)] * 2)


def test_a_step_begins_a_delay_after_the_one_before(tmp_path):
    # 1000 B on two ranks: two steps of 500 B, so one delay; the next operation begins without.
    text = log(*TWO, *both("AllReduce", 1000), *both("AllReduce", 1000))

    assert last(read(text, tmp_path, step_ps=7).graph) == 4 * message(500) + 2 * 7


def ping_pong(counted, rounds=3, before=()):
    lines = [*TWO]
    for turn in range(rounds):
        there, back = (2 * turn, 2 * turn + 1) if counted else (0, 0)
        lines += [call(0, "Send", 9, root=1, turn=there), call(1, "Recv", 9, turn=there)]
        lines += before and both("AllReduce", 4)
        lines += [call(1, "Send", 9, turn=back), call(0, "Recv", 9, root=1, turn=back)]
    return log(*lines)


def test_groups_that_nccl_does_not_count_are_said_to_be_one(tmp_path):
    # src/enqueue.cc, hostStreamPlanTask of 2.27: without operations of a proxy, which are those
    # between nodes, ncclProxyStart is not called, and opCount stays 0.
    (line,) = read(ping_pong(counted=False), tmp_path).remarks
    said = "2 ranks send to or receive from a peer again at one opCount, which is one group here"

    assert said in line
    assert said not in read(ping_pong(counted=True), tmp_path).remarks[0]
    # What is once between two other operations may be a group.
    assert said not in read(ping_pong(False, rounds=1), tmp_path).remarks[0]
    assert said not in read(ping_pong(False, rounds=2, before=(1,)), tmp_path).remarks[0]
