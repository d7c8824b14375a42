# SPDX-License-Identifier: GPL-2.0-only
"""What a loss costs: go-back-N, selective repeat, timeouts."""

import math

import pytest
from oracle_network import GBPS, MS_PS, US_PS, Flows, Network, line, one_flow, run

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80
MTU = 4096
DATA_PS = (MTU + 62 + 20) * BYTE_PS  # "d"; RETH off, so all full packets are equal
ACK_PS = (66 + 20) * BYTE_PS  # "a"
DELAY_PS = 5 * US_PS  # "tau", two links
ONE_WAY_PS = 2 * DATA_PS + 2 * DELAY_PS
BACK_PS = 2 * ACK_PS + 2 * DELAY_PS
RTT_PS = ONE_WAY_PS + BACK_PS
RTO_PS = 100 * US_PS

GO_BACK_N = {"RethBytes": 0, "Rto": "100us"}
SELECTIVE = {**GO_BACK_N, "Recovery": "SelectiveRepeat", "RtoLow": "100us"}
SWITCH = 10


def lose(n_packets, ordinals, attributes, **options):
    """Send n packets over two links; lose the data frames with these ordinals on the first."""
    return run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]),
        one_flow(0, 1, n_packets * MTU),
        [("ns3::RoceTransport", attributes)],
        drops=[(0, SWITCH, ordinal) for ordinal in ordinals],
        **options,
    )


def packets_begun_by_nak(lost):
    """Return how many packets have been begun when the NAK for packet `lost` is processed.

    Packet i is begun at i * d and arrives whole at i * d + ONE_WAY. The NAK is the answer to
    packet lost + 1 and is at the source BACK later. Packets 0 .. floor(t / d) are begun by t.
    """
    nak_ps = (lost + 1) * DATA_PS + ONE_WAY_PS + BACK_PS
    return nak_ps // DATA_PS + 1


@pytest.mark.parametrize("lost", [0, 1, 100, 250])
def test_one_loss_sends_again_what_was_in_flight_when_the_nak_came(lost):
    n = 400
    again = packets_begun_by_nak(lost) - lost  # from the lost one up to the last begun

    got = lose(n, [lost + 1], GO_BACK_N)

    flow = got.flow(0)
    assert flow["retransmitted_packets"] == again
    assert flow["sent_data_packets"] == n + again
    assert (flow["naks"], flow["timeouts"]) == (1, 0)
    # The wire is never idle, so the end is later by just these packets.
    assert got.fct_ps() == (n + again - 1) * DATA_PS + ONE_WAY_PS


def test_two_losses_in_one_flight_cost_one_going_back():
    # 100 and 110 are lost in the first flight (ordinals 101, 111), and all after 100 is dropped
    # by the receiver anyway. In the second flight both come through.
    again = packets_begun_by_nak(100) - 100
    got = lose(400, [101, 111], GO_BACK_N)
    assert got.flow(0)["retransmitted_packets"] == again


def test_a_lost_retransmission_waits_for_the_next_nak():
    # Packet 100 is lost; when the NAK comes `begun` packets have been sent, so its copy is
    # frame number begun + 1. Lose that too. The receiver has answered this gap already and
    # repeats the NAK when one of the copies of 101.. comes in NakInterval after the first NAK.
    begun = packets_begun_by_nak(100)
    interval_ps = 2 * RTT_PS
    first_nak_ps = 101 * DATA_PS + ONE_WAY_PS
    # First arrival at or after first_nak + interval: arrivals are at multiples of d + ONE_WAY.
    second_nak_ps = first_nak_ps + -(-interval_ps // DATA_PS) * DATA_PS
    resumed = (second_nak_ps + BACK_PS) // DATA_PS + 1  # frames begun by then
    total = resumed + 400 - 100

    got = lose(400, [101, begun + 1], {**GO_BACK_N, "NakInterval": f"{interval_ps}ps"})

    assert got.flow(0)["sent_data_packets"] == total
    assert got.flow(0)["naks"] == 2
    assert got.fct_ps() == (total - 1) * DATA_PS + ONE_WAY_PS


@pytest.mark.parametrize("attributes", [GO_BACK_N, SELECTIVE])
def test_a_lost_only_packet_comes_one_timeout_later(attributes):
    # The timer starts with the packet. MaxBackoff doubles the second: 1 + 2 timeouts.
    assert lose(1, [1], attributes).fct_ps() == RTO_PS + ONE_WAY_PS
    assert lose(1, [1, 2], attributes).fct_ps() == 3 * RTO_PS + ONE_WAY_PS
    assert lose(1, [1, 2, 3], {**attributes, "MaxBackoff": 1}).fct_ps() == 5 * RTO_PS + ONE_WAY_PS


@pytest.mark.parametrize("attributes", [GO_BACK_N, SELECTIVE])
def test_a_lost_last_packet_comes_one_timeout_after_the_last_progress(attributes):
    # The timer starts anew with each progress, the last one is the ACK of packet n - 2.
    n = 50
    last_ack_ps = (n - 2) * DATA_PS + RTT_PS
    got = lose(n, [n], attributes)
    assert got.fct_ps() == last_ack_ps + RTO_PS + ONE_WAY_PS
    flow = got.flow(0)
    assert (flow["timeouts"], flow["retransmitted_packets"]) == (1, 1)


def test_a_lost_acknowledgement_is_asked_for_again_after_one_timeout():
    # Half of all frames are lost, both ways, on one link. One packet; k timeouts in a row last
    # 1 + 2 + ... = 2^k - 1 timeouts (MaxBackoff 7). Whatever is lost, the receiver's end lies at
    # the j-th copy and the sender's at the k-th, j <= k:
    network = line([RATE, RATE], [DELAY_PS, DELAY_PS])
    network.links[1] = (*network.links[1][:5], 0.5, 0.0)
    copies = []
    for seed in range(60):
        flow = run(
            network, one_flow(0, 1, MTU), [("ns3::RoceTransport", GO_BACK_N)], seed=seed
        ).flow(0)
        k = flow["timeouts"]
        assert flow["sender_end_ps"] == (2 ** min(k, 7) - 1 + 128 * max(k - 7, 0)) * RTO_PS + RTT_PS
        waits = [(2**j - 1) * RTO_PS + ONE_WAY_PS for j in range(k + 1)]
        assert flow["receiver_end_ps"] in waits or k > 7
        copies.append((waits.index(flow["receiver_end_ps"]), k) if k <= 7 else (0, k))
    # The ACK alone was lost in some runs: P(j < k) = 1 - P(j = k). For one copy to do both:
    # sum over j of P(first data at j) P(its ACK comes) = 1/2. 60 runs without one: 2^-60.
    assert any(j < k for j, k in copies)
    # P(k = 0) = 1/4: 15 of 60 expected, sd 3.4; 4 sd, false alarm 6e-5 (seeds are fixed).
    assert abs(sum(k == 0 for _, k in copies) - 15) < 14


# transports.md section 7: N packets per round trip. 1008 + 62 + 20 B = 1090 B at 100 Gb/s.
SMALL = 1008
SMALL_PS = 1090 * BYTE_PS
PER_RTT = 138


def random_loss(n, ratio, attributes, seed, per_rtt=PER_RTT):
    """Send n small packets over a lossy link.

    The delay makes it `per_rtt` packets from the begin of a lost one to the going back: from
    its begin to the begin of its copy pass one round trip and the packet after it, plus the
    rest of the packet on the wire, rounded up to whole packets.
    """
    fixed_ps = 3 * SMALL_PS + 2 * ACK_PS  # next packet, two links out, two ACK times back
    delay_ps = ((per_rtt * SMALL_PS - SMALL_PS // 2) - fixed_ps) // 4
    network = line([RATE, RATE], [delay_ps, delay_ps])
    network.links[1] = (*network.links[1][:5], ratio, 0.0)
    rtt_ps = per_rtt * SMALL_PS
    transport = {
        "RethBytes": 0,
        "MtuBytes": SMALL,
        "NakInterval": f"{rtt_ps * 21 // 20}ps",
        **attributes,
    }
    return run(network, one_flow(0, 1, n * SMALL), [("ns3::RoceTransport", transport)], seed=seed)


@pytest.mark.parametrize(("ratio", "n"), [(1e-4, 100_000), (1e-3, 60_000), (1e-2, 20_000)])
def test_goodput_of_go_back_n_under_random_loss_follows_the_closed_form(ratio, n):
    # A packet gets through after L losses, L geometric with mean p / (1 - p); each loss costs N
    # transmissions. Efficiency (1 - p) / (1 - p + N p).
    # Sum of L over n packets: mean n p / (1 - p), variance n p / (1 - p)^2, so the time is known
    # to 4 sigma with a false alarm of 6e-5. A NAK is lost as well with probability p, and then
    # the next comes about one round trip later: N (1 + p) instead of N.
    cost = PER_RTT * (1 + ratio)
    losses = n * ratio / (1 - ratio)
    sigma = math.sqrt(n * ratio) / (1 - ratio)

    got = random_loss(n, ratio, {"Rto": "1ms"}, seed=3)

    packets_of_time = got.fct_ps() / SMALL_PS
    assert packets_of_time == pytest.approx(n + cost * losses, abs=4 * cost * sigma + PER_RTT)
    # The same in the form of the reference, for its own three values.
    efficiency = n / packets_of_time
    reference = {1e-4: 0.986, 1e-3: 0.879, 1e-2: 0.418}[ratio]
    spread = 4 * cost * sigma / (n + cost * losses)
    assert efficiency == pytest.approx(reference, rel=spread + 0.01)


def test_each_random_loss_costs_go_back_n_the_same_number_of_packets():
    # Sharper than the time: retransmitted = N per loss, whatever the number of losses, except
    # where a NAK or a copy is lost as well (1 % each).
    got = random_loss(20_000, 1e-2, {"Rto": "1ms"}, seed=4)
    flow = got.flow(0)
    assert flow["retransmitted_packets"] / flow["naks"] == pytest.approx(PER_RTT, rel=0.03)


def test_selective_repeat_sends_one_packet_for_one_loss():
    # A window of several round trips keeps the wire busy, so the end is one packet later.
    n = 400
    got = lose(n, [101], {**SELECTIVE, "WindowBytes": 10**9})
    flow = got.flow(0)
    assert (flow["retransmitted_packets"], flow["timeouts"]) == (1, 0)
    assert got.fct_ps() == n * DATA_PS + ONE_WAY_PS
    # All that came between the loss and its repair waited: begun by the NAK, minus 101.
    assert flow["out_of_order_peak_packets"] == packets_begun_by_nak(100) - 101


@pytest.mark.parametrize("ratio", [1e-4, 1e-3, 1e-2])
def test_goodput_of_selective_repeat_under_random_loss_is_one_minus_p(ratio):
    # n / (1 - p) packets are sent. A copy is lost with probability p and then waits for the
    # timeout: n p^2 times about one window of copies too many (30 packets, 2 times in 20 000).
    n = 20_000
    attributes = {
        "Recovery": "SelectiveRepeat",
        "WindowBytes": 300 * SMALL,
        "Rto": "6us",
        "RtoLow": "6us",
    }
    got = random_loss(n, ratio, attributes, seed=2, per_rtt=30)
    assert n * SMALL_PS / got.fct_ps() == pytest.approx(1 - ratio, rel=0.01)


def test_a_window_of_one_round_trip_stalls_for_about_one_on_each_loss():
    # IRN bounds next - cumulative by the BDP, so behind a hole the source stops: packet i goes
    # out at i * d; window W = ceil(RTT / d). The hole's copy goes out at its NAK, one RTT + d
    # after the hole at the latest begun packet's end, and its cumulative ACK takes one RTT more;
    # until then W packets may go. Time lost: about 2 RTT + d - W d, that is one RTT.
    n = 400
    got = lose(n, [101], SELECTIVE)
    lost_ps = got.fct_ps() - ((n - 1) * DATA_PS + ONE_WAY_PS)
    assert got.flow(0)["retransmitted_packets"] == 1
    assert lost_ps == pytest.approx(RTT_PS, abs=3 * DATA_PS)


WINDOW = 17


@pytest.mark.parametrize(
    ("attributes", "window"),
    [
        ({**SELECTIVE, "WindowBytes": WINDOW * MTU}, WINDOW),
        ({**GO_BACK_N, "WindowBytes": WINDOW * MTU}, WINDOW),
        (SELECTIVE, -(-RTT_PS // DATA_PS)),  # no window given: one bandwidth-delay product
    ],
)
@pytest.mark.parametrize("drops", [[], [1], [30, 31, 45]])
def test_no_more_is_in_flight_than_the_window(attributes, window, drops):
    # Stop at many times t. What the source knows by t to have arrived in order are the packets
    # whose cumulative ACK has had BACK to come. The rest is in flight.
    n = 120
    arrivals = lose(n, drops, attributes, arrivals=True)["arrivals"]
    peak = 0
    for stop_ps in range(US_PS, 60 * US_PS, 1_234_567):
        flow = lose(n, drops, attributes, stop_ps=stop_ps).flow(0)
        known = {
            int(packet)
            for packet, time in zip(arrivals["packet"], arrivals["time_ps"], strict=True)
            if time + BACK_PS <= stop_ps
        }
        cumulative = next(i for i in range(n + 1) if i not in known)
        begun = flow["sent_data_packets"] - flow["retransmitted_packets"]
        assert begun - cumulative <= window
        peak = max(peak, begun - cumulative)
    assert peak == window, "the window is used, too"


def test_the_sprayed_transport_recovers_a_lost_tail_after_one_timeout():
    got = run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]),
        one_flow(0, 1, MTU),
        [("ns3::SprayTransport", {"Rto": "100us"})],
        drops=[(0, SWITCH, 1)],
        stop_ps=10 * MS_PS,
    )
    assert got.fct_ps() == RTO_PS + ONE_WAY_PS


def test_the_sprayed_transport_sends_one_packet_for_one_loss():
    got = run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]),
        one_flow(0, 1, 1000 * MTU),
        [("ns3::SprayTransport", {})],
        drops=[(0, SWITCH, 101)],
    )
    flow = got.flow(0)
    assert (flow["retransmitted_packets"], flow["timeouts"]) == (1, 0)
    assert flow["sent_data_packets"] == 1001


@pytest.mark.parametrize("seed", range(1, 5))
def test_what_takes_the_place_of_a_trimmed_frame_is_the_last_of_its_queue(seed):
    # Oracle: conservation, and what the engine finds in its queues at the end. Frames wait at the
    # first switch, so they were in a queue before they meet a full one, and senders are far away:
    # that queue runs empty before more data comes.
    network = Network(hosts=list(range(5)), switches=[(10, 1), (11, 1)])
    flows = Flows()
    for host in range(4):
        network.link(host, 10, RATE, 20 * US_PS)
        flows.add(host, 4, 50_000)
    network.link(10, 11, RATE, US_PS)
    network.link(11, 4, RATE // 4, US_PS)

    got = run(
        network, flows, [("ns3::NdpTransport", {})], seed=seed,
        queue=("ns3::TrimmingQueue", {"LimitBytes": 33_280}),
    )  # fmt: skip

    assert got.port(11, 4)["trimmed_packets"] > 0
    sent, again = (got["flows"][f"{name}_packets"] for name in ("sent_data", "retransmitted"))
    assert (sent - again).tolist() == [math.ceil(50_000 / MTU)] * 4
    assert again.sum() == got["flows"]["trimmed_packets"].sum()


@pytest.mark.parametrize("ordinal", [1, 4])
def test_ndp_sends_a_lost_packet_again_one_timeout_after_it_was_sent(ordinal):
    # As csg-htsim does: answers to other packets do not put it off. One window of n packets goes
    # blind, packet i at i d; PULLs keep the line busy until long after the timeout.
    rto_ps, n = 100 * US_PS, 1000
    got = run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]), one_flow(0, 1, n * MTU),
        [("ns3::NdpTransport", {"Rto": "100us"})], drops=[(0, SWITCH, ordinal)], arrivals=True,
    )  # fmt: skip
    arrivals = got["arrivals"]
    copy_ps = int(arrivals["time_ps"][arrivals["packet"] == ordinal - 1][0])
    due_ps = (ordinal - 1) * DATA_PS + rto_ps + ONE_WAY_PS
    assert due_ps <= copy_ps <= due_ps + DATA_PS  # behind the one that is being sent
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (1, 1)
    assert got.fct_ps() < n * DATA_PS / 0.99 + 2 * RTT_PS


def test_ndp_that_takes_overtaken_packets_for_lost_keeps_its_window():
    # All of a window but its ends is lost with its headers, so no PULL comes for it. If lost
    # packets took their credit along, a few packets per round trip would be left.
    window, n = 70, 1000
    ndp = {"InitialPackets": window, "ReorderPackets": 4, "Rto": "100ms"}
    got = run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]), one_flow(0, 1, n * MTU),
        [("ns3::NdpTransport", ndp)], drops=[(0, SWITCH, i) for i in range(3, window - 5)],
    )  # fmt: skip
    assert got.flow(0)["timeouts"] == 0
    assert got.fct_ps() < n * DATA_PS / 0.99 + 4 * RTT_PS


@pytest.mark.parametrize(("tail", "rto_us"), [(1, 100), (2, 100), (3, 100), (4, 320), (6, 320)])
def test_irn_waits_for_its_short_timeout_if_no_more_than_three_are_out(tail, rto_us):
    # IRN section 3: RTO_low with N = 3 packets out or fewer, RTO_high beyond. Both start with the
    # last progress. All of the tail goes again, at once.
    n = 50
    heard_ps = (n - tail - 1) * DATA_PS + RTT_PS
    irn = {"RethBytes": 0, "Recovery": "SelectiveRepeat", "Rto": "320us"}
    got = lose(n, range(n - tail + 1, n + 1), irn)
    assert got.fct_ps() == heard_ps + rto_us * US_PS + (tail - 1) * DATA_PS + ONE_WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (1, tail)
