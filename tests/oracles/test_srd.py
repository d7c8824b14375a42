# SPDX-License-Identifier: GPL-2.0-only
"""SRD: timeouts to the picosecond, queues and shares of links against bounds."""

import numpy as np
import pytest
from numpy.random import default_rng
from oracle_network import (
    GBPS,
    MS_PS,
    US_PS,
    Flows,
    Network,
    inter_leaf_permutation,
    leaf_spine,
    line,
    one_flow,
    run,
    star,
)

pytestmark = pytest.mark.ns3

SRD = "ns3::SrdTransport"
RATE, BYTE_PS, DELAY_PS = 100 * GBPS, 80, US_PS
MTU = 4096
WIRE, ANSWER = MTU + 62 + 20, 66 + 20
PACKET_PS, ANSWER_PS = WIRE * BYTE_PS, ANSWER * BYTE_PS
#: Over two links of which each sends a frame on when it has all of it.
WAY_PS = 2 * (PACKET_PS + DELAY_PS)
RTT_PS = WAY_PS + 2 * (ANSWER_PS + DELAY_PS)
PIPE = RTT_PS // PACKET_PS + 1  # packets: 15
FIRST = 3 * PIPE // 2 + 1  # packets in flight at first: room for a round trip that is up by a half
RTO_PS = 250 * US_PS
DROPS = ("ns3::DropTail", {"LimitBytes": 400_000})


def srd(**attributes):
    return [(SRD, attributes)]


# ---- losses


@pytest.mark.parametrize("lost", [1, 4, 10])
def test_a_lost_packet_is_sent_again_after_the_timeout(lost):
    # Nothing but time tells: what comes after it says nothing. Ten packets are one window.
    got = run(
        line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, 10 * MTU), srd(), drops=[(0, 10, lost)]
    )
    assert got.fct_ps() == (lost - 1) * PACKET_PS + RTO_PS + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (1, 1)


def test_a_packet_that_is_lost_again_takes_twice_as_long():
    got = run(
        line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, 10 * MTU), srd(),
        drops=[(0, 10, 10), (0, 10, 11)],
    )  # fmt: skip
    assert got.fct_ps() == 9 * PACKET_PS + 3 * RTO_PS + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (2, 2)


def test_a_packet_that_is_late_is_none_that_is_lost():
    # The second of two paths is 100 us longer: any count of packets would take its for lost.
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (20, 2), (21, 2)])
    for host, leaf in ((0, 10), (1, 11)):
        network.link(host, leaf, RATE, DELAY_PS)
        network.link(leaf, 20, RATE, DELAY_PS)
        network.link(leaf, 21, RATE, 50 * DELAY_PS)
    got = run(network, one_flow(0, 1, 2000 * MTU), srd(), forwarding="ns3::EntropyModulo")
    assert got.flow(0)["retransmitted_packets"] == 0


def test_a_dead_path_costs_timeouts_of_its_packets_alone():
    # Of 64 paths over eight spines eight are dead. Each loses a packet and is passed over when that
    # is out for two round trips. After a timeout the eight are drawn anew, one of them dead again;
    # three timeouts in a row, of 250, 500 and 1000 us, have a chance of 8 / 8^2.
    packets, spines = 4000, 8
    network, flow = leaf_spine(2, 1, spines, RATE, DELAY_PS), one_flow(0, 1, packets * MTU)
    drops = [(10_000, 20_003, n) for n in range(1, packets)]
    got = run(network, flow, srd(), forwarding="ns3::EntropyModulo", drops=drops, queue=DROPS)
    least_ps = (packets - 1) * PACKET_PS + 2 * WAY_PS
    lost = got.flow(0)["retransmitted_packets"]
    assert got.port(10_000, 20_003)["sent_data_packets"] == lost
    assert 3 <= lost < 64
    assert least_ps < got.fct_ps() < least_ps + 4 * RTO_PS


# ---- paths


def test_another_path_takes_the_place_of_one_that_has_lost_a_packet():
    # Four paths, over four of eight spines. When one is dead, its place is taken by one of the four
    # others, or by one in use: 4 of 7 for each seed, so that none of six has a chance of 0.6 %.
    packets = 2000
    network, flow = leaf_spine(2, 1, 8, RATE, DELAY_PS), one_flow(0, 1, packets * MTU)

    def sent(seed, drops=()):
        options = {"forwarding": "ns3::EntropyModulo", "drops": drops, "seed": seed}
        got = run(network, flow, srd(Paths=4), **options)
        return np.array([got.port(10_000, 20_000 + i)["sent_data_packets"] for i in range(8)])

    taken = []
    for seed in range(1, 7):
        alive = sent(seed)
        assert sum(alive > 0) == 4
        dead = 20_000 + int(np.argmax(alive))
        after = sent(seed, [(10_000, dead, n) for n in range(1, packets)])
        taken.append(after[alive == 0].max() > 0.1 * packets)
    assert any(taken)


def test_paths_that_are_slower_than_the_others_are_left():
    # 75 and 20 Gb/s: both together carry 95, half of the packets on each 40 at most. A path by the
    # slow one is left as soon as its round trip is a quarter longer than the others'. Between 1 for
    # the best and 2.1 for paths that are kept, 1.5 is half of the way.
    packets = 8000
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (20, 2), (21, 2)])
    for host, leaf in ((0, 10), (1, 11)):
        network.link(host, leaf, RATE, DELAY_PS)
        network.link(leaf, 20, 75 * GBPS, DELAY_PS)
        network.link(leaf, 21, 20 * GBPS, DELAY_PS)
    kinds = {"forwarding": "ns3::EntropyModulo", "buffer_bytes": 64_000_000}
    flow = one_flow(0, 1, packets * MTU)
    kept = run(network, flow, srd(RerouteShare=100), **kinds)
    left = run(network, flow, srd(), **kinds)
    wire_ps = packets * WIRE * 8000
    assert kept.fct_ps() > 0.9 * wire_ps / 40
    assert wire_ps / 95 <= left.fct_ps() <= 1.5 * wire_ps / 95
    fast, slow = (left.port(10, spine)["sent_data_packets"] for spine in (20, 21))
    assert slow / (fast + slow) < 0.35


def test_a_permutation_has_four_fifths_of_its_links():
    # The max-min share of a permutation of 128 hosts under 8 leaves and 16 spines is a whole link,
    # 4096 of 4178 B of it payload. Paths are hashed, so that packets meet: with more load than this
    # most round trips are up by a half.
    size = 20_000_000
    flows = Flows()
    for src, dst in enumerate(inter_leaf_permutation(8, 16, default_rng(1))):
        flows.add(src, int(dst), size)
    network = leaf_spine(8, 16, 16, RATE, DELAY_PS // 2)
    got = run(network, flows, srd(), queue=DROPS)
    share = size * BYTE_PS / got.fcts_ps()
    assert 0.8 * MTU / WIRE < share.mean() <= MTU / WIRE and share.min() > 0.6


# ---- limits


def test_a_rate_of_one_packet_per_round_trip_is_kept():
    # There is room for two in flight. The first answer begins a round, and that of the second ends
    # it: an eighth of a packet more from then on.
    expected_ps = [0, RTT_PS, 2 * RTT_PS, 2 * RTT_PS + 8 * RTT_PS // 9]
    for packets in (1, 2, 3, 4):
        got = run(
            line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, packets * MTU), srd(InitialPackets=1)
        )
        assert got.fct_ps() == expected_ps[packets - 1] + WAY_PS


@pytest.mark.parametrize("senders", [2, 8, 32])
def test_an_incast_takes_what_its_last_link_takes(senders):
    # 2 MB each. A rate is cut to what drains the queue: 5 % are allowed for times without a packet.
    # What is in flight at first is the longest queue.
    packets = 500
    flows = Flows()
    for src in range(1, senders + 1):
        flows.add(src, 0, packets * MTU)
    got = run(star(senders + 1, RATE, DELAY_PS), flows, srd(), buffer_bytes=64_000_000)
    least_ps = senders * packets * PACKET_PS + WAY_PS - PACKET_PS
    last_ps = int(got["flows"]["receiver_end_ps"].max())
    assert least_ps <= last_ps <= 1.05 * least_ps + 5 * RTT_PS
    assert got["flows"]["retransmitted_packets"].sum() == 0
    assert got.port(1000, 0)["max_queue_bytes"] <= FIRST * senders * (MTU + 62)


def test_rates_below_a_packet_per_round_trip_share_a_link():
    # 128 senders, each with a ninth of a packet in an unloaded round trip; 10 % are allowed.
    senders, packets = 128, 500
    flows = Flows()
    for src in range(1, senders + 1):
        flows.add(src, 0, packets * MTU)
    got = run(
        star(senders + 1, RATE, DELAY_PS), flows, srd(), buffer_bytes=64_000_000, arrivals=True,
    )  # fmt: skip
    least_ps = senders * packets * PACKET_PS
    last_ps = int(got["flows"]["receiver_end_ps"].max())
    assert least_ps <= last_ps <= 1.1 * least_ps
    assert got["flows"]["retransmitted_packets"].sum() == 0


def test_two_messages_share_a_link_and_its_queue_is_short():
    # The second comes 1 ms later with as much in flight as at first; the other one, alone until it
    # hears of that, may have a product more. In the last half of the time that both are there each
    # has 35 to 65 % of the packets.
    flows = Flows()
    flows.add(1, 0, 10_000 * MTU)
    flows.add(2, 0, 10_000 * MTU, MS_PS)
    got = run(star(3, RATE, DELAY_PS), flows, srd(), arrivals=True, buffer_bytes=64_000_000)
    time_ps, flow = got["arrivals"]["time_ps"], got["arrivals"]["flow"]
    end_ps = got["flows"]["receiver_end_ps"].min()
    both = (time_ps > (MS_PS + end_ps) / 2) & (time_ps < end_ps)
    assert 0.35 < (flow[both] == 0).mean() < 0.65
    assert got.port(1000, 0)["max_queue_bytes"] <= (FIRST + PIPE) * (MTU + 62)
    assert got["flows"]["receiver_end_ps"].max() <= 1.05 * 20_000 * PACKET_PS
