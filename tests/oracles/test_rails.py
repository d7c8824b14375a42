# SPDX-License-Identifier: GPL-2.0-only
"""Racks on rails from YAML to tables: what keeps to a rail, what does not, and a lost plane."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pyorch
from pyorch import plugins
from pyorch.metrics import RunTables
from pyorch.spec.parts import restore
from pyorch.topology import rails
from pyorch.workload import collective
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
N_DEVICES, N_RACKS = 4, 6
N_HOSTS = N_DEVICES * N_RACKS
SCENARIO = """\
name: racks
topology:
  type: rails
  devices: 4
  rail: {{type: star, hosts: 6, planes: {planes}}}
  scale_up: {{rate: 14.4 Tb/s, delay: 100 ns}}
link: {{rate: 800 Gb/s, delay: 500 ns}}
switch: {{buffer: none}}
workload: {workload}
transport: {transport}
failures: {failures}
stop: 1 s
"""
ROCE = "{type: ns3::RoceTransport}"
PACKET = 4096 + 62 + 20
CREDITS = "{type: ns3::CreditFlowControl, attributes: {LaneBlocks: 8191}}"

pytestmark = pytest.mark.ns3


def run(folder, workload, transport=ROCE, planes=1, failures="[]"):
    path = folder / "racks.yaml"
    path.write_text(
        SCENARIO.format(workload=workload, transport=transport, planes=planes, failures=failures)
    )
    done = command_line("run", path, "--out", str(folder / "out"))
    assert done.returncode == 0, done.stderr
    return (pd.read_parquet(folder / "out" / f"{name}.parquet") for name in ("flows", "ports"))


def of_hosts(ports):
    """Return the ports of devices, and which of them lead to scale-up: switches 24 to 29."""
    own = ports[ports["node"] < N_HOSTS]
    return own, own["peer"] < N_HOSTS + N_RACKS


def test_aligned_groups_never_leave_their_rails(tmp_path):
    # Oracle: the topology. Group g has device g of every rack; rail 3 has no group.
    load = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 600 kB,"
    _, ports = run(tmp_path, f"{load} ranks: 6, groups: 3, placement: aligned}}")
    own, is_up = of_hosts(ports)

    sent = own.loc[~is_up].groupby(own["node"] % N_DEVICES)["sent_data_packets"].sum()
    assert own.loc[is_up, "sent_frames"].sum() == 0
    # 6 ranks x 10 messages of 100 kB in 25 packets
    assert sent.tolist() == [6 * 10 * 25] * 3 + [0]


def test_bytes_that_change_rails_are_those_of_the_placement(tmp_path):
    """Every byte of a network that loses and pauses nothing can be counted beforehand.

    A message within a rack is once on scale-up, one between racks on a rail once on that, any
    other once on each. It has headers of 62 B for each packet and 16 B more for the first, 20 B of
    framing, and an acknowledgement of 66 B + 20 B for each packet, back on the same network.
    """
    load = {
        "algorithm": {"type": "ring"}, "operation": "all_reduce", "data_bytes": 800_008,
        "chunks": 1, "ranks": 8, "groups": 3, "placement": "random", "stride": 0, "first_host": 0,
        "step_delay_ps": 0, "start_ps": 0,
    }  # fmt: skip
    text = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 800008 B,"
    _, ports = run(tmp_path, f"{text} ranks: 8, groups: 3, placement: random}}")
    own, is_up = of_hosts(ports)

    nodes = {"node": np.arange(N_HOSTS), "is_switch": np.zeros(N_HOSTS, dtype=int)}
    whole = collective.flows(restore(collective.Params, load), nodes, {}, 1)
    rack, rail = (of(np.stack([whole["src"], whole["dst"]]), N_DEVICES)
                  for of in (np.floor_divide, np.mod))  # fmt: skip
    crosses = (rack[0] != rack[1]) & (rail[0] != rail[1])
    on_up, on_rail = (rack[0] == rack[1]) | crosses, rack[0] != rack[1]
    each = 100_001 + 25 * (62 + 20 + 66 + 20) + 16  # 24 full packets and one of 1697 B
    assert 0 < crosses.sum() < len(crosses)
    assert own.loc[is_up, "sent_bytes"].sum() == on_up.sum() * each
    assert own.loc[~is_up, "sent_bytes"].sum() == on_rail.sum() * each


def test_cross_rail_bytes_of_a_random_placement_on_average():
    """Two of R racks x n devices at random: (R-1)(n-1) of the nR-1 others are on neither network.

    Mean over 400 draws of the share among 24 neighbours of a ring over all devices; its standard
    error is below sqrt(p (1-p) / 24 / 400) = 0.5 %, so five of these fail once in a million.
    """
    racks = restore(rails.Params, {"devices": N_DEVICES})
    rng = np.random.default_rng(5)
    draws = np.array([rng.permutation(N_HOSTS) for _ in range(400)])
    via = rails.relays(racks, draws, np.roll(draws, -1, axis=1))

    expected = (N_RACKS - 1) * (N_DEVICES - 1) / (N_HOSTS - 1)
    assert abs((via >= 0).mean() - expected) < 5 * 0.005


def test_a_lost_plane_costs_its_share(tmp_path):
    """A message of 1200 packets over 4 planes, then over 3: rates are as 4 to 3.

    Each packet takes 41.78 ns, so the message 12.5 us over four planes and 16.7 us over three, and
    1.04 us for two links and the second serialisation.
    """
    load = f"{{type: single, message: {1200 * 4096} B, source: 0, target: 4, start: 20 us}}"
    spray = "{type: ns3::SprayTransport, attributes: {WindowBdp: 4, HeaderBytes: 62}}"
    lost = "[{type: scheduled, planes: [2], at: 10 us}]"
    took = []
    for failures in ("[]", lost):
        flows, ports = run(tmp_path, load, spray, 4, failures)
        took.append(int(flows["receiver_end_ps"][0] - flows["start_ps"][0]))
        assert flows["timeouts"].sum() == 0
    rest_ps = 2 * 500_000 + PACKET * 10
    assert took[0] == pytest.approx(300 * PACKET * 10 + rest_ps, rel=0.02)
    assert took[1] == pytest.approx(400 * PACKET * 10 + rest_ps, rel=0.02)


def test_a_plane_lost_during_the_job_does_not_end_it(tmp_path):
    load = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 6 MB, ranks: 6,"
    spray = "{type: ns3::SprayTransport, attributes: {WindowBdp: 2, Rto: 100 us}}"
    lost = "[{type: scheduled, planes: [1], at: 15 us}]"
    ends = []
    for failures in ("[]", lost):
        flows, _ = run(tmp_path, f"{load} placement: aligned}}", spray, 4, failures)
        assert flows["receiver_end_ps"].notna().all()
        ends.append(int(flows["receiver_end_ps"].max()))
    # 10 steps of 1 MB over 3.2 Tb/s are 26 us and latency; what is left is slower by 4/3 at most,
    # and what was in flight in the lost plane waits for one timeout.
    timeout_ps = 100_000_000
    assert ends[0] < ends[1] < 4 / 3 * ends[0] + timeout_ps


def all_reduce_in_a_rack(folder, n_bytes, control):
    """Return the flows of a ring over 18 devices at 14.4 Tb/s, in packets of 32 KiB."""
    path = folder / "rack.yaml"
    path.write_text(f"""\
name: rack
topology:
  type: rails
  devices: 18
  rail: {{type: star, hosts: 2}}
  scale_up: {{rate: 14.4 Tb/s, delay: 100 ns}}
link: {{rate: 800 Gb/s, delay: 500 ns, classes: [{{tiers: [0, 2], flow_control: {control}}}]}}
switch: {{buffer: none}}
workload: {{type: collective, algorithm: ring, operation: all_reduce, bytes: {n_bytes} B,
           ranks: 18}}
transport: {{type: ns3::RoceTransport, attributes: {{MtuBytes: 32768, AckInterval: 1000,
            RethBytes: 0}}}}
stop: 1 s
""")
    command_line("run", path, "--out", str(folder / "out"))
    return pd.read_parquet(folder / "out" / "flows.parquet")


@pytest.mark.parametrize("control", ["none", CREDITS])
def test_an_all_reduce_in_a_rack_takes_its_closed_form(tmp_path, control):
    """18 devices at 14.4 Tb/s: 34 steps, each of 100 packets that last 18250 ps.

    (32768 + 62 + 20) B x 8 / 14.4 Tb/s = 18250 ps. A step is 100 of them, one more at the switch,
    and 2 x 100 ns. Its acknowledgement, 86 B or 48 ps, may get in front of one packet of the next.
    Credit updates of (64 + 20) B, 47 ps, one per 16 packets and more, may too.
    """
    flows = all_reduce_in_a_rack(tmp_path, 18 * 100 * 32768, control)

    step_ps = 101 * 18250 + 200_000
    waits_ps = 48 if control == "none" else 48 + 100 * 47
    assert 34 * step_ps <= flows["receiver_end_ps"].max() <= 34 * (step_ps + waits_ps)


def test_an_all_reduce_of_the_paper_at_full_size(tmp_path):
    """[hotnets24] section 4.1: 7.815 GB among 18 devices, 2 x 17/18 S / 1.8 TB/s = 8.20 ms.

    Not in that are headers, 82 B for each 32 KiB (0.25 %), 34 times a packet at the switch and
    2 x 100 ns (0.1 %), and credit updates.
    """
    flows = all_reduce_in_a_rack(tmp_path, 7_815_168_000, CREDITS)

    ideal_ps = 2 * 17 / 18 * 7_815_168_000 / 1.8e12 * 1e12
    assert ideal_ps < flows["receiver_end_ps"].max() < 1.005 * ideal_ps


def rows_of(folder, metric):
    """Return the rows of a metric of the run in a folder."""
    run = pyorch.load(folder / "out")
    measure = plugins.load("pyorch.metrics", metric).measure
    return measure(RunTables(run.spec, run.folder)).to_dict("records")


def measured(folder, metric):
    """Return the only row of a metric."""
    (row,) = rows_of(folder, metric)
    return row


def alone_ps(rate_bps, delay_ps):
    """Return what 1 MB takes over two links: 244 packets of 4096 B and one of 576 B.

    Each has 82 B, the first 16 B more: 1,020,106 B on the wire. Store and forward adds the last
    frame, 658 B, and two delays.
    """
    packets = [4096 + 82 + 16, *[4096 + 82] * 243, 576 + 82]
    assert sum(packets) == 1_020_106
    # Each link passes frames on; the second is as fast, so only the last frame comes on top.
    at, free = 0, 0
    for size in packets:
        took_ps = -(-size * 8 * 10**12 // rate_bps)
        at += took_ps
        free = max(free, at + delay_ps) + took_ps
    return free + delay_ps


#: Of 1 MB in its rack, and between two racks on a rail [ps].
UP_PS, OUT_PS = alone_ps(14_400_000_000_000, 100_000), alone_ps(800_000_000_000, 500_000)


def test_a_message_across_rails_counts_from_its_first_byte(tmp_path):
    # Oracle: two paths of two links, one after the other.
    load = "{type: flow_table, file: one.csv}"
    (tmp_path / "one.csv").write_text("src,dst,bytes,start_ps\n0,7,1000000,0\n0,4,1000000,0\n")
    run(tmp_path, load)
    row = measured(tmp_path, "messages")

    assert (row["n_messages"], row["relayed_messages"]) == (2, 1)
    assert row["relayed_fct_mean_ps"] == row["fct_p100_ps"] == UP_PS + OUT_PS
    assert row["fct_p50_ps"] == OUT_PS
    assert row["slowdown_p100"] == 1


def test_a_job_begins_with_the_first_byte_of_what_is_relayed(tmp_path):
    # Two jobs of two racks: one message across rails, and one on a rail.
    load = "[{type: single, message: 1 MB, source: 0, target: 7},"
    load += " {type: single, message: 1 MB, source: 0, target: 4}]"
    run(tmp_path, f"{load}\njobs: {{type: packed, hosts: [8, 8]}}")

    took = [row["completion_ps"] for row in rows_of(tmp_path, "jobs")]
    assert took == [UP_PS + OUT_PS, OUT_PS]


def test_a_step_of_a_collective_begins_with_the_first_byte_of_what_is_relayed(tmp_path):
    # A ring of two across rails: both send 1 MB at once, twice, and no two messages share a link in
    # a direction. A message has one ACK, which goes back when the next one has another network.
    load = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 2 MB,"
    one_ack = "{type: ns3::RoceTransport, attributes: {AckInterval: 1000}}"
    run(tmp_path, f"{load} groups: [[0, 7]]}}", one_ack)

    steps, took_ps = rows_of(tmp_path, "collective_steps"), UP_PS + OUT_PS
    starts = [(row["first_start_ps"], row["last_start_ps"]) for row in steps]
    assert starts == [(0, 0), (took_ps, took_ps)]
    assert [row["last_end_ps"] for row in steps] == [took_ps, 2 * took_ps]
    for name in ("shortest_ps", "median_ps", "longest_ps"):
        assert [row[name] for row in steps] == [took_ps] * 2
    assert measured(tmp_path, "collective")["completion_ps"] == 2 * took_ps


def test_a_timeline_shows_a_relayed_message_from_its_first_byte(tmp_path):
    # Rank 0 computes for 100 ns, then sends 1 MB across rails to rank 7, beside which it computes
    # for 1 us, which is shorter; rank 7 computes again when all of it has come.
    idle = "".join(f"rank {rank} {{\n}}\n" for rank in range(1, 7))
    (tmp_path / "one.goal").write_text(
        "num_ranks 8\nrank 0 {\na: calc 100\nb: send 1000000b to 7 tag 1\nc: calc 1000\n"
        f"b requires a\nc requires a\n}}\n{idle}"
        "rank 7 {\nd: recv 1000000b from 0 tag 1\ne: calc 50\ne requires d\n}\n"
    )
    run(tmp_path, "{type: trace, format: goal, file: one.goal}")
    spans = [(row["lane"], row["start_ps"], row["end_ps"])
             for row in rows_of(tmp_path, "step_timeline")]  # fmt: skip

    came_ps = 100_000 + UP_PS + OUT_PS
    (sent,) = [span[1:] for span in spans if span[0] not in ("compute", "exposed")]
    assert sent == (100_000, came_ps)
    assert [span[1:] for span in spans if span[0] == "exposed"] == [(1_100_000, came_ps + 50_000)]


@pytest.mark.parametrize("transport", [ROCE, "{type: ns3::SprayTransport}"])
def test_what_is_ideal_knows_which_ports_lead_where(tmp_path, transport):
    # A device has two ports, and one of them leads to the devices of its rail: a message of 1 MB
    # alone there, and an all-to-all among 6 racks at the rate of that port.
    load = "{type: collective, algorithm: direct, operation: all_to_all, bytes: 6 MB, ranks: 6,"
    run(tmp_path, f"{load} placement: aligned}}", transport)
    row = measured(tmp_path, "collective")

    least_ps = 5 * 1_020_106 * 8 / 0.8
    assert least_ps <= row["ideal_ps"] <= least_ps + 2 * 500_000 + (4096 + 82 + 16) * 8 / 0.8
    assert 1 <= row["over_ideal"] <= 1.1
    assert measured(tmp_path, "slowdown")["unloaded_fct_ps"] >= 1_020_106 * 8 / 0.8


@pytest.mark.parametrize("engine", ["fluid", "packets"])
@pytest.mark.parametrize("acks", [(66, 66), (1024, 66), (66, 1024)])
def test_what_is_ideal_waits_for_the_answer_of_the_relay(tmp_path, engine, acks):
    # Ranks 0 to 3 send to each other in turns. A message to another rail is answered by its relay
    # before it has arrived, with acknowledgements of the transport of its first network.
    run = pyorch.run({
        "name": "turns",
        "engine": engine,
        "topology": {"type": "rails", "devices": 2, "rail": {"type": "star", "hosts": 2},
                     "scale_up": {"rate": "400 Gb/s", "delay": "10 us"}},
        "link": {"rate": "100 Gb/s", "delay": "10 us"},
        "switch": {"buffer": "640 MB"},
        "workload": {"type": "collective", "algorithm": "pairwise", "operation": "all_to_all",
                     "bytes": "64 KiB", "ranks": 4,
                     "transport": {"scale_up": "up", "scale_out": "out", "wide_area": "out"}},
        "transport": [
            {"name": name, "type": "ns3::RoceTransport",
             "attributes": {"AckBytes": ack_bytes, "RethBytes": 0}}
            for name, ack_bytes in zip(("up", "out"), acks, strict=True)
        ],
        "stop": "500 ms",
    }, out=tmp_path / "run")  # fmt: skip

    row = plugins.load("pyorch.metrics", "collective").measure(RunTables(run.spec, run.folder))

    over = row["over_ideal"].iloc[0]
    assert 1 <= over <= 1.002
    if engine == "fluid" and acks == (66, 66):
        assert over == 1
