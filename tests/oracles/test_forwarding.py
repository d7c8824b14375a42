# SPDX-License-Identifier: GPL-2.0-only
"""Weighted, adaptive and flowlet forwarding, against what each of them promises."""

import numpy as np
import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, Network, one_flow, run

pytestmark = pytest.mark.ns3

ONE_ENTROPY = {"PathSelector": "ns3::FlowEntropy"}  # packets of a flow are one flowlet


def fan(spines: int, rates_gbps: list[int], hosts: int = 4) -> Network:
    """Return hosts under two leaves that are joined by spines with links of given rates."""
    network = Network(hosts=list(range(2 * hosts)), switches=[(100, 1), (101, 1)])
    network.switches += [(200 + i, 2) for i in range(spines)]
    for host in range(hosts):
        network.link(host, 100, 800 * GBPS, 500 * NS_PS)
        network.link(hosts + host, 101, 800 * GBPS, 500 * NS_PS)
    for i, gbps in enumerate(rates_gbps):
        network.link(100, 200 + i, gbps * GBPS, 500 * NS_PS)
        network.link(101, 200 + i, gbps * GBPS, 500 * NS_PS)
    return network


def uplink_data(got, spines: int) -> np.ndarray:
    """Return the data packets that the first leaf sent to each spine."""
    return np.array([got.port(100, 200 + i)["sent_data_packets"] for i in range(spines)])


def test_weighted_hash_gives_a_degraded_port_its_share():
    # Oracle: rates 800, 800, 800, 200 give shares 4/13, 4/13, 4/13, 1/13. With n = 10 000 flows of
    # one packet the share has sigma sqrt(p (1 - p) / n) <= 0.0047; 4 sigma over four ports is a
    # false alarm of 3e-4.
    flows = Flows()
    for i in range(10_000):
        flows.add(i % 4, 4 + i % 4, 1000, i * 10 * NS_PS)

    got = run(fan(4, [800, 800, 800, 200]), flows, forwarding="ns3::WeightedHash")

    share = uplink_data(got, 4) / 10_000
    expected = np.array([4, 4, 4, 1]) / 13
    sigma = np.sqrt(expected * (1 - expected) / 10_000)
    assert (np.abs(share - expected) <= 4 * sigma).all(), share
    assert abs(share[3] - 1 / 13) <= 0.01


def test_cables_side_by_side_share_by_weight_what_lies_behind_them():
    # Oracle: two cables to each of two spines; one spine has a cable to the other leaf, one has
    # two. So the spines get 1/3 and 2/3 (WCMP, section 3), and each cable a half of that.
    n, flows = 10_000, Flows()
    for i in range(n):
        flows.add(i % 4, 4 + i % 4, 1000, i * 10 * NS_PS)
    network = fan(2, [800, 800])
    for a, b in ((100, 200), (100, 201), (101, 201)):
        network.link(a, b, 800 * GBPS, 500 * NS_PS, parallel=1)

    got = run(network, flows, forwarding="ns3::WeightedHash")

    for spine, expected in ((200, 1 / 6), (201, 1 / 3)):
        for cable in (0, 1):
            share = got.port(100, spine, cable)["sent_data_packets"] / n
            assert abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / n)


@pytest.mark.parametrize(
    ("start_us", "shares"),
    [
        (0, [1 / 4] * 4),  # before the link to the last spine is degraded
        (300, [1 / 4] * 4),  # the routes do not know of it yet
        (600, [4 / 13, 4 / 13, 4 / 13, 1 / 13]),
        (900, [4 / 13, 4 / 13, 4 / 13, 1 / 13]),  # nor that the link has its rate again
        (1200, [1 / 4] * 4),
    ],
)
def test_a_port_that_is_degraded_and_restored_has_its_share_when_routes_have_followed(
    start_us, shares
):
    # Oracle: 800, 800, 800, 200 Gb/s from 250 us to 850 us, and 300 us later in the routes. With
    # n = 20 000 flows of one packet sigma is <= 0.0031: 1 % is more than 3.2 sigma; 4 sigma over 4
    # ports is a false alarm of 3e-4.
    flows = Flows()
    for i in range(20_000):
        flows.add(i % 4, 4 + i % 4, 1000, start_us * US_PS + i * 10 * NS_PS)

    got = run(
        fan(4, [800] * 4),
        flows,
        forwarding="ns3::WeightedHash",
        link_events=[(250 * US_PS, 100, 203, 200 * GBPS), (850 * US_PS, 100, 203, 800 * GBPS)],
        convergence_ps=300 * US_PS,
    )

    share = uplink_data(got, 4) / 20_000
    expected = np.array(shares)
    assert (np.abs(share - expected) <= 4 * np.sqrt(expected / 20_000)).all(), share
    assert np.abs(share - expected).max() <= 0.01


def test_a_degraded_path_holds_a_sprayed_flow_back_unless_weights_follow():
    # One of four paths of 800 Gb/s has 40 Gb/s left. In even rounds it gets one packet in four of
    # the host's 800 Gb/s, so it sets the end: n / 4 packets at 40 Gb/s, the first of which is
    # packet 0, 1, 2 or 3. By weight it gets 40 / 2440 of 800 Gb/s, 13 Gb/s: never busy for long,
    # and the flow takes about what it takes alone.
    n, packet_ps, delay_ps = 8000, (4096 + 62 + 20) * 10, 500 * NS_PS
    sprayed = {"WindowBdp": 100, "ReorderPackets": n, "Rto": "1s"}
    flows = Flows()
    flows.add(0, 4, n * 4096)
    degrade = [(0, 100, 203, 40 * GBPS)]

    even = run(
        fan(4, [800] * 4),
        flows,
        [("ns3::SprayTransport", sprayed)],
        forwarding="ns3::RoundRobinSpray",
        link_events=degrade,
    )
    weighted = run(
        fan(4, [800] * 4),
        flows,
        [("ns3::SprayTransport", {**sprayed, "PathSelector": "ns3::RandomEntropy"})],
        forwarding="ns3::WeightedHash",
        link_events=degrade,
    )

    for got in (even, weighted):
        assert got.flow(0)["retransmitted_packets"] == 0
    slow_ps = n // 4 * 20 * packet_ps
    first_packet, rest_ps = divmod(
        even.fct_ps() - slow_ps - 3 * packet_ps - 4 * delay_ps, packet_ps
    )
    assert (rest_ps, first_packet in range(4)) == (0, True)
    alone_ps = (n - 1) * packet_ps + 4 * (packet_ps + delay_ps)
    assert alone_ps <= weighted.fct_ps() <= 1.02 * alone_ps


def test_two_choices_keep_queues_shorter_than_one():
    # Oracle: with random spraying the longest queue grows, with two choices it hardly does
    # (Mitzenmacher 2001: log n / log log n against log log n). Here: less than half.
    flows = Flows()
    for host in range(4):
        flows.add(host, 4 + host, 2_000_000)

    def longest(forwarding):
        got = run(
            fan(4, [800] * 4), flows, [("ns3::SprayTransport", {"WindowBdp": 1.5})],
            forwarding=forwarding,
        )  # fmt: skip
        return max(got.port(100, 200 + i)["max_queue_bytes"] for i in range(4))

    chosen = longest(("ns3::LeastLoaded", {"Choices": 2}))
    assert 2 * chosen < longest("ns3::RandomSpray")
    assert longest(("ns3::LeastLoaded", {"Choices": 0})) <= chosen


@pytest.mark.parametrize(("gap", "moves"), [("10us", False), ("1ns", True)])
def test_a_flow_moves_only_after_a_gap(gap, moves):
    # Oracle: packets of one flow follow each other in 41.8 ns at 800 Gb/s. That is no gap of 10 us,
    # but one of 1 ns, and then 2441 packets leave no spine out.
    flows = Flows()
    flows.add(0, 4, 10_000_000)

    got = run(
        fan(4, [800] * 4), flows, [("ns3::SprayTransport", {**ONE_ENTROPY, "WindowBdp": 2})],
        forwarding=("ns3::Flowlet", {"Gap": gap}),
    )  # fmt: skip

    assert np.count_nonzero(uplink_data(got, 4)) == (4 if moves else 1)


def test_a_flow_that_pauses_may_take_another_path():
    # Two messages of one pair, 100 us apart, are flows of their own; within each nothing moves.
    flows = Flows()
    for i in range(40):
        flows.add(0, 4, 100_000, i * 100 * US_PS)

    got = run(fan(4, [800] * 4), flows, forwarding=("ns3::Flowlet", {"Gap": "20us"}))

    packets = uplink_data(got, 4)
    assert (packets % 25 == 0).all()  # 100 000 B are 25 packets
    assert np.count_nonzero(packets) == 4


def test_new_routes_move_only_the_flowlets_whose_path_is_gone():
    # Oracle: counting. Half-way through a message without any gap the far link of the first spine
    # is lost: a flow of that spine takes another one, all others stay where they are.
    first = set()
    for seed in range(1, 31):
        got = run(
            fan(4, [800] * 4),
            one_flow(0, 4, 200 * 4096),
            [("ns3::SprayTransport", ONE_ENTROPY)],
            forwarding=("ns3::Flowlet", {"Gap": "1s"}),
            link_events=[(5 * US_PS, 101, 200, 0)],
            seed=seed,
        )
        data = uplink_data(got, 4)
        assert np.count_nonzero(data) == (2 if data[0] else 1)
        first.add(int(np.flatnonzero(data)[0]))
    assert first == {0, 1, 2, 3}
