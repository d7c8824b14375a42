# SPDX-License-Identifier: GPL-2.0-only
"""Events of NCCL's profiler: those of a log by the log's reader, order by hand, what is refused."""

import hashlib
import itertools
import random

import pytest
from task_times import LATENCY, ends
from test_nccl_log import algorithm, call, init, last, log, message, sent
from test_nccl_log import read as read_log

from pyorch.spec.fields import FieldError
from pyorch.trace_format import nccl_profiler
from pyorch.training import check
from pyorch.training.foreign import Asked


def read(text, folder):
    path, data = folder / "all.json", text.encode()
    path.write_bytes(data)
    file = {"path": str(path), "sha256": hashlib.sha256(data).hexdigest()}
    found = nccl_profiler.read(Asked((file,), algorithm))
    check(found.graph)
    return found


def event(category, name, phase, pid, at_us, args="", number=0):
    more = f', "args": {{{args}}}' if args else ""
    return (f'{{"name": "{name}", "cat": "{category}", "ph": "{phase}", "id": {number},'
            f' "pid": {pid}, "tid": 1, "ts": {at_us:.6f}{more}}},')  # fmt: skip


def around(category, name, pid, at_us, args, inside=()):
    return [event(category, name, "b", pid, at_us, args), *inside,
            event(category, name, "e", pid, at_us + 1)]  # fmt: skip


def coll(rank, name, count, *, comm=7, number=0, kind="ncclInt8", root=0, at_us=1.0, pid=None,
         stream="0x5", captured=0):  # fmt: skip
    pid = rank if pid is None else pid
    done = around("COLL", name, pid, at_us, f'"SeqNum": {number}, "CommHash": {comm}, "Rank":'
                  f' {rank}, "Count": {count}, "Datatype": "{kind}", "Algorithm": "RING",'
                  ' "Protocol": "LL", "nChannels": 2')  # fmt: skip
    return around("COLL_API", name, pid, 0, f'"count": {count}, "datatype": "{kind}", "root":'
                  f' {root}, "GraphCaptured": {captured}, "Stream": "{stream}"', done)  # fmt: skip


def p2p(rank, name, peer, count, *, comm=7, kind="ncclInt8", at_us=1.0, pid=None, stream="0x5"):
    pid = rank if pid is None else pid
    done = around("P2P", name, pid, at_us, f'"CommHash": {comm}, "Rank": {rank}, "Peer": {peer},'
                  f' "Count": {count}, "Datatype": "{kind}", "nChannels": 1')  # fmt: skip
    return around("P2P_API", name, pid, 0, f'"count": {count}, "datatype": "{kind}",'
                  f' "GraphCaptured": 0, "Stream": "{stream}"', done)  # fmt: skip


def group(pid, *calls, at_us=1.0):
    return around("GROUP_API", "Group API", pid, at_us, '"groupApiId": 0, "groupDepth": 1',
                  itertools.chain(*calls))  # fmt: skip


def file(*groups):
    return "\n".join(["[", *itertools.chain(*groups), "{}]", ""])


def ranks(n, *operations, **more):
    """Return the files of ranks, each with one group for each operation."""
    return "".join(
        file(*(group(rank, coll(rank, *its, number=turn, **more), at_us=turn)
               for turn, its in enumerate(operations)))
        for rank in range(n)
    )  # fmt: skip


@pytest.mark.parametrize("name", ["AllReduce", "AllGather", "ReduceScatter", "AlltoAll",
                                  "Broadcast", "Reduce"])  # fmt: skip
def test_a_collective_is_that_of_a_log(name, tmp_path):
    lines = [init(rank, 4) for rank in range(4)]
    lines += [call(rank, name, 1000, ranks=4, kind=7, root=0) for rank in range(4)]
    logged = read_log(log(*lines), tmp_path)

    found = read(ranks(4, (name, 1000), kind="ncclFloat32"), tmp_path)

    assert sent(found.graph) == sent(logged.graph)
    assert last(found.graph) == last(logged.graph)
    assert "ranks of a communicator are those that it shows: 4" in found.remarks[0]


def test_a_root_is_the_one_of_the_call(tmp_path):
    text = "".join(file(group(r, coll(r, "Broadcast", 900, root=2))) for r in range(3))

    found = read(text, tmp_path)

    # A binary tree below rank 2: the next two get all from it.
    assert sent(found.graph) == [(2, 0, 900), (2, 1, 900)]
    assert "no roots" not in found.remarks[0]


def test_a_step_of_two_communicators_keeps_the_order_of_each_process(tmp_path):
    # Four GPUs in one: an all-reduce of pairs, then one of all, on one stream; files of pairs last.
    pair = {0: (8, 0), 1: (8, 1), 2: (9, 0), 3: (9, 1)}
    whole = [file(group(pid, coll(pid, "AllReduce", 4000, pid=pid), at_us=50)) for pid in range(4)]
    halves = [
        file(group(pid, coll(rank, "AllReduce", 1000, comm=comm, pid=pid), at_us=10))
        for pid, (comm, rank) in pair.items()
    ]

    found = read("".join(whole + halves), tmp_path)

    is_half = found.graph.size_bytes == 500
    assert ends(found.graph)[is_half].max() == 2 * message(500)
    assert last(found.graph) == 2 * message(500) + 6 * message(1000)
    assert sent(found.graph) == sorted(
        [(pid, pid ^ 1, 500) for pid in range(4)] * 2
        + [(pid, (pid + 1) % 4, 1000) for pid in range(4)] * 6
    )
    assert "each process is taken for a GPU" in found.remarks[0]


def test_different_streams_work_side_by_side(tmp_path):
    files = [
        file(group(pid, coll(pid, "AllReduce", 1000, comm=comm, stream=stream), at_us=at_us))
        for comm, stream, at_us in ((1, "0x1", 0), (2, "0x2", 9))
        for pid in range(2)
    ]

    assert last(read("".join(files), tmp_path).graph) == 2 * message(500)


def test_sends_and_recvs_of_a_group_begin_together(tmp_path):
    text = "".join(
        file(group(rank, p2p(rank, "Send", 1 - rank, 300, kind="ncclBfloat16"),
                   p2p(rank, "Recv", 1 - rank, 300, kind="ncclBfloat16")))
        for rank in range(2)
    )  # fmt: skip

    found = read(text, tmp_path)

    assert sent(found.graph) == [(0, 1, 600), (1, 0, 600)]
    assert last(found.graph) == message(600) + LATENCY  # until the sender has the answer


def test_sends_of_two_groups_follow_each_other(tmp_path):
    send, recv = (
        [group(rank, p2p(rank, name, 1 - rank, 300), at_us=turn) for turn in range(2)]
        for rank, name in ((0, "Send"), (1, "Recv"))
    )

    assert last(read(file(*send) + file(*recv), tmp_path).graph) > 2 * message(300)


@pytest.mark.parametrize("seed", range(20))
def test_random_steps_are_those_of_a_log(seed, tmp_path):
    draw, n = random.Random(seed), 4
    lines = [init(rank, n, pointer=10 + rank, rest=" commId 0xa") for rank in range(n)]
    lines += [init(rank, 2, pointer=20 + rank, place=rank % 2, rest=f" commId 0xb{rank // 2}")
              for rank in range(n)]  # fmt: skip
    groups = {}  # of a rank in a communicator

    def done(rank, comm, *calls):
        groups.setdefault((rank, comm), []).append(group(rank, *calls, at_us=len(lines)))

    for turn in range(8):
        count, stream = draw.choice([64, 1000, 4096]), draw.choice([1, 2])
        name, is_half = draw.choice(["AllReduce", "AllGather", "ReduceScatter", "Ring"]), turn % 3
        for rank in range(n):
            place, size = (rank % 2, 2) if is_half else (rank, n)
            comm, pointer = (70 + rank // 2, 20 + rank) if is_half else (9, 10 + rank)
            own = {"ranks": size, "pointer": pointer, "turn": turn, "stream": stream}
            if name != "Ring":
                lines.append(call(rank, name, count, **own))
                done(rank, comm, coll(place, name, count, comm=comm, pid=rank, captured=1,
                                      stream=f"0x{stream}"))  # fmt: skip
                continue
            ends_of = {"Send": (place + 1) % size, "Recv": (place - 1) % size}
            lines += [call(rank, kind, count, root=peer, **own) for kind, peer in ends_of.items()]
            more = {"comm": comm, "pid": rank, "stream": f"0x{stream}"}
            sends = (p2p(place, kind, peer, count, **more) for kind, peer in ends_of.items())
            done(rank, comm, *sends)
    files = ["".join(file(*its)) for its in groups.values()]
    draw.shuffle(files)

    ours, logged = read("".join(files), tmp_path).graph, read_log(log(*lines), tmp_path).graph

    assert sent(ours) == sent(logged)
    assert sorted(ends(ours).tolist()) == sorted(ends(logged).tolist())


@pytest.mark.parametrize("kind", ["7", '"ncclFloat32"'])
def test_files_before_2_28_have_no_calls(kind, tmp_path):
    def old(rank):
        args = (f'"SeqNum": 0, "CommHash": 7, "Rank": {rank}, "Count": 250, "Datatype": {kind},'
                ' "Algorithm": "RING", "Protocol": "LL", "nMaxChannels": 2')  # fmt: skip
        return file(around("GROUP", "Group", rank, 1, '"groupId": 0',
                           around("COLL", "Broadcast", rank, 2, args)))  # fmt: skip

    found = read(old(0) + old(1), tmp_path)

    assert sent(found.graph) == [(0, 1, 1000)]
    assert "it has no roots, so rank 0 is taken" in found.remarks[0]


def test_calls_of_2_28_have_words_without_quotation_marks(tmp_path):
    text = ranks(2, ("AllReduce", 1000))
    bare = text.replace('"datatype": "ncclInt8"', '"datatype": ncclInt8')
    bare = bare.replace('"Stream": "0x5"', '"Stream": 0x5')

    assert sent(read(bare, tmp_path).graph) == sent(read(text, tmp_path).graph)


def test_events_of_the_proxy_are_named_and_left(tmp_path):
    text = ranks(2, ("AllReduce", 1000))
    begin, end = (event("NET", "RecvWait", phase, 0, 3, number=9) for phase in "be")
    at = text.index('{"name": "AllReduce", "cat": "COLL", "ph": "e"')
    found = read(f"{text[:at]}{begin}\n{end}\n{text[at:]}", tmp_path)

    assert sent(found.graph) == sent(read(text, tmp_path).graph)
    assert "events of NET are not used" in found.remarks[0]


def test_captured_collectives_are_not_counted_by_nccl(tmp_path):
    text = "".join(
        file(*(group(rank, coll(rank, "AllReduce", 1000, number=number, captured=1), at_us=turn)
               for turn, number in enumerate((3, 3, 4))))
        for rank in range(2)
    )  # fmt: skip

    found = read(text, tmp_path)

    assert last(found.graph) == 6 * message(500)
    assert "AllReduce begins with number 3: what was before is not in the file" in found.remarks[0]


WHOLE = ranks(2, ("AllReduce", 1000), ("AllReduce", 500))


def without(text, *marks):
    return "\n".join(line for line in text.split("\n") if not all(mark in line for mark in marks))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "has no event of an operation. Set NCCL_PROFILE_EVENT_MASK to 6"),
        ("[\n{}]\n", "has no event of an operation"),
        ("x\n", "all.json:1: a file of NCCL's profiler has `\\[` in its first line"),
        (WHOLE[: WHOLE.rindex("{}]")], "the file ends without `{}]`. Is it cut short"),
        (WHOLE[: WHOLE.index("{}]")], "the file ends without"),
        (WHOLE.replace("{}]\n[", "[", 1), r"all.json:\d+: a file of NCCL's profiler has"),
        (WHOLE[: WHOLE.index("{}]")] + "{}]\n", "has events of one rank alone, of communicator 7"),
        (WHOLE[:40] + "\n{}]\n", "is no JSON"),
        (without(WHOLE, '"COLL_API"', '"ph": "b"'), "COLL stands in a COLL_API or GROUP event"),
        (without(WHOLE, '"COLL"', '"ph": "e"'), "'AllReduce' ends, but has not begun last"),
        (without(WHOLE, '"COLL"'), "has no COLL event: the profiler had no room. Enlarge NCCL_PRO"),
        (without(WHOLE, '"GROUP_API"', '"ph": "e"'), "GROUP_API stands in no other event"),
        (WHOLE.replace("AllReduce", "AllReduc"), "operation 'AllReduc' is none of .*Did you mean"),
        (WHOLE.replace("ncclInt8", "ncclInt9"), "datatype 'ncclInt9' is none of"),
        (WHOLE.replace('"Count": 500', '"Count": -1'), "args.Count: "),
        (WHOLE.replace('"Count": 500', '"Count": 1e3'), "args.Count: "),
        (WHOLE.replace('"Count": 500', '"Count": "x"'), "args.Count: "),
        (WHOLE.replace('"Count": 500, ', ""), "args.Count: this key is missing"),
        (WHOLE.replace('"Count": 500', f'"Count": {2**60}'), "are too many"),
        (WHOLE.replace('"Count": 500', '"Count": 400', 1), "is another operation, or has another"),
        (WHOLE.replace('"ts": 1.000000', '"ts": NaN'), "ts: "),
        (WHOLE.replace('"cat": "COLL"', '"kat": "COLL"'), "cat: this key is missing"),
        (WHOLE.replace('"root": 0', '"root": 2'), "root 2 is none of 2 ranks"),
        (WHOLE.replace('"Rank": 1', '"Rank": 2'), "has rank 2, but no events of rank 1. Join the"),
        (ranks(2, ("AllReduce", 8), ("AllReduce", 8)).replace('"SeqNum": 1', '"SeqNum": 2'),
         "rank 0 has AllReduce 2, but not AllReduce 1: the profiler keeps the last ones alone"),
        (WHOLE.replace('"SeqNum": 0, "CommHash": 7, "Rank": 1', '"SeqNum": 1, "CommHash": 7,'
                       ' "Rank": 1'), "rank 1 has AllReduce 1, but not AllReduce 0"),
        (file(group(0, p2p(0, "Send", 1, 8))), "has rank 1, but no events of rank 1"),
        (file(group(0, p2p(0, "Send", 1, 8))) + file(group(1, p2p(1, "Recv", 0, 9))), "sends 8"),
        (file(group(0, p2p(0, "Send", 1, 8))) + file(group(1, p2p(1, "Send", 0, 8))), "sends 1"),
        (WHOLE.replace('"pid": 1', '"pid": 0') + ranks(2, ("AllReduce", 8), comm=3),
         "process 0 has several ranks of communicator 7"),
        (WHOLE.replace('"cat": "COLL"', '"cat": "CE_COLL"'), "json:4: a collective of the GPU's"),
        ("[\n" + "x" * 5000, "all.json:2: a line of more than 4096"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(text, message, tmp_path):
    with pytest.raises(FieldError, match=message) as refused:
        read(text, tmp_path)
    assert "\n" not in str(refused.value)
