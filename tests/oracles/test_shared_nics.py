# SPDX-License-Identifier: GPL-2.0-only
"""Racks that share their NICs: messages between rails, and a rail that is lost in mid-run."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pyorch
from pyorch.errors import TraceError
from pyorch.metrics import RunTables
from tests.loaded_runs import in_domains

ROOT = Path(__file__).parents[2]
N_DEVICES, N_RACKS = 8, 4
N_HOSTS = N_DEVICES * N_RACKS
RATE, UP_RATE = 100_000_000_000, 900_000_000_000
DELAY, UP_DELAY, BUS_DELAY = 500_000, 100_000, 50_000
SCENARIO = """\
name: racks
engine: {engine}
topology:
  type: rails
  devices: 8
  rail: {{type: star, hosts: 4}}
  scale_up: {{rate: 900 Gb/s, delay: 100 ns}}
  {nics}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: 64 MB, convergence: 10 us, queue: {queue}}}
workload: {workload}
transport: {transport}
failures: {failures}
stop: {stop}
"""
NICS = "nics: {delay: 50 ns}"
ROCE = "{type: ns3::RoceTransport}"
RTO_PS, CONVERGENCE_PS = 100_000_000, 10_000_000
SPRAY = "{type: ns3::SprayTransport, attributes: {WindowBdp: 2, Rto: 100 us}}"
NDP = "{type: ns3::NdpTransport, attributes: {InitialPackets: 24, Rto: 100 us}}"
DROP_TAIL = "{type: ns3::DropTail}"
TRIMMING = "{type: ns3::TrimmingQueue, attributes: {LimitBytes: 64 kB}}"
LOST_RAIL = 3
#: Scale-up switches are nodes 32 to 35, those of rails 36 to 43, NICs 44 to 75, rail by rail.
UP_SWITCHES = np.arange(N_HOSTS, N_HOSTS + N_RACKS)
RAIL_SWITCHES = UP_SWITCHES[-1] + 1 + np.arange(N_DEVICES)
FIRST_NIC = RAIL_SWITCHES[-1] + 1
#: Of a message of 40 kB on the wire: data, and an ACK for each of 10 packets.
DATA_BYTES, ACK_BYTES = 40_000 + 10 * (62 + 20) + 16, 10 * (66 + 20)
MESSAGE_BYTES = DATA_BYTES + ACK_BYTES

pytestmark = pytest.mark.ns3


def run(folder, workload, transport=ROCE, nics=NICS, failures="[]", engine="packets",
        queue=DROP_TAIL, stop="1 s", status=0):  # fmt: skip
    path = folder / "racks.yaml"
    path.write_text(
        SCENARIO.format(
            workload=workload, transport=transport, nics=nics, failures=failures, engine=engine,
            queue=queue, stop=stop,
        )
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", "run", str(path), "--out", str(folder / "out")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    return (pd.read_parquet(folder / "out" / f"{name}.parquet") for name in ("flows", "ports"))


def cut(at_ps, more=""):
    return f"[{{type: scheduled, planes: [{LOST_RAIL}], at: {at_ps} ps{more}}}]"


def arrival_ps(frames, hops):
    """Return when the last of some frames has passed links that store and forward, one by one."""
    at = [0] * len(frames)
    for rate_bps, delay_ps in hops:
        free = 0
        for i, size in enumerate(frames):
            free = max(at[i], free) + -(-size * 8 * 10**12 // rate_bps)
            at[i] = free + delay_ps
    return at[-1]


def frames_of(n_bytes):
    """Return the frames of a RoCEv2 message on the wire: 62 + 20 B each, 16 B in the first."""
    full, last = divmod(n_bytes, 4096)
    payloads = [4096] * full + [last] * (last > 0)
    return [size + 82 + 16 * (i == 0) for i, size in enumerate(payloads)]


BUS, CABLE, UP = (RATE, BUS_DELAY), (RATE, DELAY), (UP_RATE, UP_DELAY)


@pytest.mark.parametrize("engine", ["packets", "fluid"])
@pytest.mark.parametrize("n_bytes", [1_000_000, 4000])
def test_a_message_across_rails_is_passed_on_packet_by_packet(tmp_path, n_bytes, engine):
    """Five links, to the ps: two of scale-up and three at the rate of the rail.

    Device 0 of rack 0 to device 3 of rack 1, and device 1 to device 1 of rack 2 on one rail. The
    first changes rails in its own rack or, just as near, in the other: its path says which.
    """
    rows = f"0,11,{n_bytes},0\n1,17,{n_bytes},0\n"
    (tmp_path / "two.csv").write_text(f"src,dst,bytes,start_ps\n{rows}")
    flows, ports = run(tmp_path, "{type: flow_table, file: two.csv}", engine=engine)
    paths = pd.read_parquet(tmp_path / "out" / "paths.parquet")
    first = paths[(paths["flow"] == 0) & (paths["hop"] == 0)]["peer"].item()
    hops = [UP, UP, CABLE, CABLE, BUS] if first in UP_SWITCHES else [BUS, CABLE, CABLE, UP, UP]

    took_ps = (flows["receiver_end_ps"] - flows["start_ps"]).tolist()
    assert took_ps[0] == arrival_ps(frames_of(n_bytes), hops)
    assert took_ps[1] == arrival_ps(frames_of(n_bytes), [BUS, CABLE, CABLE, BUS])
    # Relayed by a device that takes it in whole it would be in each network one after the other.
    whole_ps = arrival_ps(frames_of(n_bytes), [UP] * 2) + arrival_ps(
        frames_of(n_bytes), [BUS, CABLE, CABLE, BUS]
    )
    assert took_ps[0] < whole_ps


def test_without_a_failure_a_rail_takes_two_frames_and_two_buses_longer(tmp_path):
    # Oracle: a NIC stores and forwards, so the first and longest frame is sent once more by each.
    load = "{type: single, message: 1 MB, source: 0, target: 8, start: 0 ns}"
    took = [int(next(run(tmp_path, load, nics=nics))["receiver_end_ps"][0]) for nics in ("", NICS)]
    assert took[1] - took[0] == 2 * ((4096 + 82 + 16) * 80 + BUS_DELAY)


def sent(ports, column="sent_bytes"):
    """Return what is sent on each kind of link, both ways."""
    ends = np.sort(ports[["node", "peer"]].to_numpy(dtype=np.int64), axis=1)
    low, nic = ends[:, 0], ends[:, 1] >= FIRST_NIC
    kinds = {
        "scale_up": ~nic, "bus": nic & (low < N_HOSTS), "shared": nic & np.isin(low, UP_SWITCHES),
        "cable": nic & np.isin(low, RAIL_SWITCHES),
    }  # fmt: skip
    values = ports[column].to_numpy(dtype=np.int64)
    return {kind: int(values[rows].sum()) for kind, rows in kinds.items()}


def test_every_byte_is_on_the_links_that_lead_there(tmp_path):
    """Nothing is lost or paused, so bytes can be counted: data and one ACK for each packet.

    In a rack 2 links of scale-up; on a rail 2 buses and 2 cables; between rails one of scale-up,
    one between scale-up and a NIC, 2 cables, one bus.
    """
    src = np.random.default_rng(3).permutation(N_HOSTS)
    dst = np.roll(src, 1)
    rows = "\n".join(f"{a},{b},40000,0" for a, b in zip(src, dst, strict=True))
    (tmp_path / "all.csv").write_text(f"src,dst,bytes,start_ps\n{rows}\n")
    _, ports = run(tmp_path, "{type: flow_table, file: all.csv}")

    rack, rail = (of(np.stack([src, dst]), N_DEVICES) for of in (np.floor_divide, np.mod))
    inside = int((rack[0] == rack[1]).sum())
    same = int(((rack[0] != rack[1]) & (rail[0] == rail[1])).sum())
    cross = N_HOSTS - inside - same
    assert min(inside, same, cross) > 0
    assert sent(ports) == {
        "scale_up": MESSAGE_BYTES * (2 * inside + cross), "bus": MESSAGE_BYTES * (2 * same + cross),
        "shared": MESSAGE_BYTES * cross, "cable": MESSAGE_BYTES * 2 * (same + cross),
    }  # fmt: skip


def test_bytes_of_a_rail_that_is_lost_go_over_scale_up_and_other_rails(tmp_path):
    """Each device sends to that of the next rack; rail 3 is lost before.

    Its 4 messages have one path each, which keeps to the port of their NIC: data takes the bus, the
    link to scale-up, that to another NIC, 2 cables, the link to scale-up again, and down to the
    device. ACKs go back over scale-up at both ends. Nothing else changes.
    """
    load = "{type: stride, message: 40 kB, stride: 8, start: 20 us}"
    _, ports = run(tmp_path, load, failures=cut(1))

    lost, others = N_RACKS, N_HOSTS - N_RACKS
    assert sent(ports) == {
        "scale_up": lost * (DATA_BYTES + 2 * ACK_BYTES),
        "bus": lost * DATA_BYTES + others * 2 * MESSAGE_BYTES,
        "shared": lost * (3 * DATA_BYTES + 2 * ACK_BYTES),
        "cable": N_HOSTS * 2 * MESSAGE_BYTES,
    }  # fmt: skip


def test_packets_of_a_rail_that_is_lost_are_dealt_evenly_over_the_others(tmp_path):
    """20 MB from each device of the lost rail are 4883 packets for 7 rails, 698 each.

    All leave by scale-up, which is nearer now than the port of the NIC that has lost its cable.

    Entropies are drawn for each packet: a rail has more or less than 698 by 5 sqrt(4883 x 1/7 x
    6/7) = 122 once in 60,000 runs of 28 rails.
    """
    load = "{type: stride, message: 20 MB, stride: 8, start: 20 us}"
    _, ports = run(tmp_path, load, SPRAY, failures=cut(1))

    out = ports[(ports["node"] >= FIRST_NIC) & ports["peer"].isin(RAIL_SWITCHES)]
    packets = out["sent_data_packets"].to_numpy(dtype=np.int64).reshape(N_DEVICES, N_RACKS)
    assert (packets[LOST_RAIL] == 0).all()
    more = np.delete(packets, LOST_RAIL, axis=0) - 4883
    assert (more.sum(axis=0) == 4883).all()
    own = (ports["node"] % N_DEVICES == LOST_RAIL) & (ports["node"] < N_HOSTS)
    assert ports.loc[own & (ports["peer"] >= FIRST_NIC), "sent_data_packets"].sum() == 0
    assert abs(more - 4883 / 7).max() < 5 * np.sqrt(4883 * 6 / 49)


def ring(n_bytes, start_ps=0):
    return (
        f"{{type: collective, algorithm: ring, operation: all_reduce, bytes: {n_bytes} B, ranks: 4,"
        f" groups: 8, placement: aligned, start: {start_ps} ps}}"
    )


def end_ps(flows):
    assert flows["receiver_end_ps"].notna().all()
    return int(flows["receiver_end_ps"].max())


def test_seven_rails_carry_what_eight_did_in_eight_sevenths_of_the_time(tmp_path):
    """At max-min fair rates 7 devices and 1/7 of the eighth share each rail: 7/8 of its rate each.

    6 steps of 1 GB, 0.08 s each; 0.01 % is what latency may be.
    """
    start_ps = 20_000_000
    took = [
        end_ps(next(run(tmp_path, ring(4 * 10**9, start_ps), SPRAY, failures=failures,
                        engine="fluid", stop="10 s"))) - start_ps
        for failures in ("[]", cut(1))
    ]  # fmt: skip
    assert took[1] / took[0] == pytest.approx(8 / 7, rel=1e-4)


@pytest.mark.parametrize("repaired_after", [None, "200 us"])
@pytest.mark.parametrize("transport, queue", [(SPRAY, DROP_TAIL), (NDP, TRIMMING)])
def test_a_rail_lost_at_a_third_of_a_ring_costs_an_eighth_of_the_rest(
    tmp_path, transport, queue, repaired_after
):
    """The rest of the bytes goes over seven rails: 0.3 + 0.7 x 8/7 of the time without a failure.

    What comes on top is at most the time until routes follow, and one timeout for what was lost.
    """
    load = ring(12_000_000)
    whole_ps = end_ps(next(run(tmp_path, load, transport, queue=queue)))
    more = f", duration: {repaired_after}" if repaired_after else ""
    failures = cut(int(0.3 * whole_ps), more)
    flows, _ = run(tmp_path, load, transport, queue=queue, failures=failures)

    assert flows["timeouts"].sum() > 0
    most_ps = (0.3 + 0.7 * 8 / 7) * whole_ps + CONVERGENCE_PS + RTO_PS
    assert whole_ps < end_ps(flows) <= most_ps


def test_without_shared_nics_a_lost_rail_is_waited_for(tmp_path):
    flows, _ = run(tmp_path, ring(12_000_000), SPRAY, nics="", failures=cut(10**8), stop="20 ms",
                   status=1)  # fmt: skip

    lost = flows[flows["dst"] % N_DEVICES == LOST_RAIL]
    assert lost["receiver_end_ps"].isna().any()
    assert flows.drop(lost.index)["receiver_end_ps"].notna().all()
    finished = pyorch.load(tmp_path / "out")
    with pytest.raises(
        TraceError, match="4 links are cut at the end, and a flow that has no other"
    ):
        RunTables(finished.spec, finished.folder).flows  # noqa: B018


def test_two_domains_lose_a_rail_as_one_does(tmp_path):
    load, failures = ring(3_000_000), cut(10**8)
    one = next(run(tmp_path, load, SPRAY, failures=failures))
    two = pd.read_parquet(in_domains(tmp_path / "out", 2) / "flows.parquet")
    pd.testing.assert_frame_equal(one, two)
    assert one["timeouts"].sum() > 0
