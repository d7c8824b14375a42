# SPDX-License-Identifier: GPL-2.0-only
"""System files of ASTRA-sim: times by its formulas, and what is refused."""

import json

import pytest
from task_times import LATENCY, PER_BYTE, ends
from test_chakra import node, rings, trace

from pyorch.spec.fields import FieldError
from pyorch.training import astra, chakra, check

NS = 1000
GIVEN = {
    "endpoint-delay": 10, "preferred-dataset-splits": 4, "active-chunks-per-dimension": 1,
    "local-mem-bw": 50, "all-reduce-implementation": ["ring"], "boost-mode": 0,
}  # fmt: skip


def last_ps(comm_type, **changes):
    """Return when the last of 8 ranks has its result of 1 MiB."""
    system = astra.read(json.dumps(GIVEN | changes), "x.json")
    files = [trace(node(1, 7, comm_type=comm_type, comm_size=2**20))] * 8
    graph = chakra.read(files, chakra.Missing(rings, system=system)).graph
    check(graph)
    return ends(graph).max()


HOP = LATENCY + 2**15 * PER_BYTE


def test_an_all_reduce_takes_what_astra_sim_adds_up():
    # Each of 4 parts: 10 ns, 7 steps with three passes of 32 KiB at 50 GB/s, 655 ns each, 7 steps
    # without.
    expected = 4 * (7 * (HOP + 10 * NS + 3 * 655 * NS) + 7 * (HOP + 10 * NS) + 10 * NS)
    assert last_ps(0) == expected


def test_parts_that_are_under_way_together_end_sooner():
    # No message waits for another here, so 4 parts two at a time take half as long.
    assert 2 * last_ps(0, **{"active-chunks-per-dimension": 2}) == last_ps(0)
    assert 4 * last_ps(0, **{"active-chunks-per-dimension": 9}) == last_ps(0)


def test_a_slow_memory_is_read_to_the_ns_and_never_in_negative_time():
    # 1 kB/s: 7 steps with three passes of 32 KiB, 32.768 s each.
    changes = {"preferred-dataset-splits": 1, "local-mem-bw": 1e-6}
    step_ps = LATENCY + 2**17 * PER_BYTE
    assert last_ps(0, **changes) == 14 * (step_ps + 10 * NS) + 10 * NS + 7 * 3 * 131_072 * 10**9


def test_a_memory_that_takes_more_than_ten_days_is_refused():
    system = astra.read('{"local-mem-bw": 1e-6}', "x.json")
    files = [trace(node(1, 7, comm_type=0, comm_size=2**50))] * 8
    with pytest.raises(FieldError, match="lasts 1.41e.20 ns; three of them at most ten days"):
        chakra.read(files, chakra.Missing(rings, system=system))


def test_a_gather_adds_nothing_up_and_has_what_each_rank_gives():
    one_part = 7 * (LATENCY + 2**18 * PER_BYTE + 10 * NS) + 10 * NS
    assert last_ps(2) == 4 * one_part


def test_a_roofline_is_that_of_the_system():
    text = json.dumps(GIVEN | {"roofline-enabled": 1, "peak-perf": 2})
    missing = chakra.Missing(rings, system=astra.read(text, "x.json"))
    graph = chakra.read([trace(node(1, 4, num_ops=8_000_000, tensor_size=8))], missing).graph

    assert graph.duration_ps.tolist() == [4_000_000]  # 8 M operations at 2 TFLOPS


def test_keys_that_decide_nothing_are_said():
    missing = chakra.Missing(rings, system=astra.read(json.dumps(GIVEN), "x.json"))
    found = chakra.read([trace(node(1, 4, [], 7))], missing)
    assert found.remarks == ("trace.*.et: keys boost-mode of the system are not used.",)


def test_messages_of_all_parts_are_counted_before_they_are_made():
    # 8 x 14 messages for each of a million parts.
    with pytest.raises(FieldError, match="117,440,512 with this all_reduce of 8 ranks; at most"):
        last_ps(0, **{"preferred-dataset-splits": 2**20})


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "x.json: is no JSON"),
        ("[" * 100_000, "x.json: is no JSON"),
        ("[]", "x.json: is no object"),
        ('{"endpoint-delay": -1}', "x.json: endpoint-delay: '-1' is no whole number, 0 to"),
        (
            '{"preferred-dataset-splits": 0}',
            "preferred-dataset-splits: '0' is no whole number, 1 to",
        ),
        ('{"local-mem-bw": "fast"}', "local-mem-bw: 'fast' is neither 0 nor a number from 1e-06"),
        ('{"local-mem-bw": NaN}', "local-mem-bw: 'nan' is neither 0 nor"),
        ('{"local-mem-bw": 1e-11}', "local-mem-bw: '1e-11' is neither 0 nor"),
        ('{"local-mem-bw": -1}', "local-mem-bw: '-1' is neither 0 nor"),
        (
            '{"roofline-enabled": 1, "local-mem-bw": 5, "peak-perf": 1e-13}',
            "peak-perf: '1e-13' is neither 0 nor",
        ),
        ('{"roofline-enabled": 1}', "a roofline needs peak-perf and local-mem-bw."),
        ('{"model-shared-bus": 1}', "model-shared-bus is not simulated. Write 0."),
        ('{"all-reduce-implementation": ["ring", "ring"]}', "2 dimensions; operations of one"),
        ('{"all-reduce-implementation": "ring"}', "write a list with a name."),
        ('{"all-reduce-implementation": ["doubleBinaryTree"]}', "'doubleBinaryTree' is none of"),
        ('{"endpoint-dely": 3}', "'endpoint-dely' is not read; known are"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, message):
    with pytest.raises(FieldError) as caught:
        astra.read(text, "x.json")
    assert message in str(caught.value) and "\n" not in str(caught.value)
