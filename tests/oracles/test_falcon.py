# SPDX-License-Identifier: GPL-2.0-only
"""Falcon: windows in closed form, losses to the picosecond, shares of links against bounds."""

import numpy as np
import pytest
from numpy.random import default_rng
from oracle_network import (
    GBPS,
    MS_PS,
    US_PS,
    Flows,
    Network,
    fat_tree,
    inter_leaf_permutation,
    leaf_spine,
    line,
    one_flow,
    run,
    star,
)

pytestmark = pytest.mark.ns3

FALCON = "ns3::FalconTransport"
RATE, BYTE_PS, DELAY_PS = 100 * GBPS, 80, US_PS
MTU = 4096
WIRE, ANSWER = MTU + 62 + 20, 66 + 20
PACKET_PS, ANSWER_PS = WIRE * BYTE_PS, ANSWER * BYTE_PS
#: Over two links of which each sends a frame on when it has all of it.
WAY_PS = 2 * (PACKET_PS + DELAY_PS)
RTT_PS = WAY_PS + 2 * (ANSWER_PS + DELAY_PS)
RTO_PS, LEAST_PROBE_PS = 250 * US_PS, 50 * US_PS
#: 80 us at 100 Gb/s: more than the target of 25 us, 1 us for each of four links and what is added
#: for windows of several packets.
DROPS = ("ns3::DropTail", {"LimitBytes": 1_000_000})


def falcon(**attributes):
    return [(FALCON, attributes)]


def on_a_line(packets, *, lost=(), **attributes):
    """Send a message over two links; the first loses some frames, by how many-th they are."""
    return run(
        line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, packets * MTU), falcon(**attributes),
        drops=[(0, 10, ordinal) for ordinal in lost],
    )  # fmt: skip


# ---- windows


@pytest.mark.parametrize("window", [1, 3, 12])
@pytest.mark.parametrize("attribute", ["BitmapPackets", "MaxWindowPackets"])
def test_a_window_of_packets_each_round_trip(window, attribute):
    # Packet n goes when packet n - window was answered: neither the bitmap of the destination nor
    # the one flow here has room for more. A round trip holds more packets than that.
    assert window * PACKET_PS < RTT_PS
    packets = 5 * window + 2
    got = on_a_line(packets, Flows=1, **{attribute: window})
    rounds, rest = divmod(packets - 1, window)
    assert got.fct_ps() == rounds * RTT_PS + rest * PACKET_PS + WAY_PS


def test_flows_share_the_first_window():
    # Twelve packets for three flows: four each, then one more for each that was answered. With a
    # message of twelve packets nothing waits, whatever the number of flows.
    for flows in (1, 3, 5):
        got = on_a_line(12, Flows=flows, InitialPackets=12)
        assert got.fct_ps() == 11 * PACKET_PS + WAY_PS


def by_answers(packets, window):
    """Return the time of a message whose window grows by one over it with each answer."""
    sent_ps, answers, now_ps, free_ps = [], 0, 0, 0
    while len(sent_ps) < packets:
        if len(sent_ps) - answers < int(window + 1e-9):
            sent_ps.append(max(now_ps, free_ps))
            free_ps = sent_ps[-1] + PACKET_PS
        else:
            now_ps = sent_ps[answers] + RTT_PS
            window += 1 / window
            answers += 1
    return sent_ps[-1] + WAY_PS


@pytest.mark.parametrize("window", [1, 2, 5])
def test_a_window_below_the_target_grows_by_one_over_it_with_each_answer(window):
    # Swift's additive increase, by a loop that knows nothing but answers. Twelve packets are less
    # than a round trip, so that each round waits and shows the window.
    for packets in (window, 12, 40):
        got = on_a_line(packets, Flows=1, InitialPackets=window)
        assert got.fct_ps() == by_answers(packets, window)


def test_a_window_below_a_packet_is_a_pause_between_packets():
    # A target of 1 us is never met: each answer halves the window of one packet, the most that is
    # taken at once. Packet n goes a round trip over the window, 2^n of them, after the one before.
    never = {"BaseTarget": "1us", "HopTarget": "0us", "ScalingRange": "0us"}
    for packets in (1, 2, 3, 5):
        got = on_a_line(packets, Flows=1, InitialPackets=1, **never)
        assert got.fct_ps() == (2**packets - 2) * RTT_PS + WAY_PS


# ---- losses


def test_a_loss_amid_a_window_is_seen_a_quarter_of_a_round_trip_after_the_next_answer():
    # RACK: packet 3 left at 3 P; packet 4 was answered after a round trip, so 3 is late when a
    # round trip and a quarter of the smoothed one are over. Its copy goes then, as the rest of the
    # window has gone: twelve packets.
    got = on_a_line(12, lost=[4], Flows=1, InitialPackets=12)
    late_ps = 3 * PACKET_PS + RTT_PS + RTT_PS // 4
    assert late_ps > 11 * PACKET_PS
    assert got.fct_ps() == late_ps + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (0, 1)


def test_a_lost_tail_is_probed_after_a_silence():
    # Two round trips are less than the least silence; it begins with the last answer.
    assert 2 * RTT_PS < LEAST_PROBE_PS
    heard_ps = 10 * PACKET_PS + RTT_PS
    got = on_a_line(12, lost=[12], Flows=1, InitialPackets=12)
    assert got.fct_ps() == heard_ps + LEAST_PROBE_PS + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (0, 1)

    longer = on_a_line(12, lost=[12], Flows=1, InitialPackets=12, LeastProbe="1us")
    assert longer.fct_ps() == heard_ps + 2 * RTT_PS + WAY_PS

    never = on_a_line(12, lost=[12], Flows=1, InitialPackets=12, TailLossProbe=False)
    assert never.fct_ps() == 11 * PACKET_PS + RTO_PS + WAY_PS
    assert never.flow(0)["timeouts"] == 1


def test_the_answer_of_a_probe_shows_what_else_was_lost():
    # Three at the end: the first of them is the probe; the others left before it and are late.
    heard_ps = 8 * PACKET_PS + RTT_PS
    got = on_a_line(12, lost=[10, 11, 12], Flows=1, InitialPackets=12)
    assert got.fct_ps() == heard_ps + LEAST_PROBE_PS + RTT_PS + PACKET_PS + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (0, 3)


def test_a_lost_probe_waits_for_the_timeout_of_its_own_copy():
    heard_ps = 10 * PACKET_PS + RTT_PS
    got = on_a_line(12, lost=[12, 13], Flows=1, InitialPackets=12)
    assert got.fct_ps() == heard_ps + LEAST_PROBE_PS + RTO_PS + WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (1, 2)


@pytest.mark.parametrize("loss", [0.001, 0.01])
def test_random_losses_cost_round_trips_and_no_timeouts(loss):
    # 40 losses are expected; less than 12 or more than 100 have a chance of 1e-6. Each holds the
    # window for a round trip and a quarter until it is seen and one more until it is answered.
    # Copies are lost, too: with a chance of 1 % more than three, each of which may need a probe.
    # As many answers are lost. What they would have said is in the next one, so that nothing is
    # sent again but what was lost, and the last packet if its answer was.
    packets = round(40 / loss)
    network = Network(hosts=[0, 1], switches=[(10, 1)])
    network.link(0, 10, RATE, DELAY_PS, loss=loss)
    network.link(1, 10, RATE, DELAY_PS)
    got = run(network, one_flow(0, 1, packets * MTU), falcon())
    least_ps = (packets - 1) * PACKET_PS + WAY_PS
    lost = got.flow(0)["retransmitted_packets"]
    assert 12 <= lost <= 100
    most_ps = least_ps + lost * 2.25 * RTT_PS + 3 * (LEAST_PROBE_PS + RTT_PS)
    assert least_ps < got.fct_ps() <= most_ps
    assert got.flow(0)["timeouts"] == 0
    data, answers = (got.port(*link)["dropped_loss_frames"] for link in ((10, 0), (0, 10)))
    assert data <= lost <= data + 1 and answers >= 12


def test_flows_on_paths_of_unlike_length_send_nothing_twice():
    # Each flow judges by its own path: 2 us more there and back are 40 % of the shorter round trip.
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (20, 2), (21, 2)])
    for host, leaf in ((0, 10), (1, 11)):
        network.link(host, leaf, RATE, DELAY_PS)
        network.link(leaf, 20, RATE, DELAY_PS)
        network.link(leaf, 21, RATE, 2 * DELAY_PS)
    got = run(
        network, one_flow(0, 1, 2000 * MTU), falcon(PathSelector="ns3::PermutedEntropy"),
        forwarding="ns3::EntropyModulo", queue=DROPS,
    )  # fmt: skip
    assert min(got.port(10, spine)["sent_data_packets"] for spine in (20, 21)) > 50
    assert got.flow(0)["retransmitted_packets"] == 0


def test_flows_leave_a_path_that_is_dead_after_a_timeout():
    # Four flows on four of eight paths; the path of one loses all that is sent. The window stands
    # still at its first packet, whose probe is lost as well; after a timeout the flow draws another
    # path. That is the dead one again with a chance of 1/8, and then the timeout doubles: a third
    # one has a chance of 1/64. Two flows may be on the dead path then, not at first.
    packets, spines = 2000, 8
    network, flow = leaf_spine(2, 1, spines, RATE, DELAY_PS), one_flow(0, 1, packets * MTU)
    spread = falcon(PathSelector="ns3::PermutedEntropy")
    options = {"queue": DROPS, "forwarding": "ns3::EntropyModulo"}
    alive = run(network, flow, spread, **options)
    sent = [alive.port(10_000, 20_000 + i)["sent_data_packets"] for i in range(spines)]
    assert sum(count > 0 for count in sent) == 4 and max(sent) < 1.1 * packets / 4
    dead = 20_000 + int(np.argmax(sent))
    drops = [(10_000, dead, n) for n in range(1, packets)]
    got = run(network, flow, spread, drops=drops, **options)

    least_ps = (packets - 1) * PACKET_PS + 2 * WAY_PS
    assert alive.fct_ps() == least_ps
    assert 1 <= got.flow(0)["timeouts"] <= 2
    assert least_ps + RTO_PS < got.fct_ps() < least_ps + 3 * RTO_PS + 10 * RTT_PS
    assert got.port(10_000, dead)["sent_data_packets"] <= got.flow(0)["retransmitted_packets"] < 100


# ---- shares


@pytest.mark.parametrize("senders", [2, 8, 32])
def test_an_incast_takes_what_its_last_link_takes(senders):
    # Never empty while anybody sends: 2 MB each, and the way. 2 % more, and a round trip at the
    # target, 25 us and what is added for links and small windows.
    packets = 500
    flows = Flows()
    for src in range(1, senders + 1):
        flows.add(src, 0, packets * MTU)
    got = run(star(senders + 1, RATE, DELAY_PS), flows, falcon(), buffer_bytes=64_000_000)
    least_ps = senders * packets * PACKET_PS + WAY_PS - PACKET_PS
    last_ps = int(got["flows"]["receiver_end_ps"].max())
    assert least_ps <= last_ps <= 1.02 * least_ps + 60 * US_PS
    assert got["flows"]["timeouts"].sum() == 0 and got.drops() == 0


def test_windows_below_a_packet_share_a_short_queue():
    # 128 senders of which each may have less than a packet under way: their target, at most
    # 25 + 2 + 100 us, is 380 packets. Their first windows, 15 packets each, overrun 2 MB.
    senders, packets = 128, 250
    flows = Flows()
    for src in range(1, senders + 1):
        flows.add(src, 0, packets * MTU)
    got = run(
        star(senders + 1, RATE, DELAY_PS), flows, falcon(),
        queue=("ns3::DropTail", {"LimitBytes": 2_000_000}), buffer_bytes=64_000_000,
    )  # fmt: skip
    least_ps = senders * packets * PACKET_PS
    last_ps = int(got["flows"]["receiver_end_ps"].max())
    assert least_ps <= last_ps <= 1.1 * least_ps
    copies = got["flows"]["retransmitted_packets"].sum()
    assert copies < 0.1 * senders * packets


def test_two_messages_share_a_link():
    # The same flows, windows and targets; the second comes 1 ms later. In the last half of the time
    # that both are there each has 35 to 65 % of the packets.
    flows = Flows()
    flows.add(1, 0, 40_000 * 1024)
    flows.add(2, 0, 40_000 * 1024, MS_PS)
    got = run(star(3, RATE, DELAY_PS), flows, falcon(), arrivals=True, buffer_bytes=64_000_000)
    time_ps, flow = got["arrivals"]["time_ps"], got["arrivals"]["flow"]
    end_ps = got["flows"]["receiver_end_ps"].min()
    both = (time_ps > (MS_PS + end_ps) / 2) & (time_ps < end_ps)
    assert 0.35 < (flow[both] == 0).mean() < 0.65


def test_the_queue_of_two_messages_is_that_of_the_target():
    # Both begin together, with 15 packets. Eight flows of 12 packets are 32 us of 100 Gb/s, and
    # their target is 25 + 2 + 32.3 / sqrt(12) - 2 = 34 us, of which 4.7 are no queue. One round
    # trip of increase, eight packets, is 2.7 us more: 25 to 37 us for the longest queue.
    flows = Flows()
    flows.add(1, 0, 2000 * MTU)
    flows.add(2, 0, 2000 * MTU)
    got = run(star(3, RATE, DELAY_PS), flows, falcon(), buffer_bytes=64_000_000)
    assert 25 * US_PS < got.port(1000, 0)["max_queue_bytes"] * BYTE_PS < 37 * US_PS


def test_a_slow_host_is_sent_what_it_takes():
    # 25 of 100 Gb/s: 20 MB at 25 Gb/s, less what may lie in its interface at the end, 512 kB; its
    # level is kept at half of that, so that nothing is lost by waiting: 5 % more.
    packets, host = 5000, 25
    got = on_a_line(packets, HostRateBps=host * GBPS)
    rate_ps = 8 * 1000 / host
    most_ps = packets * MTU * rate_ps
    assert most_ps - 512_000 * rate_ps <= got.fct_ps() <= 1.05 * most_ps
    assert on_a_line(packets).fct_ps() == (packets - 1) * PACKET_PS + WAY_PS


def permutation(network, destinations, **attributes):
    """Return the share of its link that each message has, of 20 MB."""
    size = 20_000_000
    flows = Flows()
    for src, dst in enumerate(destinations):
        flows.add(src, int(dst), size)
    got = run(
        network, flows, falcon(**attributes), queue=DROPS, buffer_bytes=128_000_000,
    )  # fmt: skip
    return size * BYTE_PS / got.fcts_ps()


def test_flows_that_leave_full_paths_share_a_permutation():
    # The max-min share of a permutation is a whole link, 4096 of 4178 B of it payload. One flow
    # that keeps to a path drawn of 16 has 1 - (15 / 16)^16 = 0.644 of its first link on the mean at
    # most, and 0.08 is three deviations. Four, each of which leaves a full path, at least 0.8.
    network = leaf_spine(8, 16, 16, RATE, DELAY_PS // 2)
    destinations = inter_leaf_permutation(8, 16, default_rng(1))
    most = 1 - (15 / 16) ** 16
    kept = permutation(network, destinations, Flows=1, RepathRounds=0)
    assert kept.mean() < most + 0.08
    left = permutation(network, destinations, Flows=1)
    assert left.mean() > kept.mean()
    four = permutation(network, destinations)
    assert 0.8 < four.mean() <= MTU / WIRE and four.min() > 0.5


def test_three_tiers_are_shared_to_three_quarters_of_what_fluid_gives():
    # A fat tree of 128 hosts, in which each message may have its whole link: the fluid engine says
    # so of sprayed ones. Four flows draw a path on the way up twice.
    network = fat_tree(8, RATE, DELAY_PS // 2)
    destinations = inter_leaf_permutation(32, 4, default_rng(3))
    flows = Flows()
    for src, dst in enumerate(destinations):
        flows.add(src, int(dst), 20_000_000)
    fluid = run(network, flows, [("ns3::SprayTransport", {})], engine="fluid")
    most = 20_000_000 * BYTE_PS / fluid.fcts_ps()
    assert most == pytest.approx(np.full(128, MTU / WIRE), rel=0.01)
    got = permutation(network, destinations)
    assert (got <= most).all() and got.mean() > 0.75 * most.mean()
