# SPDX-License-Identifier: GPL-2.0-only
"""System files of ASTRA-sim: times by its formulas, and what is refused."""

import json
from collections import Counter

import numpy as np
import pytest
from task_times import LATENCY, PER_BYTE, ends, of_chakra
from test_chakra import node, rings, trace

from pyorch.spec.fields import FieldError
from pyorch.training import MESSAGE, astra, chakra, check

NS = 1000
GIVEN = {
    "endpoint-delay": 10, "preferred-dataset-splits": 4, "active-chunks-per-dimension": 1,
    "local-mem-bw": 50, "all-reduce-implementation": ["ring"], "boost-mode": 0,
}  # fmt: skip


def last_ps(comm_type, **changes):
    """Return when the last of 8 ranks has its result of 1 MiB."""
    system = astra.read(json.dumps(GIVEN | changes), "x.json")
    files = [trace(node(1, 7, comm_type=comm_type, comm_size=2**20))] * 8
    graph = of_chakra(files, chakra.Missing(rings, system=system)).graph
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


def graph_of_direct(name="direct", splits=1):
    """Return an all-reduce of 8 MB of 8 ranks, and which of its messages wait for which."""
    changes = {"all-reduce-implementation": [name], "preferred-dataset-splits": splits}
    system = astra.read(json.dumps(GIVEN | changes), "x.json")
    files = [trace(node(1, 7, comm_type=0, comm_size=8_000_000))] * 8
    return of_chakra(files, chakra.Missing(rings, system=system)).graph


@pytest.mark.parametrize("name", ["direct", "oneDirect"])
def test_a_direct_all_reduce_sends_parts_to_reduce_and_then_to_gather(name):
    # AllToAll.cc: 2 (n - 1) messages of S/n leave each rank, the second half when all that it
    # reduces have come.
    graph = graph_of_direct(name)
    sent = np.flatnonzero(graph.kind == MESSAGE)
    pairs = Counter(zip(graph.device[sent].tolist(), graph.peer[sent].tolist(), strict=True))

    assert graph.size_bytes[sent].tolist() == [1_000_000] * 112
    assert pairs == {(a, b): 2 for a in range(8) for b in range(8) if a != b}
    # Three passes of 1 MB at 50 GB/s take 60 us.
    step = LATENCY + 10**6 * PER_BYTE + 10 * NS
    assert set(ends(graph)[sent[:56]]) == {10 * NS + LATENCY + 10**6 * PER_BYTE}
    assert ends(graph).max() == 10 * NS + 2 * step + 60_000 * NS
    before = {row: set() for row in range(len(graph.kind))}
    for task, after in zip(graph.task.tolist(), graph.after.tolist(), strict=True):
        before[task].add(after)
    for row in sent[56:]:
        waits = {after for barrier in before[row] for after in before[barrier]} & set(sent.tolist())
        assert waits == set(sent[:56][graph.peer[sent[:56]] == graph.device[row]].tolist())


def test_a_direct_all_reduce_in_parts_ends_one_before_the_next():
    step = LATENCY + 250_000 * PER_BYTE + 10 * NS
    one_part = 10 * NS + 2 * step + 15_000 * NS
    assert ends(graph_of_direct(splits=4)).max() == 4 * one_part


def test_a_slow_memory_is_read_to_the_ns_and_never_in_negative_time():
    # 1 kB/s: 7 steps with three passes of 32 KiB, 32.768 s each.
    changes = {"preferred-dataset-splits": 1, "local-mem-bw": 1e-6}
    step_ps = LATENCY + 2**17 * PER_BYTE
    assert last_ps(0, **changes) == 14 * (step_ps + 10 * NS) + 10 * NS + 7 * 3 * 131_072 * 10**9


def test_a_memory_that_takes_more_than_ten_days_is_refused():
    system = astra.read('{"local-mem-bw": 1e-6}', "x.json")
    files = [trace(node(1, 7, comm_type=0, comm_size=2**50))] * 8
    with pytest.raises(FieldError, match="lasts 1.41e.20 ns; three of them at most ten days"):
        of_chakra(files, chakra.Missing(rings, system=system))


def test_a_gather_adds_nothing_up_and_has_what_each_rank_gives():
    one_part = 7 * (LATENCY + 2**18 * PER_BYTE + 10 * NS) + 10 * NS
    assert last_ps(2) == 4 * one_part


def test_a_roofline_is_that_of_the_system():
    text = json.dumps(GIVEN | {"roofline-enabled": 1, "peak-perf": 2})
    missing = chakra.Missing(rings, system=astra.read(text, "x.json"))
    graph = of_chakra([trace(node(1, 4, num_ops=8_000_000, tensor_size=8))], missing).graph

    assert graph.duration_ps.tolist() == [4_000_000]  # 8 M operations at 2 TFLOPS


def test_keys_that_decide_nothing_are_said():
    missing = chakra.Missing(rings, system=astra.read(json.dumps(GIVEN), "x.json"))
    found = of_chakra([trace(node(1, 4, [], 7))], missing)
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
        ('{"local-mem-bw": "fast"}', "local-mem-bw: 'fast' is no number from 0 to a billion"),
        ('{"local-mem-bw": NaN}', "local-mem-bw: 'nan' is no number from"),
        ('{"local-mem-bw": 1e-11}', "local-mem-bw: '1e-11' is less than 0.000001, and not 0"),
        ('{"local-mem-bw": -1}', "local-mem-bw: '-1' is no number from"),
        (
            '{"roofline-enabled": 1, "local-mem-bw": 5, "peak-perf": 1e-13}',
            "peak-perf: '1e-13' is less than",
        ),
        ('{"roofline-enabled": 1}', "a roofline needs peak-perf and local-mem-bw."),
        ('{"model-shared-bus": 1}', "model-shared-bus is not simulated. Write 0."),
        ('{"all-reduce-implementation": []}', "all-reduce-implementation: 0 dimensions; 1 to 8"),
        ('{"all-reduce-implementation": "ring"}', "write a list of names."),
        (
            '{"all-reduce-implementation": ["ring", "oneRing"]}',
            "'oneRing' is of all dimensions tog",
        ),
        (
            '{"all-reduce-implementation": ["ring", "ring"],'
            ' "all-gather-implementation": ["ring"]}',
            "x.json: implementations of 1 and of 2 dimensions. Write as many for each operation.",
        ),
        ('{"collective-optimization": "best"}', "'best' is neither baseline nor localBWAware"),
        ('{"all-reduce-implementation": ["doubleBinaryTree"]}', "'doubleBinaryTree' is none of"),
        ('{"endpoint-dely": 3}', "'endpoint-dely' is not read; known are"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, message):
    with pytest.raises(FieldError) as caught:
        astra.read(text, "x.json")
    assert message in str(caught.value) and "\n" not in str(caught.value)


#: Two dimensions: ranks 2i and 2i + 1 are a pair, and every second one is in a ring of four.
TWO = {f"{name}-implementation": ["ring", "ring"]
       for name in ("all-reduce", "all-gather", "reduce-scatter")} | {
    "collective-optimization": "localBWAware", "preferred-dataset-splits": 1}  # fmt: skip


def test_how_dimensions_are_combined_is_used_where_there_are_several():
    unused = [
        astra.read(json.dumps(GIVEN | more), "x.json").unused
        for more in ({"collective-optimization": "localBWAware"}, TWO)
    ]

    assert unused == [("boost-mode", "collective-optimization"), ("boost-mode",)]


def graph_of_two(comm_type, size=2**20, dimensions=(2, 4), **changes):
    system = astra.read(json.dumps(GIVEN | TWO | changes), "x.json")
    files = [trace(node(1, 7, comm_type=comm_type, comm_size=size))] * 8
    graph = of_chakra(files, chakra.Missing(rings, {}, dimensions, system=system)).graph
    check(graph)
    return graph


def steps(n, size, added=False):
    """Return how long n steps of a ring last [ps], with what is added and 10 ns for each."""
    passes = 3 * (size // 50) * added  # 50 GB/s are 50 B in a ns
    return n * (LATENCY + size * PER_BYTE + (10 + passes) * NS)


#: Parts of 1 MiB: reduced among two, reduced and gathered among four, gathered among two.
UP = 10 * NS + steps(1, 2**19, added=True)
AROUND = 10 * NS + steps(3, 2**17, added=True) + steps(3, 2**17)
DOWN = 10 * NS + steps(1, 2**19)


def test_an_all_reduce_goes_up_the_dimensions_and_back():
    graph = graph_of_two(0)

    assert ends(graph).max() == UP + AROUND + DOWN
    sent = graph.kind == MESSAGE
    pairs = set(zip(graph.device[sent].tolist(), graph.peer[sent].tolist(), strict=True))
    assert pairs == {(r, r ^ 1) for r in range(8)} | {(r, (r + 2) % 8) for r in range(8)}


def test_an_all_reduce_that_is_not_optimized_is_one_in_each_dimension():
    both = 20 * NS + sum(
        steps(n - 1, 2**20 // n, added=True) + steps(n - 1, 2**20 // n) for n in (2, 4)
    )
    assert ends(graph_of_two(0, **{"collective-optimization": "baseline"})).max() == both


def test_a_direct_all_reduce_of_some_dimensions_sends_parts():
    # Reduced among two, reduced and gathered among four at once, gathered among two.
    graph = graph_of_two(0, **{"all-reduce-implementation": ["ring", "direct"]})
    around = 10 * NS + steps(1, 2**17, added=True) + steps(1, 2**17)
    assert ends(graph).max() == UP + around + DOWN
    sizes = Counter(graph.size_bytes[graph.kind == MESSAGE].tolist())
    assert sizes == {2**19: 16, 2**17: 2 * 3 * 8}

    both = {"all-reduce-implementation": ["direct"] * 2, "collective-optimization": "baseline"}
    sizes = Counter(graph_of_two(0, **both).size_bytes.tolist())
    assert (sizes[2**19], sizes[2**18]) == (2 * 8, 2 * 3 * 8)


def test_a_gather_begins_in_the_last_dimension_and_a_scatter_in_the_first():
    # Each rank brings 64 KiB: three steps among four, then four times as much to the other.
    gather = 20 * NS + steps(3, 2**16) + steps(1, 2**18)
    assert ends(graph_of_two(2, 2**16)).max() == gather
    scatter = UP + 10 * NS + steps(3, 2**17, added=True)
    assert ends(graph_of_two(7)).max() == scatter


def test_parts_are_in_several_dimensions_at_a_time_and_in_each_in_turn():
    # Four parts of 1 MiB: the k-th is reduced behind the one before, and gathered behind that
    # and behind the last reduction.
    up = around = down = 0
    for k in range(1, 5):
        up = k * UP
        around = max(around, up) + AROUND
        down = max(down, around, 4 * UP) + DOWN
    changes = {"preferred-dataset-splits": 4, "active-chunks-per-dimension": 1}

    assert ends(graph_of_two(0, 2**22, **changes)).max() == down
    changes["active-chunks-per-dimension"] = 4  # nothing waits: messages share no link here
    assert ends(graph_of_two(0, 2**22, **changes)).max() == UP + AROUND + DOWN


def test_a_dimension_of_one_rank_and_those_that_are_not_involved_do_nothing():
    three = {f"{name}-implementation": ["ring"] * 3 for name in ("all-reduce", "all-gather",
             "reduce-scatter")}  # fmt: skip
    assert ends(graph_of_two(0, dimensions=(2, 1, 4), **three)).max() == UP + AROUND + DOWN


def test_a_communicator_of_some_ranks_is_one_ring():
    system = astra.read(json.dumps(GIVEN | TWO), "x.json")
    files = [trace(node(1, 7, comm_type=0, comm_size=2**20, pg_name="5")) for _ in range(4)]
    files += [trace(node(1, 4, [], 7))] * 4
    missing = chakra.Missing(rings, {"5": [0, 1, 2, 3]}, (2, 4), system=system)
    with pytest.raises(FieldError, match="every operation involves all of them"):
        of_chakra(files, missing)
    graph = of_chakra(files, missing._replace(dimensions=())).graph
    in_ring = 10 * NS + steps(3, 2**18, added=True) + steps(3, 2**18)
    assert ends(graph).max() == in_ring


def test_the_ranks_of_each_dimension_must_be_said():
    with pytest.raises(FieldError, match=r"\[\]: the system has 2 dimensions. Write how many"):
        graph_of_two(0, dimensions=())
    with pytest.raises(FieldError, match=r"\[2, 2\] have 4 ranks; the trace has 8"):
        graph_of_two(0, dimensions=(2, 2))


def test_an_algorithm_that_cannot_do_an_operation_is_refused():
    rings_too = {"all-to-all-implementation": ["ring", "ring"]}
    with pytest.raises(FieldError, match="trace.0.et: node 1: ring does no all_to_all"):
        graph_of_two(6, **rings_too)
