# SPDX-License-Identifier: GPL-2.0-only
"""Files of any size: memory follows the tasks that come out, and not what stands in the file."""

import heapq
import io
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from task_times import of_chakra, of_goal

from pyorch.collective import ring
from pyorch.spec import files
from pyorch.spec.fields import FieldError
from pyorch.spec.files import blocks
from pyorch.trace_format._nccl_lines import Log
from pyorch.training import _protobuf, builder, chakra, goal, goal_binary
from pyorch.training._protobuf import frames
from pyorch.training.order import Ends, alone, in_order, partners

#: Of a task with what it waits for the tables have 56 B and 32 B, see docs/coming_from.md.
MOST_BYTES_OF_A_TASK = 250


def exchange(n_ranks, rounds):
    """Return GOAL in which each rank computes, sends to the next and receives, round by round."""
    lines = [f"num_ranks {n_ranks}"]
    for rank in range(n_ranks):
        lines.append(f"rank {rank} {{")
        for i in range(rounds):
            to, of = (rank + 1) % n_ranks, (rank - 1) % n_ranks
            lines += [f"c{i}: calc {100 + i}", f"s{i}: send 9b to {to} tag {i}",
                      f"r{i}: recv 9b from {of} tag {i}", f"s{i} requires c{i}"]  # fmt: skip
            lines += [f"c{i} requires r{i - 1}"] * bool(i)
        lines.append("}")
    return "\n".join([*lines, ""])


def peak_bytes(do):
    """Return the most memory that is in use at a time."""
    tracemalloc.start()
    do()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_an_operation_in_the_middle_of_a_long_line_is_not_lost():
    blanks = b" " * 300_000
    data = b"num_ranks 1\nrank 0 {\nc: calc 1\n" + blanks + b"d: calc 2" + blanks * 4 + b"\n}\n"
    with pytest.raises(FieldError, match="x.goal:4: a line of more than 65536 bytes"):
        goal.read(io.BytesIO(data), "x.goal")


@pytest.mark.parametrize("form", ["goal", "goal, binary", "chakra"])
def test_memory_grows_with_tasks_by_little_more_than_their_tables(form, monkeypatch):
    # Oracle: the difference of two sizes, so that what is read at a time does not count.
    for module in (files, _protobuf):
        monkeypatch.setattr(module, "_BLOCK_BYTES", 2**10)
    monkeypatch.setattr(builder, "_AT_A_TIME", 2**7)
    peaks, tasks = [], []
    for rounds in (8, 40):
        graph = of_goal(exchange(32, rounds))
        data = {
            "goal": lambda graph=graph: goal.write(graph).encode(),
            "goal, binary": lambda graph=graph: goal_binary.write(graph),
            "chakra": lambda graph=graph: chakra.write(graph),
        }[form]()
        found = []

        def read(data=data, found=found):
            if form == "chakra":
                graph = of_chakra(data, chakra.Missing(lambda _: (ring, ring.Params()))).graph
            else:
                form_ = goal if form == "goal" else goal_binary
                graph = form_.read(io.BytesIO(data), "x").graph
            found.append(len(graph.kind))

        peaks.append(peak_bytes(read))
        tasks += found

    # A message that is written is a send and a recv when it is read.
    assert tasks[1] - tasks[0] > 3000
    assert (peaks[1] - peaks[0]) / (tasks[1] - tasks[0]) < MOST_BYTES_OF_A_TASK


class Endless:
    """A stream of lines that repeat, of so many bytes, which are nowhere all at once."""

    def __init__(self, head, lines, n_bytes):
        self._piece, self._left = head, n_bytes
        self._lines = lines

    def read(self, n):
        if self._left <= 0:
            return b""
        piece, self._piece = self._piece, self._lines
        self._left -= len(piece)
        return piece


def test_lines_of_a_log_without_an_operation_cost_no_memory():
    head = (
        b"n0:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0 commId 0xab - Init COMPLETE\n"
        b"n0:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 9 datatype 0 op"
        b" 0 root 0 comm 0x1 [nranks=2] stream 0x5\n"
    )
    noise = (
        b"n0:1:1 [0] NCCL INFO AllReduce: 4 Bytes -> Algo RING proto SIMPLE\nloss 0.1\n" * 10_000
    )
    found = []

    peak = peak_bytes(lambda: found.append(Log(Endless(head, noise, 10**8), "x.log", "file")))

    assert len(found[0].operations) == 1 and found[0].operations[0].at == 2
    assert peak < 8 * 2**20


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: Log(Endless(b"", b"x" * 2**20, 10**8), "x.log", "file"),
         "x.log: has no line of an operation"),
        (lambda: goal.read(Endless(b"num_ranks 1\nrank 0 {\n", b"x" * 2**20, 10**8), "x.goal"),
         "x.goal:3: "),
        (lambda: list(frames(Endless(b"\xff\xff\xff\xff\x0f", b"x" * 2**20, 10**8))),
         "ends within a message of 4294967295 bytes"),
    ],
)  # fmt: skip
def test_a_line_or_a_message_that_does_not_end_is_not_kept(read, message):
    def refused():
        with pytest.raises((FieldError, ValueError), match=message):
            read()

    assert peak_bytes(refused) < 16 * 2**20


@given(st.lists(st.binary(max_size=60)), st.integers(1, 50))
def test_blocks_are_the_lines_of_a_stream(parts, at_once):
    data = b"\n".join(part.replace(b"\n", b"") for part in parts)

    class Slow(io.BytesIO):
        def read(self, _=-1):
            return super().read(at_once)

    found = list(blocks(Slow(data), 60))

    assert b"".join(found) == data
    assert all(block.endswith(b"\n") for block in found[:-1])


@given(st.integers(1, 12), st.data())
def test_the_order_is_that_of_a_queue_by_number(n, data):
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    waits = data.draw(st.lists(pair, max_size=20))
    missing, then = [0] * n, defaultdict(list)
    for task, after in waits:
        missing[task] += 1
        then[after].append(task)
    ready, expected = [task for task in range(n) if not missing[task]], []
    while ready:
        expected.append(heapq.heappop(ready))
        for task in then[expected[-1]]:
            missing[task] -= 1
            if not missing[task]:
                heapq.heappush(ready, task)

    task, after = np.array(waits, dtype=np.int64).reshape(-1, 2).T
    assert in_order(n, task, after).tolist() == expected


@given(st.data())
def test_the_kth_send_meets_the_kth_recv_of_its_ranks_and_tag(data):
    ends = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1))
    sends = data.draw(st.lists(ends, max_size=8))
    recvs = data.draw(st.one_of(st.permutations(sends), st.lists(ends, max_size=8)))
    queues = defaultdict(list)
    for row, one in enumerate(sends):
        queues[one].append(row)
    met = [queues[one].pop(0) if queues[one] else None for one in recvs]
    left = sorted(row for queue in queues.values() for row in queue)

    columns = [Ends(*np.array(rows, dtype=np.int64).reshape(-1, 3).T) for rows in (sends, recvs)]
    found = partners(*columns)
    if left or None in met:
        assert found is None
        rows = [row for row, one in enumerate(met) if one is None]
        assert [one.tolist() for one in alone(*columns)] == [left, rows]
    else:
        assert found.tolist() == met
