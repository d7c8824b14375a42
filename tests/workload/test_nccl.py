# SPDX-License-Identifier: GPL-2.0-only
"""NCCL's collectives: what it chooses is what was seen, and messages carry what they must."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import spec
from pyorch.collective import ring
from pyorch.collective._graph import Call
from pyorch.errors import SpecError
from pyorch.metrics.nccl_tests import bus_factor
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked
from pyorch.workload._nccl_choice import Machine, choose, comm_channels, costs
from pyorch.workload._queue_pairs import QueuePairs, over_queue_pairs
from pyorch.workload.nccl import on_wire_bytes, planned

ROOT = Path(__file__).parents[2]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
KI, MI, GI = 1 << 10, 1 << 20, 1 << 30
TEXT = """
name: gpus
topology: {{type: rails, devices: 4, rail: {{type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 1}}, scale_up: {{rate: 3 Tb/s, delay: 100 ns}}}}
link: {{rate: 400 Gb/s, delay: 500 ns}}
switch: {{buffer: none, programs: [{{type: ns3::InNetworkReduction, attributes: {{Transport: 1}}}}]}}
workload: {{type: nccl, {load}}}
transport: [{{name: rdma, type: ns3::RoceTransport}}, {{name: sharp, type: ns3::ReductionTransport}}]
stop: 1 s
"""  # noqa: E501
FOUR_NODES = "operation: all_reduce, ranks: 16, local: 4, nic_rate: 400 Gb/s"


def plan(load):
    (run,) = spec.plan(parse_scenario(TEXT.format(load=load), "gpus.yaml"), typeids_file=TYPEIDS)
    return run.spec


def params(load):
    return plan(load).workload[0].params


def names(choice):
    return choice.algorithm, choice.protocol


def test_the_example_of_the_page_is_a_whole_scenario():
    page = (ROOT / "docs" / "scenarios.md").read_text().partition("### NCCL's collectives")[2]
    text = page.partition("```yaml\n")[2].partition("```")[0]
    runs = list(spec.plan(parse_scenario(text, "scenarios.md"), typeids_file=TYPEIDS))

    assert len(runs) == 4 and all(len(input_tables(run.spec)["flows"]["src"]) for run in runs)


@pytest.mark.parametrize("size", [2**k for k in range(15, 35)])
def test_eight_gpus_choose_what_was_logged_on_eight_h200(size):
    # stas00/ml-engineering, all-reduce-8xH200.md, NCCL 2.27.7: "RING with the LL protocol for
    # payloads up to 1MiB, then NVLS with SIMPLE from 2MiB up".
    seen = ("ring", "ll") if size <= MI else ("nvls", "simple")
    assert names(choose(Machine("hopper", 8, 8, 0, True), "all_reduce", size)) == seen


@pytest.mark.parametrize("n, seen", [(4, "ring"), (5, "nvls"), (6, "nvls"), (7, "nvls")])
def test_fewer_gpus_choose_what_was_logged_at_8_gib(n, seen):
    # The same source, network/README.md, section SHARP: NVLS from 5 GPUs on.
    assert choose(Machine("hopper", n, n, 0, True), "all_reduce", 8 * GI).algorithm == seen


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
def test_other_collectives_are_rings_as_was_logged_at_16_gib(operation):
    found = choose(Machine("hopper", 8, 8, 0, True), operation, 16 * GI)
    assert names(found) == ("ring", "simple")


def test_channels_are_those_of_logs():
    # "24 coll channels" of 8 H100 in one node; "Channel 08/16" of H100 nodes with 8 NICs of
    # 400 Gb/s (NVIDIA/nccl issue 1453).
    assert comm_channels(Machine("hopper", 8, 8, 0, False)) == 24
    assert comm_channels(Machine("ampere", 8, 8, 0, False)) == 24
    assert comm_channels(Machine("hopper", 24, 8, 400 * 10**9, False)) == 16


@pytest.mark.parametrize(
    "names, size, expected_us",
    [
        # By hand from the constants: 14 steps; 141, 331.2 and 360 GB/s of a bus, 8/14 of that of
        # data; trees up and down seven steps each, half of 92 % of 360 GB/s times 7/9, at a share
        # of 0.6 of it at 2 MiB with LL128.
        (("ring", "ll"), MI, 6.6 + 14 * 0.6 + MI / (141e3 * 8 / 14)),
        (("ring", "ll128"), MI, 14 + 14 * 1.9 + MI / (0.92 * 360e3 * 8 / 14)),
        (("ring", "simple"), MI, 8.4 + 14 * 3.4 + MI / (360e3 * 8 / 14)),
        (("tree", "ll128"), 2 * MI, 14 + 14 * 1.25 + 2 * MI / (0.6 * 7 / 9 * 0.92 * 180e3)),
        (("nvls", "simple"), MI, 25 + MI / (2 * 50e3 * 0.85 * 7 * 8 / 14)),
    ],
)
def test_expected_times_are_latency_and_bytes_over_bandwidth(names, size, expected_us):
    found = costs(Machine("hopper", 8, 8, 0, True), "all_reduce", size)
    assert found[names] == pytest.approx(expected_us, rel=1e-12)


def test_a_user_may_leave_one_algorithm_and_protocol():
    choice = params(f"{FOUR_NODES}, bytes: 1 MiB, algorithm: tree, protocol: simple").choice
    assert names(choice) == ("tree", "simple")


@pytest.mark.parametrize("algorithm, protocol", [("ring", "ll"), ("ring", "ll128"), ("ring", "simple"), ("tree", "ll"), ("tree", "simple")])  # fmt: skip # noqa: E501
@pytest.mark.parametrize("size", [8, 4 * KI, 3 * MI + 4, 100 * MI])
def test_all_reduces_send_the_least_there_is_and_flags(algorithm, protocol, size):
    # 2 (n - 1) S in all, of rings and of both trees together: each byte of the result is added
    # n - 1 times and handed on as often. Lines that are not full may add one to each message.
    its = params(f"{FOUR_NODES}, bytes: {size} B, algorithm: {algorithm}, protocol: {protocol}")
    graph, _ = planned(its)
    data, line = {"ll": (8, 16), "ll128": (120, 128), "simple": (1, 1)}[protocol]
    least = 2 * (its.ranks - 1) * size * line / data

    assert least <= graph.bytes.sum() < least + len(graph.src) * 128
    assert graph.reduced.sum() * 2 == len(graph.src)


def test_rings_between_nodes_leave_and_enter_by_one_place_in_each_channel():
    # NVIDIA/nccl issue 1453: in channel 5 of 8 GPUs all nodes are entered at one place and left at
    # the one beside it, in channel 6 at the next ones. So no two channels share a NIC to receive.
    its = params(f"{FOUR_NODES}, bytes: 64 MiB, algorithm: ring, protocol: simple")
    graph, pair = planned(its)
    far = graph.src // 4 != graph.dst // 4
    for channel in range(its.choice.channels):
        rows = far & (pair == channel + 1)
        assert set((graph.dst[rows] % 4).tolist()) == {channel % 4}
        assert set((graph.src[rows] % 4).tolist()) == {(channel - 1) % 4}
    # On the wrong rail a message is relayed over NVLink, as PXN does.
    flows = input_tables(plan(f"{FOUR_NODES}, bytes: 64 MiB, algorithm: ring, protocol: simple"))
    assert len(flows["flows"]["flow"]) == len(graph.src) + far.sum()


def test_trees_between_nodes_stay_on_one_rail_in_each_pair_of_channels():
    its = params(f"{FOUR_NODES}, bytes: 64 MiB, algorithm: tree, protocol: simple")
    graph, pair = planned(its)
    far = graph.src // 4 != graph.dst // 4
    assert (graph.src[far] % 4 == graph.dst[far] % 4).all()
    assert len(set((graph.src[far] % 4).tolist())) == 4


def test_steps_cost_what_nccl_says_less_what_links_take():
    # Simple: 14 us between nodes, of which PXN's device adds two links of 100 ns nowhere: the
    # devices of one rail are 2 x 500 ns apart in a leaf. In a node posts count: 3 us, at least
    # NVLink's 3.4 us, of which two links of 100 ns take 0.2.
    choice = params(f"{FOUR_NODES}, bytes: 64 MiB, algorithm: ring, protocol: simple").choice
    assert (choice.base_ps, choice.step_ps, choice.far_step_ps) == (
        8_400_000,
        3_200_000,
        13_000_000,
    )
    waits = input_tables(plan(f"{FOUR_NODES}, bytes: 64 MiB, algorithm: ring, protocol: simple"))
    assert set(np.unique(waits["dependencies"]["delay_ps"])) == {0, 3_200_000, 13_000_000}


def test_point_to_point_sends_to_all_or_to_the_next():
    all_to_all = planned(params("operation: all_to_all, ranks: 4, local: 4, bytes: 4 MiB"))[0]
    assert len(all_to_all.src) == 12 and set(all_to_all.bytes.tolist()) == {MI}
    graph = planned(params("operation: send_recv, ranks: 4, local: 4, bytes: 4 MiB"))[0]
    assert ((graph.src + 1) % 4 == graph.dst).all() and set(graph.bytes.tolist()) == {4 * MI}


def test_switches_add_on_one_node_and_get_the_sum_once_more_from_each():
    # nccl-tests issue 153: each GPU sends S, gets S/n of the sum and sends that to all, S + S/n up.
    its = plan("operation: all_reduce, ranks: 4, local: 4, bytes: 680 MB, in_network: sharp,"
               " algorithm: nvls")  # fmt: skip
    (load,) = its.workload
    assert load.transport == 1
    graph = planned(load.params)[0]
    assert graph.bytes.tolist() == [680_000_000 * 5 // 4 * 100 // 85] * 4


@pytest.mark.parametrize("operation, factor", [("all_reduce", 1.75), ("all_gather", 0.875), ("reduce_scatter", 0.875), ("all_to_all", 0.875), ("broadcast", 1), ("send_recv", 1)])  # fmt: skip # noqa: E501
def test_factors_of_the_bus_are_those_of_nccl_tests(operation, factor):
    assert bus_factor(operation, 8) == factor  # doc/PERFORMANCE.md, Summary; src/sendrecv.cu: 1


@pytest.mark.parametrize("load", [f"{FOUR_NODES}, bytes: 3 MB", "operation: broadcast, ranks: 4, local: 4, bytes: 1 kB", f"{FOUR_NODES}, bytes: 1 MB, queue_pairs: {{per_connection: 4, split: true}}"])  # fmt: skip # noqa: E501
def test_a_resolved_spec_says_the_choice_and_is_read_as_it_was_written(load):
    made = plan(load).plain()
    assert made["workload"][0]["choice"]["algorithm"] in ("ring", "tree")
    assert checked(made, "spec.json").plain() == made
    made["workload"][0]["choice"]["channels"] += 1
    with pytest.raises(SpecError, match="channels"):
        checked(made, "spec.json")


ONE_NODE = "operation: all_reduce, bytes: 1 MB, local: 4"


@pytest.mark.parametrize(
    "load, message",
    [
        (f"{ONE_NODE}, ranks: 6", "ranks: 6 GPUs are not nodes of 4. Write a multiple of 4."),
        (f"{ONE_NODE}, ranks: 8", "ranks: 2 nodes of 4 GPUs: write nic_rate."),
        (
            f"{ONE_NODE}, ranks: 4, nic_rate: 1 Gb/s",
            "nic_rate: 1 nodes of 4 GPUs: leave it out.",
        ),
        (
            f"{FOUR_NODES}, bytes: 1 MB, algorithm: nvls",
            "algorithm: nvls with protocol any does no all_reduce of these GPUs. Write any; nvls"
            " and collnet need in_network.",
        ),
        (
            f"{FOUR_NODES}, bytes: 1 MB, choice: 3",
            "choice: is NCCL's. Leave it out; write algorithm and protocol.",
        ),
        (
            f"{FOUR_NODES}, bytes: 1 MB, first_host: 4",
            "ranks: 16 GPUs from host 4 on; there are 16 hosts. Lower ranks.",
        ),
        (
            f"{FOUR_NODES}, bytes: 1 MB, in_network: shrp",
            "in_network: no transport is called 'shrp'. There are rdma, sharp. Did you mean sharp?",
        ),
        (f"{FOUR_NODES}, bytes: 0 B", "bytes: 0 B is out of range; it must be at least 1 B."),
    ],
)
def test_what_nccl_cannot_do_is_refused(load, message):
    with pytest.raises(SpecError) as error:
        plan(load)
    assert str(error.value) == f"gpus.yaml:6: workload.{message}"


@settings(max_examples=60, deadline=None)
@given(
    size=st.integers(1, 10**6), n=st.integers(2, 5), count=st.integers(1, 9), split=st.booleans()
)
def test_queue_pairs_carry_all_bytes_and_nothing_starts_early(size, n, count, split):
    graph = ring.graph(Call("all_reduce", n, size * n), ring.Params())
    lane = np.zeros(len(graph.src), dtype=np.int64)
    pairs = QueuePairs(per_connection=count, split=split)
    cut, pair = over_queue_pairs(graph, lane, pairs, np.ones(len(lane), bool))

    assert cut.bytes.sum() == graph.bytes.sum() and (cut.bytes > 0).all()
    assert pair.min() == 1 and pair.max() <= count
    for end in (graph.src, cut.src):
        assert len(np.unique(end)) == n
    sent = np.zeros((n, count + 1), dtype=np.int64)
    np.add.at(sent, (cut.src, pair), 1)
    if not split:  # one after the other: no queue pair carries two messages more than another
        assert (np.ptp(sent[:, 1:], axis=1) <= 1).all()
        return
    parts = -(-size // (-(-size // (count * 128)) * 128))
    assert len(cut.src) == parts * len(graph.src)
    assert len(cut.flow) == parts**2 * len(graph.flow)
    assert (cut.dst[cut.after] == cut.src[cut.flow]).all()
    # Each part waits for all parts of one message.
    assert (np.bincount(cut.flow) % parts == 0).all()


def test_lines_are_full_or_one_more():
    assert [on_wire_bytes(n, "ll128") for n in (1, 120, 121)] == [128, 128, 256]
    assert [on_wire_bytes(n, "ll") for n in (1, 8, 9)] == [16, 16, 32]
    assert [on_wire_bytes(n, "simple") for n in (1, 16, 17)] == [16, 16, 32]
