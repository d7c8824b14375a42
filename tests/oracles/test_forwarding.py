# SPDX-License-Identifier: GPL-2.0-only
"""Weighted, adaptive and flowlet forwarding, against what each of them promises."""

import numpy as np
import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, Network, run

pytestmark = pytest.mark.ns3


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


@pytest.mark.parametrize(("gap", "moves"), [("10us", False), ("1ps", True)])
def test_a_flow_moves_only_after_a_gap(gap, moves):
    # Oracle: packets of one flow follow each other in 41.8 ns at 800 Gb/s. That is no gap of 10 us,
    # but one of 1 ps, and then 2441 packets leave no spine out.
    flows = Flows()
    flows.add(0, 4, 10_000_000)

    got = run(
        fan(4, [800] * 4), flows, [("ns3::SprayTransport", {"WindowBdp": 2})],
        forwarding=("ns3::Flowlet", {"Gap": gap}),
    )  # fmt: skip

    assert np.count_nonzero(uplink_data(got, 4)) == (4 if moves else 1)


def test_a_flow_that_pauses_may_take_another_way():
    # Two messages of one pair, 100 us apart, are flows of their own; within each nothing moves.
    flows = Flows()
    for i in range(40):
        flows.add(0, 4, 100_000, i * 100 * US_PS)

    got = run(fan(4, [800] * 4), flows, forwarding=("ns3::Flowlet", {"Gap": "20us"}))

    packets = uplink_data(got, 4)
    assert (packets % 25 == 0).all()  # 100 000 B are 25 packets
    assert np.count_nonzero(packets) == 4
