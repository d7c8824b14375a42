# SPDX-License-Identifier: GPL-2.0-only
"""Links that are cut, slowed down and restored, against what a hand count gives."""

import numpy as np
import pytest
from oracle_network import GBPS, MS_PS, NS_PS, US_PS, Flows, Network, line, one_flow, run

pytestmark = pytest.mark.ns3

PLAIN = {"RethBytes": 0, "MtuBytes": 4096, "HeaderBytes": 62}
FRAME_BYTES = 4096 + 62
FRAMING_BYTES = 20


def test_a_slower_middle_link_is_slow_from_its_time_on_to_the_picosecond():
    # Oracle: each packet leaves the middle link one serialisation after the later of its arrival
    # and the packet before; the rate is that at the moment it begins.
    rate, slow, change_ps, delay_ps = 100 * GBPS, 25 * GBPS, 100 * US_PS, 700 * NS_PS
    packets = 500
    wire_bits = (FRAME_BYTES + FRAMING_BYTES) * 8
    at_ps = {bps: wire_bits * 10**12 // bps for bps in (rate, slow)}
    middle_free = last_free = 0
    for i in range(packets):
        arrives = (i + 1) * at_ps[rate] + delay_ps
        begins = max(arrives, middle_free)
        middle_free = begins + at_ps[slow if begins >= change_ps else rate]
        last_free = max(middle_free + delay_ps, last_free) + at_ps[rate]
    expected = last_free + delay_ps

    got = run(
        line([rate] * 3, [delay_ps] * 3),
        one_flow(0, 1, packets * 4096),
        [("ns3::RoceTransport", PLAIN)],
        link_events=[(change_ps, 10, 11, slow)],
    )

    assert got.fct_ps() == expected
    assert set(got["ports"]["rate_bps"].tolist()) == {rate}  # by which loads are shares


def test_what_is_sent_into_a_cut_link_is_lost_and_nothing_else():
    # Oracle: host 0 sends at line rate through one switch. The far link is cut from T to T + D.
    # Lost are the frames that were on the far wire at T (delay / serialisation), the one being
    # sent, and those that came to the switch until T + D; all of it is counted somewhere.
    rate, delay_ps, cut_ps, down_ps = 100 * GBPS, 2 * US_PS, 50 * US_PS, 20 * US_PS
    packet_ps = (FRAME_BYTES + FRAMING_BYTES) * 80
    expected = delay_ps / packet_ps + down_ps / packet_ps

    got = run(
        line([rate, rate], [delay_ps, delay_ps]),
        one_flow(0, 1, 4_000_000),
        [("ns3::RoceTransport", {**PLAIN, "Recovery": "SelectiveRepeat", "WindowBytes": 10**7})],
        link_events=[(cut_ps, 10, 1, 0), (cut_ps + down_ps, 10, 1, rate)],
        convergence_ps=MS_PS,  # after all is over: the switch goes on sending into the dead link
    )

    lost = got.port(1, 10)["dropped_loss_frames"] + got.port(10, 1)["dropped_link_down_frames"]
    assert abs(lost - expected) <= 2
    assert got.flow(0)["retransmitted_packets"] >= lost
    assert got.fct_ps() > cut_ps + down_ps


@pytest.mark.parametrize("transport", ["ns3::RoceTransport", "ns3::SprayTransport"])
def test_a_link_that_never_comes_back_ends_at_the_stop_time_with_every_frame_accounted(transport):
    got = run(
        line([GBPS * 100] * 2, [US_PS] * 2),
        one_flow(0, 1, 10**6),
        [(transport, {})],
        link_events=[(20 * US_PS, 10, 1, 0)],
        stop_ps=50 * MS_PS,
    )

    assert got.flow(0)["receiver_end_ps"] == -1
    assert got.flow(0)["timeouts"] > 0
    assert got.drops() > 0


def two_spines(rate_bps: int, delay_ps: int) -> Network:
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (20, 2), (21, 2)])
    network.link(0, 10, rate_bps, delay_ps)
    network.link(1, 11, rate_bps, delay_ps)
    for leaf in (10, 11):
        for spine in (20, 21):
            network.link(leaf, spine, rate_bps, delay_ps)
    return network


@pytest.mark.parametrize("convergence_us", [5, 20])
def test_until_routes_follow_the_share_of_the_dead_path_is_lost(convergence_us):
    # Oracle: every second packet goes to the dead spine, so between the cut and the new routes
    # the leaf drops one frame per two packet times; one frame may be on the wire or in flight.
    rate, delay_ps, cut_ps = 100 * GBPS, 500 * NS_PS, 40 * US_PS
    packet_ps = (FRAME_BYTES + FRAMING_BYTES) * 80
    expected = convergence_us * US_PS / packet_ps / 2

    got = run(
        two_spines(rate, delay_ps),
        one_flow(0, 1, 3_000_000),
        [("ns3::SprayTransport", {"WindowBdp": 50})],  # never held back by its window
        forwarding="ns3::EntropyModulo",
        link_events=[(cut_ps, 10, 20, 0)],
        convergence_ps=convergence_us * US_PS,
    )

    assert abs(got.port(10, 20)["dropped_link_down_frames"] - expected) <= 2
    assert got.port(10, 20)["sent_frames"] < got.port(10, 21)["sent_frames"]


def test_each_failure_has_its_own_time_until_routes_follow():
    # Oracle: counting, as above, with three spines. The second link is cut half-way to the routes
    # that know of the first: from then on it gets a third of the packets, then half of them, for
    # as long as routes take after its own cut. The first is back and cut again in between: what is
    # over before routes could follow is not noticed, and the second time counts.
    rate, delay_ps, wait_ps = 100 * GBPS, 500 * NS_PS, 20 * US_PS
    network = two_spines(rate, delay_ps)
    network.switches.append((22, 2))
    network.link(10, 22, rate, delay_ps)
    network.link(11, 22, rate, delay_ps)
    cut_ps, again_ps, second_ps = 40 * US_PS, 45 * US_PS, 55 * US_PS
    packet_ps = (FRAME_BYTES + FRAMING_BYTES) * 80
    knows_ps = again_ps + wait_ps
    expected = [
        (knows_ps - cut_ps) / packet_ps / 3,
        (knows_ps - second_ps) / packet_ps / 3 + (second_ps + wait_ps - knows_ps) / packet_ps / 2,
    ]

    got = run(
        network,
        one_flow(0, 1, 3_000_000),
        [("ns3::SprayTransport", {"WindowBdp": 50})],
        forwarding="ns3::RoundRobinSpray",
        link_events=[
            (cut_ps, 10, 20, 0),
            (again_ps - 1, 10, 20, rate),  # for one picosecond
            (again_ps, 10, 20, 0),
            (second_ps, 10, 21, 0),
        ],
        convergence_ps=wait_ps,
    )

    dropped = [got.port(10, spine)["dropped_link_down_frames"] for spine in (20, 21)]
    assert dropped == pytest.approx(expected, abs=2)


def test_a_lost_plane_costs_its_share_and_nobody_stalls():
    # Oracle: two planes of 100 Gb/s each carry half; from T on one carries all. With S bytes on
    # the wire the transfer ends at T + (S * 8 - 200 Gb/s * T) / 100 Gb/s, plus latency.
    rate, delay_ps, cut_ps, packets = 100 * GBPS, 500 * NS_PS, 100 * US_PS, 2000
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    for switch in (10, 11):
        for host in (0, 1):
            network.link(host, switch, rate, delay_ps)
    wire_bits = packets * (FRAME_BYTES + FRAMING_BYTES) * 8
    expected = cut_ps + (wire_bits * 1e12 - 2 * rate * cut_ps) / rate

    got = run(
        network,
        one_flow(0, 1, packets * 4096),
        [("ns3::SprayTransport", {"WindowBdp": 2})],
        forwarding="ns3::EntropyModulo",
        link_events=[(cut_ps, 0, 11, 0), (cut_ps, 1, 11, 0)],
    )

    assert got.fct_ps() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("seed", range(12))
def test_random_cuts_and_degradations_break_no_identity(seed):
    # The engine checks its identities at the end of the run and aborts if one does not hold.
    rng = np.random.default_rng(seed)
    network = two_spines(100 * GBPS, 500 * NS_PS)
    flows = Flows()
    for _ in range(6):
        src = int(rng.integers(0, 2))
        flows.add(src, 1 - src, int(rng.integers(1, 2_000_000)), int(rng.integers(0, 50 * US_PS)))
    events = {}
    for _ in range(12):
        a, b = network.links[rng.integers(0, len(network.links))][:2]
        time_ps = int(rng.integers(0, 200 * US_PS))
        events[time_ps, a, b] = int(rng.choice([0, 10, 25, 100])) * GBPS
    for a, b, *_ in network.links:  # in the end all is well again
        events[300 * US_PS, a, b] = 100 * GBPS

    got = run(
        network,
        flows,
        [(("ns3::RoceTransport", "ns3::SprayTransport")[seed % 2], {})],
        pfc={} if seed % 3 else None,
        queue=("ns3::DropTail", {"LimitBytes": 200_000}),
        link_events=[(*key, rate) for key, rate in events.items()],
        convergence_ps=int(rng.integers(0, 30 * US_PS)),
        cut_through_bytes=64 if seed % 4 == 0 else None,
        processing_delay_ps=int(rng.integers(0, 2)) * 300_000,
    )

    assert (got["flows"]["receiver_end_ps"] >= 0).all()


def test_spray_leaves_a_plane_that_lost_its_destination_far_away():
    # Oracle: counting. Host 1 has lost its link to plane 0 for good; host 0 sees nothing of that,
    # and of two messages of a packet one goes by each plane unless routes say otherwise. That of
    # plane 0 is sent a second time when the timeout finds it lost, by then on plane 1.
    rate, delay_ps = 100 * GBPS, 500 * NS_PS
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    for switch in (10, 11):
        for host in (0, 1):
            network.link(host, switch, rate, delay_ps)
    flows = Flows()
    for start_ps in (1, MS_PS // 2):  # before routes know, and when they do
        flows.add(0, 1, 100, start_ps)
        flows.add(0, 1, 100, start_ps)

    got = run(
        network,
        flows,
        [("ns3::SprayTransport", {"Rto": "100us"})],
        forwarding="ns3::EntropyModulo",
        link_events=[(0, 1, 10, 0)],
        convergence_ps=50 * US_PS,
        stop_ps=100 * MS_PS,
    )

    sent, timeouts = (got["flows"][name].tolist() for name in ("sent_data_packets", "timeouts"))
    assert sorted(sent[:2]) == [1, 2]
    assert sorted(timeouts[:2]) == [0, 1]
    assert (sent[2:], timeouts[2:]) == ([1, 1], [0, 0])


def test_a_plane_that_leads_to_the_destination_again_is_used_at_once():
    # Oracle: as above, the other way round. The first acknowledgement takes 400 us, and until then
    # nothing but the change of routes tells the idle port that it may send.
    rate, delay_ps, back_ps, packets = 100 * GBPS, 100 * US_PS, 50 * US_PS, 1000
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    for switch in (10, 11):
        for host in (0, 1):
            network.link(host, switch, rate, delay_ps)
    wire_ps = packets * (FRAME_BYTES + FRAMING_BYTES) * 80
    expected = back_ps + (wire_ps - back_ps) / 2 + 2 * delay_ps

    got = run(
        network,
        one_flow(0, 1, packets * 4096),
        [("ns3::SprayTransport", {"WindowBdp": 2, "Rto": "10ms"})],
        forwarding="ns3::EntropyModulo",
        link_events=[(0, 1, 10, 0), (back_ps, 1, 10, rate)],
    )

    assert got.fct_ps() == pytest.approx(expected, rel=0.01)


def test_flows_that_lost_a_plane_share_the_other_one_evenly_beside_a_flow_with_both():
    # Oracle: max-min fairness of round robin at two ports of host 0. Hosts 1 and 2 have lost plane
    # 0: their flows share plane 1 half and half, and the flow to host 3 has plane 0 for itself.
    rate, delay_ps, packets = 100 * GBPS, 500 * NS_PS, 1000
    network = Network(hosts=[0, 1, 2, 3], switches=[(10, 1), (11, 1)])
    for switch in (10, 11):
        for host in network.hosts:
            network.link(host, switch, rate, delay_ps)
    flows = Flows()
    for dst in (1, 2, 3):
        flows.add(0, dst, packets * 4096)

    got = run(
        network,
        flows,
        [("ns3::SprayTransport", {"WindowBdp": 2})],
        forwarding="ns3::EntropyModulo",
        link_events=[(0, 1, 10, 0), (0, 2, 10, 0)],
    )

    alone_ps = packets * (FRAME_BYTES + FRAMING_BYTES) * 80
    assert got.fcts_ps() / alone_ps == pytest.approx([2, 2, 1], rel=0.02)


@pytest.mark.parametrize("flap_us", np.arange(0, 20, 0.5).tolist())
def test_a_pause_from_before_a_cut_does_not_hold_after_it(flap_us):
    # A PAUSE takes 5 us to the host. The link is cut and back within 100 ns in the meantime: the
    # switch has forgotten its PAUSE and never sends RESUME, so the host must not obey it.
    network = Network(hosts=[0, 1, 2], switches=[(1000, 1)])
    for host, rate in ((0, 100), (1, 100), (2, 10)):
        network.link(host, 1000, rate * GBPS, 5 * US_PS)
    flows = Flows()
    flows.add(0, 2, 8 * 4096)
    flows.add(1, 2, 8 * 4096)
    flows.add(0, 2, 1000, MS_PS)
    cut_ps = int(flap_us * US_PS)

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"Rto": "300us"})],
        pfc={"XoffBytes": 20_000},
        link_events=[(cut_ps, 0, 1000, 0), (cut_ps + 100 * NS_PS, 0, 1000, 100 * GBPS)],
        stop_ps=100 * MS_PS,
    )

    assert (got["flows"]["sender_end_ps"] >= 0).all()
