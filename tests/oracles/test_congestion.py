# SPDX-License-Identifier: GPL-2.0-only
"""Congestion controls in small networks: shares, queues and rates in closed form."""

import numpy as np
import pandas as pd
import pytest
from oracle_network import GBPS, MS_PS, US_PS, Flows, Network, run_fabric, star

from pyorch.simulate.fabric import Fabric

pytestmark = pytest.mark.ns3

SWITCH = 1000
RATE = 100 * GBPS
FRAME = 1048  # 1000 of them payload; no framing, so bytes and rates are those of the wire
FRAME_PS = FRAME * 80
RTT_PS = 2 * FRAME_PS + 2 * 64 * 80 + 4 * US_PS
BDP = RATE / 8 * RTT_PS * 1e-12
ENDLESS = 10**9
TELEMETRY = {"HopBytes": 0, "BaseBytes": 0}  # in the 48 bytes of headers


def simulate(
    starts, control, *, network=None, transport="ns3::RoceTransport", red=None, pfc=None,
    size=ENDLESS, stop_ps=4 * MS_PS, sample_ps=US_PS, **attributes,
):  # fmt: skip
    """Run one flow from each of hosts 1, 2, ... to host 0."""
    network = network or star(len(starts) + 1, RATE, US_PS)
    flows = Flows()
    for src, start_ps in enumerate(starts, 1):
        flows.add(src, 0, size if isinstance(size, int) else size[src - 1], start_ps)
    buffer_bytes = pfc and 32 * 2**20
    fabric = Fabric(seed=1)
    fabric.wire(framing_bytes=0)
    fabric.switch(buffer_bytes=buffer_bytes)
    fabric.trace(sample_ps=sample_ps)
    tables = {
        "nodes": network.nodes_table(), "links": network.links_table(), "flows": flows.table()
    }  # fmt: skip
    for name, columns in tables.items():
        fabric.table(name, columns)
    fabric.forwarding("ns3::EcmpHash")
    kmin, kmax, pmax = red or (10**9, 10**9, 0)
    fabric.queue("ns3::RedEcn", {"KminBytes": kmin, "KmaxBytes": kmax, "Pmax": pmax})
    fabric.program("ns3::InbandTelemetry", TELEMETRY)
    if pfc:
        fabric.flow_control("ns3::Pfc", pfc)
    if transport == "ns3::RoceTransport":
        attributes["RethBytes"] = 0
    control = {"CongestionControl": f"ns3::{control}"}
    sizes = {"MtuBytes": FRAME - 48, "HeaderBytes": 48, "AckBytes": 64}
    fabric.transport(transport, sizes | control | attributes)
    return run_fabric(fabric, stop_ps)


def queue(got, begin_us, end_us, step_us=1):
    """Return the queue toward host 0 at whole multiples of a step [byte]."""
    samples = pd.DataFrame(got["port_samples"])
    here = samples[(samples["node"] == SWITCH) & (samples["peer"] == 0)]
    here = here[here["time_ps"] % US_PS == 0].set_index("time_ps")["queue_bytes"]
    times = np.arange(begin_us, end_us, step_us) * US_PS
    return here.reindex(times, fill_value=0).to_numpy()


def rates(got, begin_us, end_us):
    """Return the share of the link that each flow had in a time [1]."""
    samples = pd.DataFrame(got["flow_samples"])
    inside = samples["time_ps"].between(begin_us * US_PS + 1, end_us * US_PS)
    arrived = samples[inside].groupby("flow")["arrived_bytes"].sum()
    n = len(got["flows"]["flow"])
    return arrived.reindex(range(n), fill_value=0).to_numpy() * 8e6 / (end_us - begin_us) / RATE


@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_hpcc_uses_eta_and_the_additive_steps(n):
    # Fixed point of W = W eta / U + W_AI, summed over n flows, with U = sum(W) / (C T) and W_AI =
    # C T (1 - eta) / 100: U = eta + n (1 - eta) / 100. What waits now and then counts in U too.
    got = simulate([0] * n, "Hpcc")
    waiting = queue(got, 2000, 4000)
    used = 0.95 + n * 0.05 / 100
    assert used - waiting.mean() / BDP - 1e-3 < rates(got, 2000, 4000).sum() < used + 1e-3
    assert waiting.mean() < FRAME * n / 2
    assert waiting.max() <= FRAME * (n + 1)


def test_hpcc_takes_what_another_flow_leaves_within_two_round_trips():
    # The step is multiplicative. The last packet of flow 1 arrives at the end; the next window of
    # flow 0 meets a link that is half used.
    got = simulate([0, 0], "Hpcc", size=[ENDLESS, 12_000_000])
    end_us = got["flows"]["receiver_end_ps"][1] / US_PS
    begin = int(end_us + 2 * RTT_PS / US_PS) + 1
    assert rates(got, begin - 20, begin - 10)[0] < 0.55
    assert rates(got, begin, begin + 4)[0] > 0.9


def test_hpcc_becomes_fair_within_reference_over_step_round_trips():
    # Wc / W_AI = (BDP / 2) / (BDP / 2000) = 1000 round trips of 4.2 us.
    got = simulate([0, 200 * US_PS], "Hpcc", stop_ps=6 * MS_PS)
    shares = rates(got, 200 + 4200, 6000)
    assert shares.sum() ** 2 / (2 * (shares**2).sum()) > 0.95


@pytest.mark.parametrize("n", [5, 8])
def test_power_tcp_keeps_a_queue_of_its_steps(n):
    # Fixed point: power = sum(W) / (C T), W (1 - 1 / power) = beta = C T / 10, so n beta wait.
    # A window may overshoot by a packet. With fewer flows the windows go in cycles.
    got = simulate([0] * n, "PowerTcp", stop_ps=3 * MS_PS)
    expected = n * BDP / 10
    assert expected - 2 * FRAME < queue(got, 1000, 3000).mean() < expected + n * FRAME
    assert rates(got, 1000, 3000).sum() > 0.99


def test_timely_is_held_by_its_high_round_trip_alone():
    # 500 us of a link of 100 Gb/s are 6.25 MB. With a weight of 0 there is no gradient, so nothing
    # else lowers a rate; that this is exceeded is seen a round trip later, so up to twice as much.
    got = simulate([0, 0], "Timely[Weight=0]", stop_ps=30 * MS_PS, sample_ps=10 * US_PS)
    assert 6_250_000 < queue(got, 10_000, 30_000, 10).max() < 2 * 6_250_000
    assert rates(got, 10_000, 30_000) == pytest.approx([0.5, 0.5], abs=0.05)


@pytest.mark.parametrize("n", [2, 4])
def test_swift_keeps_the_delay_at_its_target(n):
    # 20 us and two links of 3.053 us, of which the empty path takes a round trip.
    got = simulate([0] * n, "Swift[ScalingRange=0us]", stop_ps=8 * MS_PS)
    wait_us = queue(got, 4000, 8000).mean() * 80 / US_PS
    assert wait_us == pytest.approx(20 + 2 * 3.053 - RTT_PS / US_PS, rel=0.1)


def test_swift_survives_an_incast_of_hundreds_with_less_than_a_packet_each():
    # 990 flows of one packet are 83 us of the link; the target is 26 us and at most 10 more.
    n = 990
    control = "Swift[InitialPackets=1|ScalingRange=10us]"
    got = simulate([0] * n, control, size=40_000, stop_ps=20 * MS_PS)
    flows = got["flows"]
    assert (flows["timeouts"].sum(), flows["retransmitted_packets"].sum()) == (0, 0)
    assert flows["receiver_end_ps"].max() < 1.25 * n * 40 * FRAME_PS
    assert queue(got, 0, 100).max() > 80e-6 * RATE / 8
    assert queue(got, 500, 3000).mean() < 36e-6 * RATE / 8


def test_swift_shares_between_path_lengths():
    # What a link more costs is in the target, and who has less has a longer target.
    network = Network(hosts=[0, 1, 2], switches=[(SWITCH, 1), (1001, 1), (1002, 1)])
    for a, b in ((0, SWITCH), (1, SWITCH), (2, 1002), (1002, 1001), (1001, SWITCH)):
        network.link(a, b, RATE, US_PS)
    hop = "HopTarget=2089ns|FsMaxCwndPackets=1000"
    got = simulate([0, 0], f"Swift[{hop}]", network=network, stop_ps=20 * MS_PS)
    shares = rates(got, 10_000, 20_000)
    assert shares.sum() > 0.99 and abs(shares[0] - shares[1]) < 0.2


def test_dctcp_oscillates_below_its_threshold():
    # Alizadeh et al., SIGCOMM 2010, section 3.3: at most K and a packet of each flow; below that
    # by at most sqrt(2 N (C T + K)) / 2 packets. One packet more is on its way to the queue.
    n, k = 2, 65_000
    got = simulate([0] * n, "Dctcp", red=(k, k, 1), stop_ps=20 * MS_PS)
    waiting = queue(got, 5000, 20_000)
    packets = (BDP + k) / FRAME
    assert waiting.max() <= k + (n + 1) * FRAME
    assert waiting.min() >= k - (np.sqrt(2 * n * packets) / 2 + 1) * FRAME
    assert rates(got, 5000, 20_000).sum() > 0.999


def test_dctcp_is_fair_where_marks_are_drawn():
    # A step marks the same flow for ever when all packets come in one rhythm.
    got = simulate([0, 333_333], "Dctcp", red=(50_000, 80_000, 1), stop_ps=15 * MS_PS)
    assert rates(got, 5000, 15_000) == pytest.approx([0.5, 0.5], abs=0.05)


def test_dcqcn_is_fair_and_its_queue_stays_between_the_thresholds():
    pfc = {"Alpha": 0.125}
    red = (400_000, 1_600_000, 0.2)
    got = simulate(
        [0, 0], "Dcqcn", red=red, pfc=pfc, stop_ps=60 * MS_PS, sample_ps=10 * US_PS
    )  # fmt: skip
    assert rates(got, 20_000, 60_000) == pytest.approx([0.5, 0.5], abs=0.05)
    waiting = queue(got, 20_000, 60_000, 10)
    assert waiting.max() < 1_600_000
    # It is marked only above the least threshold, and rises to it again in milliseconds.
    assert waiting.max() > 400_000 and waiting.mean() > 0.75 * 400_000
    assert got["ports"]["pause_frames_sent"].sum() == 0


def test_notifications_keep_to_their_interval_per_flow():
    # Flows that never give way keep a queue, of which every packet is marked: for 1 ms a
    # notification of each flow every 50 us.
    n = 3
    got = simulate(
        [0] * n, "Dcqcn[MinShare=0.4]", red=(0, 0, 1), stop_ps=MS_PS, CnpBytes=100,
        sample_ps=MS_PS,
    )  # fmt: skip
    acks = got.port(0, SWITCH)
    marked = got["flows"]["ecn_marked_packets"].sum()
    cnps = (acks["sent_bytes"] - 64 * acks["sent_frames"]) / (100 - 64)
    assert marked > 1000
    assert n * 19 <= cnps <= n * 21


@pytest.mark.parametrize("transport", ["ns3::RoceTransport", "ns3::SprayTransport"])
@pytest.mark.parametrize(
    ("control", "over"),
    [("Dcqcn", 1.02), ("Dctcp", 1.02), ("Hpcc", 1.1), ("PowerTcp", 1.03), ("Swift", 1.02)],
)
def test_every_control_takes_an_incast_on_every_transport(transport, control, over):
    # The link is busy for 8 x 400 packets; HPCC leaves 5 % of it.
    red = (65_000, 65_000, 1) if control == "Dctcp" else (65_000, 300_000, 1)
    more = {"WindowBdp": 4} if transport == "ns3::SprayTransport" else {}
    got = simulate([0] * 8, control, transport=transport, red=red, size=400_000, **more)
    assert got["flows"]["receiver_end_ps"].max() < over * 8 * 400 * FRAME_PS
    assert got["flows"]["retransmitted_packets"].sum() == 0
    line_rate = 8 * 4 * BDP if more else 7 / 8 * 8 * 400 * FRAME
    assert got.port(SWITCH, 0)["max_queue_bytes"] < line_rate
