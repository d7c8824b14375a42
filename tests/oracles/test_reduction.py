# SPDX-License-Identifier: GPL-2.0-only
"""All-reduces that switches add up, from YAML to tables: bytes on every link, losses, refusals."""

from pathlib import Path

import pandas as pd
import pytest

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
