# SPDX-License-Identifier: GPL-2.0-only
"""Collectives on hosts: who is in which group, what waits for what, and what is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import spec
from pyorch.errors import SpecError, TheoryError
from pyorch.render import input_tables, workload_of_flows
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked
from pyorch.theory import chains

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
TEXT = """
name: groups
topology: {{type: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 2}}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: none}}
workload:
{loads}
transport: {{type: ns3::RoceTransport}}
stop: 1 ms
"""
RING = "{type: collective, algorithm: ring, operation: all_gather, bytes: 840 B, "


def plan(*loads, seed=1):
    text = TEXT.format(loads="\n".join(f"  - {load}" for load in loads))
    scenario = parse_scenario(text, "groups.yaml")
    (run,) = spec.plan(scenario, sets=[("seed", seed)], typeids_file=TYPEIDS)
    return run.spec


def tables(*loads, seed=1):
    return input_tables(plan(*loads, seed=seed))


def groups(flows, size):
    """Return the hosts of each group by rank: the sources of the first step of a ring."""
    per_group = size * (size - 1)
    return flows["src"].reshape(-1, per_group)[:, :size].tolist()


@pytest.mark.parametrize(
    "more, expected",
    [
        ("ranks: 4, groups: 2", [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (
            "ranks: 4, groups: 4, placement: strided, stride: 4",
            [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]],
        ),
        (
            "ranks: 2, groups: 6, placement: strided, stride: 4",
            [[0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13]],
        ),
        ("ranks: 4, groups: 2, first_host: 6", [[6, 7, 8, 9], [10, 11, 12, 13]]),
        # 4 hosts below each leaf: rank k is below leaf k
        (
            "ranks: 4, groups: 2, placement: aligned, first_host: 2",
            [[2, 6, 10, 14], [3, 7, 11, 15]],
        ),
        ("groups: [[3, 1], [15, 0, 7]]", None),
    ],
)
def test_ranks_are_placed_as_written(more, expected):
    flows = tables(f"{RING}{more}}}")["flows"]
    if expected is None:
        assert flows["src"].tolist()[:2] == [3, 1] and flows["dst"].tolist()[:2] == [1, 3]
        assert flows["src"].tolist()[2:5] == [15, 0, 7] and len(flows["src"]) == 2 + 6
    else:
        assert groups(flows, len(expected[0])) == expected


def test_random_groups_share_no_host_and_every_seed_draws_anew():
    load = f"{RING}ranks: 4, groups: 3, placement: random}}"
    drawn = [groups(tables(load, seed=seed)["flows"], 4) for seed in range(1, 30)]

    for members in drawn:
        assert len({host for group in members for host in group}) == 12
    assert len({json.dumps(members) for members in drawn}) == 29  # of 16! / 4! ways
    assert {host for members in drawn for group in members for host in group} == set(range(16))


def test_what_waits_is_of_the_same_group_and_comes_to_its_sender():
    got = tables(
        "{type: single, message: 1 kB, source: 0, target: 5}",
        f"{RING}ranks: 4, groups: 4, step_delay: 7 ns}}",
    )
    flows, waits = got["flows"], got["dependencies"]
    row = {flow: index for index, flow in enumerate(flows["flow"].tolist())}
    flow, after = (np.array([row[i] for i in waits[name].tolist()]) for name in ("flow", "after"))

    assert len(flow) == 4 * 4 * 2
    assert (flows["dst"][after] == flows["src"][flow]).all()
    assert set(waits["delay_ps"].tolist()) == {7000} and not waits["at_sender"].any()
    spec_ = plan("{type: single, message: 1 kB, source: 0, target: 5}", f"{RING}ranks: 4}}")
    assert workload_of_flows(spec_).tolist() == [0] + [1] * 12


PAIRS = "queue_pairs: {per_connection: 2}"


@pytest.mark.parametrize(
    "what, ranks, chunks",
    [("direct, operation: all_to_all", 4, 8), ("ring, operation: all_reduce", 2, 8)],
)
def test_messages_take_queue_pairs_in_turns_beside_announcements(what, ranks, chunks):
    # A chunk has one message of 100 B for each ordered pair; of two ranks in a ring it has two.
    load = f"{{type: collective, algorithm: {what}, bytes: {100 * ranks * chunks} B,"
    load += f" ranks: {ranks}, chunks: {chunks}, {PAIRS}"
    for more in ("", ", clear_to_send: {buffers: 2}"):
        flows = pd.DataFrame(tables(load + more + "}")["flows"])
        announced = flows["bytes"] == 64
        taken = flows[~announced].groupby(["src", "dst"])["connection"]

        assert announced.sum() == (len(flows) // 2 if more else 0)
        # NCCL posts announcements to the first queue pair (src/transport/net_ib, p2p.h).
        assert (flows["connection"][announced] == 1).all()
        for _, own in taken:
            assert own.tolist() == [1, 2] * (len(own) // 2) and len(own) in (chunks, 2 * chunks)


def test_two_workloads_on_the_same_hosts_share_no_queue_pair():
    load = f"{RING}ranks: 4, {PAIRS}}}"
    single = "{type: single, message: 1 kB, source: 0, target: 5}"
    got = tables(load, single, load)["flows"]["connection"]

    assert set(got[:12].tolist()) == {1, 2} and got[12] == 0 and set(got[13:].tolist()) == {3, 4}


def test_announcements_take_no_step_delay():
    more = "ranks: 4, step_delay: 7 ns, reduction_rate: 8 Gb/s, clear_to_send: {buffers: 1}}"
    load = RING.replace("all_gather", "all_reduce") + more
    got = tables(load)
    waits, announced = got["dependencies"], got["flows"]["bytes"] == 64
    of_data = ~announced[waits["flow"]] & ~announced[waits["after"]]

    # Each of 24 messages waits for its announcement; all but those of step 0 for data. 210 B at
    # 1 GB/s last 210 ns; they are added in the first 3 of 6 steps.
    assert (waits["delay_ps"][~of_data] == 0).all() and (~of_data).sum() == 24 + 20
    assert sorted(waits["delay_ps"][of_data].tolist()) == 8 * [7_000] + 12 * [217_000]


SPLIT = "queue_pairs: {per_connection: 4, split: true}"


@pytest.mark.parametrize("more, parts", [("", 1), (PAIRS, 1), (SPLIT, 4)])
@pytest.mark.parametrize("announced", ["", "clear_to_send: {buffers: 2}"])
def test_parts_of_a_message_are_reduced_together(more, parts, announced):
    # A ring of two sends halves: 4096 kB take 327.68 us at 100 Gb/s, in however many parts they
    # come, and the message of the second step waits for that of the first. The last part decides.
    load = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 8192 kB, ranks: 2,"
    options = ["reduction_rate: 100 Gb/s", *filter(None, [more, announced])]
    got = tables(f"{load} {', '.join(options)}}}")
    waits, flows = got["dependencies"], got["flows"]
    is_data = flows["bytes"] > 64
    of_data = is_data[waits["flow"]] & is_data[waits["after"]]

    assert flows["bytes"][is_data].tolist() == [4_096_000 // parts] * 4 * parts
    assert waits["delay_ps"][of_data].tolist() == [327_680_000] * 2 * parts**2
    assert not waits["delay_ps"][~of_data].any()


def test_parts_of_unlike_bytes_are_reduced_as_one_message():
    # 300 B are parts of 128, 128 and 44 B on multiples of 128 B: 8 ns for a byte at 1 Gb/s.
    load = "{type: collective, algorithm: recursive_doubling, operation: all_reduce, bytes: 300 B,"
    got = tables(f"{load} ranks: 4, reduction_rate: 1 Gb/s, {SPLIT}}}")

    assert got["flows"]["bytes"].tolist() == [128, 128, 44] * 8
    assert set(got["dependencies"]["delay_ps"].tolist()) == {300 * 8_000}


@pytest.mark.parametrize(
    "algorithm", ["tree", "{type: pairwise, outstanding: 3}", "{type: hierarchical, local: 4}"]
)
def test_a_resolved_spec_is_read_as_it_was_written(algorithm):
    operation = {"t": "broadcast", "{type: p": "all_to_all", "{type: h": "all_reduce"}[
        algorithm[: 1 if algorithm[0] == "t" else 8]
    ]
    load = f"{{type: collective, algorithm: {algorithm}, operation: {operation}, bytes: 1600 B,"
    made = plan(f"{load} ranks: 16, step_delay: 5 ns, chunks: 2}}").plain()

    assert checked(made, "spec.json").plain() == made


def test_an_algorithm_from_a_file_is_named_by_what_it_holds(tmp_path):
    # Two ranks: each sends its half to be added, and gets the other half.
    steps = {0: (("s", 1), ("rrcs", 0), ("r", 1)), 1: (("s", 0), ("rrcs", 1), ("r", 0))}
    gpus = "".join(
        f'<gpu id="{rank}" i_chunks="2" o_chunks="0" s_chunks="0">'
        f'<tb id="0" send="{1 - rank}" recv="{1 - rank}" chan="0">'
        + "".join(
            f'<step s="{s}" type="{kind}" srcbuf="i" srcoff="{c}" dstbuf="i" dstoff="{c}" cnt="1"'
            ' depid="-1"/>'
            for s, (kind, c) in enumerate(own)
        )
        + "</tb></gpu>"
        for rank, own in steps.items()
    )
    head = '<algo coll="allreduce" nchunksperloop="2" ngpus="2" inplace="1">'
    (tmp_path / "two.xml").write_text(f"{head}{gpus}</algo>")
    file = tmp_path / "two.xml"
    load = f"{{type: collective, algorithm: {{type: msccl, file: {file}}}, operation: %s, ranks: %s"
    made = plan(f"{load % ('all_reduce', 2)}, groups: 3, bytes: 84 B}}")
    again = checked(made.plain(), "spec.json")

    assert again.plain() == made.plain()
    assert input_tables(again)["flows"]["bytes"].tolist() == [42] * 3 * 4
    for wrong, message in (
        (f"{load % ('all_gather', 2)}, bytes: 84 B}}", "workload.0.operation: "),
        (f"{load % ('all_reduce', 3)}, bytes: 84 B}}", "workload.0.ranks: "),
        (f"{load % ('all_reduce', 2)}, bytes: 85 B}}", "workload.0.bytes: "),
    ):
        with pytest.raises(SpecError, match=message):
            plan(wrong)


@pytest.mark.parametrize(
    "load, message",
    [
        (
            "{type: collective, algorithm: rign, operation: all_gather, bytes: 1 kB, ranks: 4}",
            "workload.0.algorithm: no collective 'rign'. Found in pyorch/collective:",
        ),
        (
            "{type: collective, algorithm: {type: ring, k: 1}, operation: all_gather, bytes: 1 kB,"
            " ranks: 4}",
            "workload.0.algorithm.k: ring has no parameters. Leave it out.",
        ),
        (
            "{type: collective, algorithm: {type: pairwise, outstanding: 0},"
            " operation: all_to_all, bytes: 1 kB, ranks: 4}",
            "workload.0.algorithm.outstanding: 0 is out of range; it must be at least 1.",
        ),
        (
            "{type: collective, algorithm: ring, operation: gather, bytes: 1 kB, ranks: 4}",
            "workload.0.operation: ring does no 'gather'. It does all_reduce, reduce_scatter,"
            " all_gather, broadcast. Did you mean all_gather?",
        ),
        (
            "{type: collective, algorithm: halving_doubling, operation: all_reduce, bytes: 1 kB,"
            " ranks: 6}",
            "workload.0.ranks: 6 is no power of two. Write 4 or 8.",
        ),
        (
            "{type: collective, algorithm: {type: hierarchical, local: 4}, operation: all_reduce,"
            " bytes: 1 kB, ranks: 10}",
            "workload.0.ranks: 10 ranks are not 1 x 4 x peers. Write a multiple of 4 from 8.",
        ),
        (
            f"{RING}ranks: 9}}",
            "workload.0.bytes: 840 B are not 9 equal parts. Write 837 B or 846 B.",
        ),
        (
            f"{RING}ranks: 4, chunks: 4}}",
            "workload.0.bytes: each of 4 chunks: 210 B are not 4 equal parts. Write 832 B or"
            " 848 B.",
        ),
        (f"{RING}ranks: 1}}", "workload.0.ranks: 1 ranks in each group. Write 2 or more"),
        (
            f"{RING}ranks: 4, groups: 5}}",
            "workload.0.groups: 5 groups of 4 ranks need 20 hosts; there are 16.",
        ),
        (
            f"{RING}ranks: 4, groups: 2, placement: strided, stride: 6}}",
            "workload.0.groups: 2 groups of 4 ranks need 20 hosts; there are 16.",
        ),
        (
            f"{RING}ranks: 4, placement: strided}}",
            "workload.0.stride: 0 with placement strided. placement strided takes every so many",
        ),
        (f"{RING}ranks: 4, stride: 2}}", "workload.0.stride: 2 with placement packed."),
        (
            f"{RING}ranks: 4, placement: aligned, first_host: 4}}",
            "workload.0.first_host: 1 group of 4 ranks need 17 hosts; there are 16. Lower"
            " first_host (",
        ),
        (
            f"{RING}ranks: 4, placement: random, first_host: 4}}",
            "workload.0.first_host: placement random draws from all hosts. Leave it out.",
        ),
        (
            f"{RING}groups: [[0, 1, 2], [3, 1]]}}",
            "workload.0.groups: host 1 is there 2 times; groups of one workload do not overlap.",
        ),
        (f"{RING}groups: [[0, 1], [2, 16]]}}", "workload.0.groups: there is no host 16. The 16"),
        (f"{RING}groups: [[0, 1], [2]]}}", "workload.0.groups: every group has two or more hosts."),
        (f"{RING}groups: [[0, 1]], ranks: 2}}", "workload.0.groups: lists the hosts, so leave"),
        (
            f"{RING}ranks: 4, groups: 0}}",
            "workload.0.groups: '0' is neither a number of groups nor a list of lists of hosts.",
        ),
        (f"{RING}groups: [[0, -1]]}}", "workload.0.groups: '[[0, -1]]' is neither a number"),
        (f"{RING}groups: []}}", "workload.0.groups: every group has two or more hosts."),
        (
            "{type: collective, algorithm: tree, operation: broadcast, bytes: 1048576 B, ranks: 16,"
            " chunks: 1048576}",
            "workload.0.groups: 15,728,640 messages in all; at most 5,000,000.",
        ),
        (f"{RING}ranks: 4, start: 2 ms}}", "workload.0.start: 2 ms is not before stop"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(load, message):
    with pytest.raises(SpecError, match=re.escape(message)) as error:
        plan(load)
    assert str(error.value).startswith("groups.yaml:") and "\n" not in str(error.value)


@settings(max_examples=100)
@given(st.data())
def test_the_longest_chain_is_found_in_any_graph(data):
    # Against a walk row by row: what a message waits for stands above it.
    n = data.draw(st.integers(1, 12))
    alone = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)))
    waits = [
        (flow, after, data.draw(st.integers(0, 5)))
        for flow in range(n) for after in range(flow) if data.draw(st.booleans())
    ]  # fmt: skip
    ends = []
    for row in range(n):
        ends.append(alone[row] + max([0, *(ends[a] + gap for f, a, gap in waits if f == row)]))
    order = data.draw(st.permutations(range(n)))  # the order of rows says nothing
    place = np.argsort(order)
    columns = np.array(waits, dtype=np.int64).reshape(-1, 3).T
    got = chains.earliest_ends_ps(alone[order], place[columns[0]], place[columns[1]], columns[2])

    assert got.tolist() == [ends[row] for row in order]


def test_messages_that_wait_for_each_other_have_no_chain():
    flow, after = np.array([[0, 1], [1, 0]])
    with pytest.raises(TheoryError, match="2 messages wait for each other"):
        chains.earliest_ends_ps(np.ones(3, dtype=np.int64), flow, after, np.zeros_like(flow))
