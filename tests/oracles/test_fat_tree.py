# SPDX-License-Identifier: GPL-2.0-only
"""The engine on generated fat trees: timing over tiers, use of all paths, bisection, priorities."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.ns3

SCENARIO = """\
name: oracle
topology: {topology}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: 64 MB, processing_delay: {latency}, forwarding: {{type: {forwarding}}}}}
workload: {workload}
transport: {transport}
stop: 50 ms
"""
SPRAY = (
    "{{type: ns3::SprayTransport, attributes: {{WindowBdp: 1.5,"
    ' PathSelector: "ns3::PermutedEntropy[Paths={}]"}}}}'
)


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a scenario as a user does and returns its tables."""

    def run(text=None, files=(), **parts):
        settings = {
            "latency": "0 ns",
            "forwarding": "ns3::EntropyModulo",
            "transport": SPRAY.format(0),
        }
        path = tmp_path / "oracle.yaml"
        path.write_text(text or SCENARIO.format(**settings | parts))
        for name, content in dict(files).items():
            (tmp_path / name).write_text(content)
        done = command_line("run", path, "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        tables = np.load(tmp_path / "out" / "tables.npz")
        flows, ports = (
            pd.read_parquet(tmp_path / "out" / f"{n}.parquet") for n in ("flows", "ports")
        )
        tier = dict(zip(tables["nodes.node"].tolist(), tables["nodes.tier"].tolist(), strict=True))
        ports = ports.assign(tier=ports["node"].map(tier), to=ports["peer"].map(tier))
        return flows, ports

    return run


@pytest.mark.parametrize("tiers", [2, 3, 4])
@pytest.mark.parametrize("latency_ns", [0, 300])
def test_the_unloaded_time_grows_with_the_tiers_to_the_picosecond(run, tiers, latency_ns):
    # Radix 2: host 0 to host 1 crosses 2 * tiers links. One packet of 1000 B: 62 B of headers and
    # 16 B RETH, 20 B of framing: 1098 B, 87840 ps on each link at 100 Gb/s; 500 ns each link and
    # the latency in each of the 2 * tiers - 1 switches.
    flows, _ = run(
        topology=f"{{type: fat_tree, tiers: {tiers}, radix: 2}}", latency=f"{latency_ns} ns",
        workload="{type: single, message: 1000 B}", forwarding="ns3::EcmpHash",
        transport="{type: ns3::RoceTransport}",
    )  # fmt: skip
    links = 2 * tiers
    expected = links * (87_840 + 500_000) + (links - 1) * latency_ns * 1000

    assert flows["receiver_end_ps"].tolist() == [expected]


@pytest.mark.parametrize(
    ("shape", "hosts", "paths"),
    [
        ("tiers: 2, radix: 8", 32, 4),
        ("tiers: 3, radix: 4", 16, 4),
        ("tiers: 3, radix: 8", 128, 16),
        ("tiers: 3, radix: 8, parallel: [2, 1]", 64, 16),
        ("tiers: 3, radix: 8, parallel: [1, 2]", 64, 16),
        ("tiers: 4, radix: 4", 32, 8),
    ],
)
def test_spraying_uses_every_core_and_every_link_upwards_alike(run, shape, hosts, paths):
    # Stride by half the hosts: every flow crosses the top and has 489 packets (2 MB / 4096), which
    # it deals out in rounds over all paths. So each link up from a tier carries its share of all
    # packets, but for what the open round of each flow leaves: less than one packet per path.
    flows, ports = run(
        topology=f"{{type: fat_tree, {shape}}}", transport=SPRAY.format(paths),
        workload=f"{{type: stride, message: 2 MB, stride: {hosts // 2}}}",
    )  # fmt: skip
    assert len(flows) == hosts and flows["retransmitted_packets"].sum() == 0
    for tier in range(1, ports["tier"].max()):
        up = ports[(ports["tier"] == tier) & (ports["to"] == tier + 1)]["sent_data_packets"]
        assert up.mean() == pytest.approx(489 * hosts / len(up))
        assert (up - up.mean()).abs().max() <= paths * hosts / len(up)
    top = ports[ports["tier"] == ports["tier"].max()].groupby("node")["sent_data_packets"].sum()
    assert top.max() / top.min() < 1.05


def test_the_default_spray_uses_every_core_of_three_tiers(run):
    # Paths = 0 means all paths: radix 4 has 4 cores, and a permutation loads them alike.
    _, ports = run(
        topology="{type: fat_tree, tiers: 3, radix: 4}",
        workload="{type: stride, message: 2 MB, stride: 8}",
    )
    cores = ports[ports["tier"] == 3].groupby("node")["sent_data_packets"].sum()

    assert len(cores) == 4 and cores.max() / cores.min() < 1.05


@pytest.mark.parametrize(
    ("topology", "hosts", "ratio"),
    [
        ("{type: fat_tree, tiers: 2, radix: 8, oversubscription: [2]}", 32, 2),
        ("{type: fat_tree, tiers: 2, radix: 8, oversubscription: [4]}", 32, 4),
        ("{type: fat_tree, tiers: 3, radix: 4, oversubscription: [1, 2]}", 16, 2),
        ("{type: fat_tree, tiers: 3, radix: 8, oversubscription: [2, 2], pods: 4}", 64, 4),
        ("{type: dumbbell, left: 8, right: 8, parallel: 4}", 16, 2),
    ],
)
def test_the_bisection_is_one_over_the_oversubscription(run, topology, hosts, ratio):
    # Stride by half: every host sends 10 MB to the other half, so the narrowest links together
    # carry, in each direction, what half the hosts send, at 1/ratio of their rate. 10 MB are 2441
    # packets of 4096 B and one of 1664 B; each has 62 + 20 B of headers and framing, and an ACK of
    # 66 + 20 B comes back over the same links: 80 ps per byte at 100 Gb/s.
    flows, _ = run(
        topology=topology, transport=SPRAY.format(64),
        workload=f"{{type: stride, message: 10 MB, stride: {hosts // 2}}}",
    )  # fmt: skip
    assert 2441 * 4096 + 1664 == 10_000_000
    busy_ps = (10_000_000 + 2442 * (62 + 20) + 2442 * (66 + 20)) * 80 * ratio

    assert 0.98 < busy_ps / flows["receiver_end_ps"].max() <= 1.0


def test_two_workloads_have_their_own_transports_and_priorities(run, tmp_path):
    # A dumbbell: two hosts fill the bottleneck of 100 Gb/s with 4 MB of priority 3; 1 MB of
    # priority 5 from a third starts in between and must not wait but for the frame that is being
    # sent at each switch: its time is that of an idle network, plus at most 2 frames of 4194 B.
    # 1 MB is 245 packets, the last of 576 B. Alone: 3 links, 500 ns each; the first packet is
    # 4194 B, middle ones 4178 B, the last 658 B, 80 ps each byte.
    text = """\
name: oracle
topology: {type: dumbbell, left: 3, right: 3}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 64 MB}
workload:
  - {type: flow_table, file: bulk.csv, transport: bulk}
  - {type: single, source: 2, target: 5, message: 1 MB, start: 50 us, transport: urgent}
transport:
  - {name: bulk, type: ns3::RoceTransport, attributes: {Priority: 3}}
  - {name: urgent, type: ns3::RoceTransport, attributes: {Priority: 5}}
stop: 50 ms
"""
    bulk = "flow,src,dst,bytes,start_ps\n10,0,3,4000000,0\n11,1,4,4000000,0\n"
    flows, _ = run(text, {"bulk.csv": bulk})
    flows = flows.set_index("flow")
    assert flows.index.tolist() == [10, 11, 12] and flows["transport"].tolist() == [0, 0, 1]
    took = int(flows.loc[12, "receiver_end_ps"] - flows.loc[12, "start_ps"])
    alone = (4194 + 243 * 4178 + 658) * 80 + 2 * 4178 * 80 + 3 * 500_000

    assert alone <= took <= alone + 2 * 4214 * 80 + 10_000
    # The bulk waits for it: 8 MB and 1 MB share one link.
    bulk_ps = 2 * (977 * 82 + 4_000_000 + 16) * 80
    assert flows.loc[[10, 11], "receiver_end_ps"].max() > bulk_ps + 245 * 4178 * 70


def test_four_planes_of_a_quarter_of_the_rate_are_as_fast_as_one(run):
    # 8 leaves of 4 hosts; 40 MB are 400 us at 800 Gb/s, so the longer serialisation of a packet at
    # 200 Gb/s (3 * 125 ns more) and what the planes do not share evenly stay far below 2 %.
    shape = "type: leaf_spine, leaves: 8, hosts_per_leaf: 4, spines: 4"
    took = {}
    for planes, rate in ((1, 800), (4, 200)):
        text = SCENARIO.format(
            topology=f"{{{shape}, planes: {planes}}}", latency="0 ns",
            forwarding="ns3::EntropyModulo", transport=SPRAY.format(4),
            workload="{type: stride, message: 40 MB, stride: 4}",
        ).replace("rate: 100 Gb/s", f"rate: {rate} Gb/s")  # fmt: skip
        flows, _ = run(text)
        took[planes] = flows["receiver_end_ps"].max()

    assert took[4] / took[1] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("planes", [2, 4])
def test_a_single_path_gets_one_plane(run, planes):
    # One message alone: 2 MB at 100 Gb/s over 4 links, whatever the number of planes. 489 packets:
    # 4194 B the first (RETH), 487 of 4178 B, 1234 B the last; 80 ps each byte. The first goes
    # through all links, the others follow it without a gap on the last one.
    flows, _ = run(
        topology=f"{{type: leaf_spine, leaves: 2, hosts_per_leaf: 1, spines: 2, planes: {planes}}}",
        workload="{type: single, message: 2 MB}", forwarding="ns3::EcmpHash",
        transport="{type: ns3::RoceTransport}",
    )  # fmt: skip
    expected = (4 * 4194 + 487 * 4178 + 1234) * 80 + 4 * 500_000

    assert flows["receiver_end_ps"].tolist() == [expected]
