# SPDX-License-Identifier: GPL-2.0-only
"""All-reduces that switches add up, from YAML to tables: bytes on every link, losses, refusals."""

import re
from pathlib import Path

import pandas as pd
import pytest

import pyorch
from pyorch import spec
from pyorch.errors import SpecError
from pyorch.spec.scenario import parse_scenario
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = """\
name: reduction
topology: {{type: leaf_spine, leaves: 4, hosts_per_leaf: 4, spines: 2}}
link: {{rate: 800 Gb/s, delay: 500 ns{loss}}}
switch:
  buffer: 64 MB
  programs: [{program}]
workload: {{type: collective, algorithm: {algorithm}, operation: all_reduce, bytes: 4000000 B,
           ranks: 16}}
transport: {{type: {transport}{attributes}}}
stop: 1 s
"""
LEAVES, SPINES, HOSTS = range(16, 20), range(20, 22), range(16)
CHUNKS = 977  # of 4096 B: 976 and one of 2304 B
WIRE_BYTES = 4_000_000 + CHUNKS * (62 + 20)

pytestmark = pytest.mark.ns3


def run(folder, **changes):
    given = {
        "loss": "", "program": "{type: ns3::InNetworkReduction}", "algorithm": "in_network",
        "transport": "ns3::ReductionTransport", "attributes": "",
    }  # fmt: skip
    path = folder / "reduction.yaml"
    path.write_text(SCENARIO.format(**given | changes))
    return command_line("run", path, "--out", str(folder / "out"))


def tables(folder, **changes):
    done = run(folder, **changes)
    assert done.returncode == 0, done.stderr
    return (pd.read_parquet(folder / "out" / f"{name}.parquet") for name in ("flows", "ports"))


def test_every_link_of_the_tree_carries_the_vector_once_each_way(tmp_path):
    # Oracle: the tree. S up and S down at each host, whatever their number; a ring sends 2 15/16 S
    # from each host. Of two spines one has the tree: S on each of its links and directions.
    flows, ports = tables(tmp_path)
    sent = ports.set_index(["node", "peer"])["sent_bytes"]

    assert flows["receiver_end_ps"].notna().all() and flows["timeouts"].sum() == 0
    for host in HOSTS:
        leaf = LEAVES[host // 4]
        assert sent[host, leaf] == sent[leaf, host] == WIRE_BYTES
    by_spine = [[sent[ends] for leaf in LEAVES for ends in ((leaf, spine), (spine, leaf))]
                for spine in SPINES]  # fmt: skip
    assert sorted(by_spine) == [[0] * 8, [WIRE_BYTES] * 8]


def test_the_time_is_that_of_the_bytes_and_the_path_up_and_down(tmp_path):
    """A chunk lasts 4178 B x 10 ps; 6 links up to the root and down again, each 500 ns."""
    flows, _ = tables(tmp_path)

    hop_ps = 4178 * 10 + 500_000
    ideal_ps = 6 * hop_ps + 975 * 41_780 + (2304 + 82) * 10
    # The last chunk is short, so it may wait for the one before, and for nothing else.
    assert ideal_ps <= flows["receiver_end_ps"].max() <= ideal_ps + 6 * (4096 - 2304) * 10


@pytest.mark.parametrize("window", [20, 90])
def test_a_window_below_the_round_trip_limits_the_rate(window, tmp_path):
    # Oracle: a window of chunks each round trip of 6 links, 3.25 us, at most all of the link: the
    # knee is at 3.25 us / 41.78 ns = 78 chunks.
    flows, _ = tables(tmp_path, attributes=f", attributes: {{Window: {window}}}")

    round_ps = 6 * (4178 * 10 + 500_000)
    expected_ps = max(CHUNKS / window * round_ps, CHUNKS * 41_780 + round_ps)
    assert flows["receiver_end_ps"].max() == pytest.approx(expected_ps, rel=0.03)


@pytest.mark.parametrize("slots", [0, 1024])
def test_all_have_the_result_although_frames_are_lost(tmp_path, slots):
    # Oracle: the engine's identities, and that all 16 end. 1 % of 4 x 977 x 16 frames is lost.
    flows, ports = tables(
        tmp_path, loss=", loss: 0.01", attributes=", attributes: {Rto: 50 us}",
        program=f"{{type: ns3::InNetworkReduction, attributes: {{Slots: {slots}}}}}",
    )  # fmt: skip

    assert ports["dropped_loss_frames"].sum() > 100
    assert flows["receiver_end_ps"].notna().all()
    assert flows["retransmitted_packets"].sum() > 0


TWO_GROUPS = """\
name: reduction
topology: {topology}
link: {{rate: 800 Gb/s, delay: 500 ns}}
switch:
  buffer: 64 MB
  programs: [{{type: ns3::InNetworkReduction, attributes: {{Slots: {slots}}}}}]
workload: {{type: collective, operation: all_reduce, bytes: 4000000 B, {load}}}
transport:
  - {{name: sharp, type: ns3::ReductionTransport, attributes: {{Window: 128}}}}
  - {{name: rdma, type: ns3::RoceTransport}}
stop: 1 s
"""
BOTH = "algorithm: in_network, groups: 2, ranks: 8"
OTHERWISE = ", without_slots: {algorithm: ring, transport: rdma}"
RING_ALONE = "algorithm: ring, groups: [[8, 9, 10, 11, 12, 13, 14, 15]], transport: rdma"
ONE_IN_NETWORK = "algorithm: in_network, groups: [[0, 1, 2, 3, 4, 5, 6, 7]]"


def two_groups(load, slots=128, spines=0, more=""):
    """Return a scenario on one switch, or on 8 leaves of two hosts below spines."""
    leaf_spine = f"{{type: leaf_spine, leaves: 8, hosts_per_leaf: 2, spines: {spines}}}"
    topology = leaf_spine if spines else "{type: star, hosts: 16}"
    text = TWO_GROUPS.format(load=load, slots=slots, topology=topology)
    return parse_scenario(text + more, "two.yaml")


def times_ps(folder, load, spines=0):
    """Return of each group how many steps it has, and how long it takes."""
    ran = pyorch.run(two_groups(load, spines=spines).values, results=folder)
    groups = ran.metric("collective")
    return list(zip(groups["steps"], groups["completion_ps"], strict=True))


def test_a_group_without_slots_takes_a_ring_if_it_is_asked_to(tmp_path):
    # Oracle: each alone. The switch has slots for one group, no link carries both, and a ring has
    # 14 steps.
    (sharp,) = times_ps(tmp_path, ONE_IN_NETWORK)
    (ring,) = times_ps(tmp_path, RING_ALONE)
    found = times_ps(tmp_path, BOTH + OTHERWISE)

    assert [steps for steps, _ in found] == [1, 14]
    assert found[0][1] == pytest.approx(sharp[1], rel=0.01)
    assert found[1][1] == pytest.approx(ring[1], rel=0.01)
    # If it is not asked to, the host of rank 0 takes S of each of 7, and sends S to each.
    assert times_ps(tmp_path, BOTH)[1][1] > 7 * WIRE_BYTES * 10 > 3 * ring[1]


@pytest.mark.parametrize(
    ("groups", "spines", "n_fit", "slower"),
    [("groups: 2, ranks: 8", 2, 2, 1), ("groups: 2, ranks: 8", 1, 1, 3),
     ("groups: [[0, 1, 2, 3], [4, 5, 6, 7]]", 1, 2, 1)],
)  # fmt: skip
def test_a_plan_knows_which_groups_have_slots_in_the_engine(
    tmp_path, groups, spines, n_fit, slower
):
    # Groups of eight have four leaves each, of four two. Of two spines each group takes another;
    # of one the second gets nothing, so three sums come down to the leaf of its rank 0, where the
    # sum of all would. With two leaves the spine has nothing to add.
    load = f"algorithm: in_network, {groups}"
    times = [time for _, time in times_ps(tmp_path, load, spines)]
    planned = times_ps(tmp_path, load + OTHERWISE, spines)

    assert [steps for steps, _ in planned].count(1) == n_fit
    assert times[1] / times[0] == pytest.approx(slower, rel=0.1)


@pytest.mark.parametrize(
    ("load", "slots", "spines", "steps"),
    [
        (BOTH, 256, 1, [1, 1]),
        (BOTH, 127, 2, [14, 14]),
        # Groups of two have a leaf each; aligned ones of eight have all leaves.
        ("algorithm: in_network, groups: 8, ranks: 2", 128, 1, [1] * 8),
        ("algorithm: in_network, groups: 2, ranks: 8, placement: aligned", 255, 2, [1, 14]),
        ("algorithm: in_network, groups: 2, ranks: 8, placement: random", 255, 1, [1, 14]),
    ],
)
def test_slots_are_those_of_the_switches_that_groups_share(load, slots, spines, steps):
    (run,) = spec.plan(two_groups(load + OTHERWISE, slots, spines))
    found = [load.module.counts(load.params, size).steps
             for load in run.spec.workload for size in load.module.sizes(load.params)]  # fmt: skip
    assert found == steps


NOT_DIVIDED = {
    "in_network": ("ring", "workload.without_slots: ring asks for no slots."),
    "rdma": ("rmda", "no transport is called 'rmda'. There are sharp, rdma. Did you mean rdma?"),
    "algorithm: ring": ("algorithm: pairwise", "pairwise does no 'all_reduce'."),
    "transport: rdma": ("transport: sharp", "transport: ns3::ReductionTransport carries ring."),
}


@pytest.mark.parametrize("written", NOT_DIVIDED)
def test_what_groups_without_slots_cannot_do_is_refused(written):
    mistake, message = NOT_DIVIDED[written]
    with pytest.raises(SpecError, match=re.escape(message)):
        spec.plan(two_groups((BOTH + OTHERWISE).replace(written, mistake)))


def test_jobs_are_not_divided():
    jobs = "jobs: {type: packed, hosts: [16]}\n"
    with pytest.raises(SpecError, match="without_slots: makes two workloads of a job"):
        spec.plan(two_groups(BOTH + OTHERWISE, more=jobs))


REFUSED = {
    "switches that do not add up": (
        {"program": ""}, "switch.programs: no ns3::InNetworkReduction serves transport 0.",
    ),
    "a program of another transport": (
        {"program": "{type: ns3::InNetworkReduction, attributes: {Transport: 1}}"},
        "switch.programs: no ns3::InNetworkReduction serves transport 0. Write programs:",
    ),
    "a transport that knows nothing of it": (
        {"transport": "ns3::RoceTransport"}, "transport: ns3::RoceTransport carries in_network.",
    ),
    "another algorithm": (
        {"algorithm": "ring"}, "transport: ns3::ReductionTransport carries ring.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_does_not_fit_together_is_refused(tmp_path, mistake):
    changes, message = REFUSED[mistake]
    done = run(tmp_path, **changes)

    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
