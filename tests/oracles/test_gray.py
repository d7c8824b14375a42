# SPDX-License-Identifier: GPL-2.0-only
"""Directions of links that lose, corrupt or slow down what they carry, against hand counts."""

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    MS_PS,
    NS_PS,
    US_PS,
    Flows,
    Network,
    leaf_spine,
    line,
    one_flow,
    run,
    star,
)
from test_domains import expect_the_same
from test_domains_records import parted

from pyorch.errors import SimulationError

pytestmark = pytest.mark.ns3

RATE, DELAY = 100 * GBPS, 700 * NS_PS
PLAIN = {"RethBytes": 0, "MtuBytes": 4096, "HeaderBytes": 62}
#: Sends all at once, and sends nothing again before the run stops.
ONCE = [("ns3::RoceTransport", PLAIN | {"Recovery": "SelectiveRepeat", "WindowBytes": 10**8,
                                        "Rto": "1s", "RtoLow": "1s"})]  # fmt: skip
PACKETS = 100
#: 4096 B, 62 B of headers and 20 B of framing at 100 Gb/s.
PACKET_PS = (4096 + 62 + 20) * 80


def comes_ps(packet: int, hops: int) -> int:
    """Return when a packet of a message alone has come over so many equal links."""
    return (packet + hops) * PACKET_PS + hops * DELAY


@pytest.mark.parametrize("later_ps", [0, 1])
def test_what_comes_from_the_moment_on_is_lost_and_nothing_before_to_the_picosecond(later_ps):
    # Oracle: packet i comes over the middle link at (i + 2) T + 2 d. At the moment of packet 40
    # forty have come before; a picosecond later it is forty-one.
    got = run(
        line([RATE] * 3, [DELAY] * 3), one_flow(0, 1, PACKETS * 4096), ONCE,
        loss_changes=[(comes_ps(40, 2) + later_ps, 10, 11, 1.0, 0.0)], stop_ps=MS_PS,
    )  # fmt: skip

    end = got.port(11, 10)
    assert end["received_frames"] == 40 + later_ps
    assert end["dropped_loss_frames"] == PACKETS - 40 - later_ps
    assert end["dropped_corrupt_frames"] == 0
    assert got.port(10, 11)["sent_frames"] == PACKETS  # nobody has heard of it
    assert got.port(10, 11)["dropped_loss_frames"] == 0


def test_a_loss_ends_at_the_moment_that_is_told():
    # Packets 40 to 59 come from the 40th moment on and before the 60th.
    got = run(
        line([RATE] * 3, [DELAY] * 3), one_flow(0, 1, PACKETS * 4096), ONCE, stop_ps=MS_PS,
        loss_changes=[(comes_ps(40, 2), 10, 11, 1.0, 0.0), (comes_ps(60, 2), 10, 11, 0.0, 0.0)],
    )  # fmt: skip

    assert got.port(11, 10)["dropped_loss_frames"] == 20


def test_the_way_back_loses_acknowledgements_alone():
    # All data come as if nothing were lost, and the sender never knows.
    alone = run(line([RATE] * 2, [DELAY] * 2), one_flow(0, 1, PACKETS * 4096), ONCE)
    got = run(
        line([RATE] * 2, [DELAY] * 2), one_flow(0, 1, PACKETS * 4096), ONCE,
        loss_changes=[(0, 10, 0, 1.0, 0.0)], stop_ps=MS_PS,
    )  # fmt: skip

    assert got.fct_ps() == alone.fct_ps() == comes_ps(PACKETS - 1, 2)
    assert got.flow(0)["sender_end_ps"] == -1 != alone.flow(0)["sender_end_ps"]
    sent = alone.port(0, 10)["received_frames"]
    assert got.port(0, 10)["dropped_loss_frames"] == sent > 0
    assert got.port(1, 10)["dropped_loss_frames"] == got.port(10, 0)["dropped_loss_frames"] == 0


@pytest.mark.parametrize("paths", [2, 4, 8])
def test_a_black_hole_on_one_of_n_paths_takes_one_of_n_packets(paths):
    # Oracle: oblivious turns give each path every n-th packet, so of n k packets k are lost.
    packets = 960
    got = run(
        leaf_spine(2, 1, paths, RATE, DELAY), one_flow(0, 1, packets * 4096),
        [("ns3::SprayTransport", {"PathSelector": f"ns3::PermutedEntropy[Paths={paths}]",
                                  "WindowBdp": 100, "Rto": "1s", "MtuBytes": 4096})],
        forwarding="ns3::EntropyModulo", stop_ps=MS_PS,
        loss_changes=[(0, 10_000, 20_000, 1.0, 0.0)],
    )  # fmt: skip

    lost = got.port(20_000, 10_000)["dropped_loss_frames"]
    sent = [got.port(10_000, 20_000 + spine)["sent_frames"] for spine in range(paths)]
    assert lost == sent[0] and sum(sent) >= packets
    # What is repeated takes turns as well.
    assert abs(lost - sum(sent) / paths) <= 1


def test_slow_optics_of_one_direction_delay_data_and_leave_the_way_back_as_it_is():
    # Oracle: each packet leaves the middle link one serialisation after the later of its coming
    # and the packet before, at the rate of the moment when it begins.
    slow, change_ps, packets = 25 * GBPS, 100 * US_PS, 500
    at_ps = {RATE: PACKET_PS, slow: 4 * PACKET_PS}
    free_ps = last_ps = 0
    for i in range(packets):
        begins = max((i + 1) * PACKET_PS + DELAY, free_ps)
        free_ps = begins + at_ps[slow if begins >= change_ps else RATE]
        last_ps = max(free_ps + DELAY, last_ps) + PACKET_PS
    net, flow = line([RATE] * 3, [DELAY] * 3), one_flow(0, 1, packets * 4096)

    there = run(net, flow, ONCE, link_events=[(change_ps, 10, 11, slow, RATE)])
    back = run(net, flow, ONCE, link_events=[(change_ps, 10, 11, RATE, slow)])
    turned = run(net, flow, ONCE, link_events=[(change_ps, 11, 10, RATE, slow)])

    assert there.fct_ps() == turned.fct_ps() == last_ps + DELAY
    assert back.fct_ps() == comes_ps(packets - 1, 3)
    # The last acknowledgement crosses the slow link alone: 3/4 of its time at 25 Gb/s more.
    ack_ps = (64 + 20) * 80
    more_ps = back.flow(0)["sender_end_ps"] - comes_ps(packets - 1, 3) - 3 * (ack_ps + DELAY)
    assert more_ps >= 3 * ack_ps


def test_a_slow_direction_is_slow_with_cut_through_too():
    # Oracle: at 10 a head of 64 B is forwarded to a link as fast; from the slow direction on a
    # faster link waits for the whole frame.
    net = line([RATE] * 3, [DELAY] * 3)
    slow = 25 * GBPS
    got = run(
        net, one_flow(0, 1, 4096), ONCE, cut_through_bytes=64,
        link_events=[(0, 10, 11, slow, RATE)],
    )  # fmt: skip
    # First link to the head at 10, the frame at 25 Gb/s, stored, and sent at 100 Gb/s.
    assert got.fct_ps() == (64 + 20) * 80 + DELAY + 4 * PACKET_PS + DELAY + PACKET_PS + DELAY


def test_a_switch_that_corrupts_loses_by_the_frame_check_as_often_as_its_bits_are_wrong():
    # Oracle: of frames of 4158 B each is corrupt with 1 - (1 - 1e-5)^(8 * 4158) = 0.283; five
    # standard deviations of a binomial are a false alarm in a million.
    packets, ratio = 2000, 1e-5
    share = 1 - (1 - ratio) ** (8 * (4096 + 62))
    got = run(
        line([RATE] * 2, [DELAY] * 2), one_flow(0, 1, packets * 4096), ONCE,
        loss_changes=[(0, 10, peer, 0.0, ratio) for peer in (0, 1)], stop_ps=MS_PS,
    )  # fmt: skip

    corrupt, sent = got.port(1, 10)["dropped_corrupt_frames"], got.port(10, 1)["sent_frames"]
    assert abs(corrupt - sent * share) < 5 * np.sqrt(sent * share * (1 - share))
    assert got.port(1, 10)["dropped_loss_frames"] == got.port(10, 0)["dropped_corrupt_frames"] == 0
    assert got.port(1, 10)["received_frames"] + corrupt == sent >= packets


def test_what_does_not_happen_yet_changes_no_byte():
    flows = Flows()
    for host in range(8):
        flows.add(host, (host + 4) % 8, 100_000)
    net = leaf_spine(2, 4, 4, RATE, DELAY)
    never = run(net, flows, ONCE, loss_changes=[(MS_PS * 900, 10_000, 20_000, 1.0, 1e-3)])
    expect_the_same(never, run(net, flows, ONCE))


@pytest.mark.parametrize(("n", "threads"), [(2, 1), (3, 2), (4, 2)])
def test_gray_links_have_the_same_bytes_in_domains_and_threads(n, threads):
    flows = Flows()
    for host in range(8):
        flows.add(host, (host + 4) % 8, 400_000, host * NS_PS)
    net = leaf_spine(2, 4, 4, RATE, DELAY)
    options = {
        "transports": [("ns3::SprayTransport", {"WindowBdp": 2, "Rto": "50us"})],
        "loss_changes": [
            (5 * US_PS, 10_000, 20_000, 0.3, 0.0), (9 * US_PS, 20_001, 10_001, 0.0, 1e-5),
            (40 * US_PS, 10_000, 20_000, 0.0, 0.0),
        ],
        "link_events": [
            (3 * US_PS, 10_001, 20_002, RATE, RATE // 4), (7 * US_PS, 10_000, 20_003, 0, 0),
            (30 * US_PS, 10_001, 20_002, RATE, RATE), (33 * US_PS, 10_000, 20_003, RATE, RATE // 2),
        ],
        "sample_ps": 3 * US_PS,
    }  # fmt: skip
    expected = run(net, flows, **options)
    got = run(parted(net, n), flows, threads=threads, **options)
    assert expected["ports"]["dropped_loss_frames"].sum() > 0
    assert expected["ports"]["dropped_corrupt_frames"].sum() > 0
    expect_the_same(got, expected)


def test_the_fluid_engine_has_rates_of_directions_and_no_losses():
    # 25 Gb/s forth and 100 back: a message of 1 MB takes four times as long one way.
    size = 1_000_000
    for src, dst, times in ((0, 1, 4), (1, 0, 1)):
        got = run(
            line([RATE] * 2, [DELAY] * 2), one_flow(src, dst, size), ONCE, engine="fluid",
            link_events=[(0, 10, 1, 25 * GBPS, RATE)],
        )  # fmt: skip
        wire_ps = size / 4096 * PACKET_PS
        assert got.fct_ps() == pytest.approx(times * wire_ps + 2 * DELAY, rel=0.01)
    with pytest.raises(SimulationError, match="the fluid engine has no frames to lose"):
        run(
            line([RATE] * 2, [DELAY] * 2), one_flow(0, 1, size), engine="fluid",
            loss_changes=[(0, 10, 1, 1.0, 0.0)],
        )  # fmt: skip


def test_steady_states_are_not_skipped_where_frames_are_lost():
    with pytest.raises(SimulationError, match="links lose frames at random, or scripted ones"):
        run(star(2, RATE, DELAY), one_flow(0, 1, 10**6), skip_ppm=10_000,
            loss_changes=[(0, 1000, 1, 0.1, 0.0)])  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((0, 10, 7, 1.0, 0.0), "there is no link from node 10 to node 7"),
        ((0, 10, 1, 1.5, 0.0), "loss_ratio is 1.5, not in"),
        ((0, 10, 1, 0.0, 1.0), "bit_error_ratio is 1, not in"),
        ((-1, 10, 1, 1.0, 0.0), "time_ps is not >= 0"),
    ],
)
def test_a_row_that_cannot_be_is_refused_in_one_line(row, message):
    net = Network(hosts=[0, 1], switches=[(10, 1)])
    net.link(0, 10, RATE, DELAY)
    net.link(10, 1, RATE, DELAY)
    with pytest.raises(SimulationError, match=message):
        run(net, one_flow(0, 1, 4096), loss_changes=[row])
