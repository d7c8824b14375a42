# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2 whose destination takes packets in whatever order they come (adaptive routing)."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, Network, inter_leaf_permutation, leaf_spine, line, run

from pyorch.errors import SimulationError

pytestmark = pytest.mark.ns3

RATE, BYTE_PS, DELAY_PS = 400 * GBPS, 20, 1_000_000
MTU = 4096
HEADERS = 62 + 16  # with an address in each packet
WIRE, ANSWER = MTU + HEADERS + 20, 66 + 20  # on the wire, with framing
RTO_PS = 10**9
PLACES = {"DirectPlacement": True, "HeaderBytes": HEADERS, "RethBytes": 0, "Rto": "1ms"}


def placing(**more):
    return [("ns3::RoceTransport", {**PLACES, **more})]


def unlike_paths():
    """Return two hosts below two leaves that four spines join, each by cables of its own length."""
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    network.switches += [(20 + spine, 2) for spine in range(4)]
    for host in network.hosts:
        network.link(host, 10 + host, RATE, DELAY_PS)
    for spine in range(4):
        for leaf in (10, 11):
            network.link(leaf, 20 + spine, RATE, DELAY_PS * (1 + spine))
    return network


def test_packets_that_overtake_each_other_are_taken_as_they_come():
    packets = 400
    flows = Flows()
    flows.add(0, 1, packets * MTU)
    spray = "ns3::RoundRobinSpray"

    got = run(unlike_paths(), flows, placing(), forwarding=spray).flow(0)
    back = run(unlike_paths(), flows, [("ns3::RoceTransport", {})], forwarding=spray).flow(0)

    assert got["retransmitted_packets"] == got["naks"] == got["timeouts"] == 0
    assert got["out_of_order_peak_packets"] > 0
    # The last packet leaves after all others, and takes a path of two to eight microseconds more.
    least_ps = (packets + 3) * WIRE * BYTE_PS + 4 * DELAY_PS
    assert least_ps <= got["receiver_end_ps"] <= least_ps + 6 * DELAY_PS
    assert back["retransmitted_packets"] > packets  # what else happens to them


def test_a_packet_that_asks_for_its_answer_is_no_gap():
    # With a window of congestion control every packet asks.
    flows = Flows()
    flows.add(0, 1, 400 * MTU)
    swift = placing(CongestionControl="ns3::Swift[BaseTarget=100us]")
    got = run(unlike_paths(), flows, swift, forwarding="ns3::RoundRobinSpray").flow(0)
    assert got["naks"] == got["retransmitted_packets"] == 0
    assert got["out_of_order_peak_packets"] > 0


@pytest.mark.parametrize("lost", [1, 7, 49])
def test_a_loss_costs_a_timeout_and_what_follows_it_is_sent_again(lost):
    # Acknowledgements of the packets before the lost one come in; the timer runs from the last.
    packets, links = 50, 2
    network = line([RATE] * links, [DELAY_PS] * links)
    flows = Flows()
    flows.add(0, 1, packets * MTU)

    got = run(network, flows, placing(), drops=[(0, 10, lost + 1)]).flow(0)

    way_ps = links * (WIRE * BYTE_PS + DELAY_PS)
    answer_ps = links * (ANSWER * BYTE_PS + DELAY_PS)
    last_news_ps = (lost - 1) * WIRE * BYTE_PS + way_ps + answer_ps
    assert got["timeouts"] == 1 and got["naks"] == 0
    assert got["retransmitted_packets"] >= 1
    assert got["receiver_end_ps"] == last_news_ps + RTO_PS + way_ps


def test_a_permutation_over_the_emptiest_links_loses_and_repeats_nothing():
    leaves, hosts, packets = 8, 4, 200
    rng = np.random.default_rng(3)
    flows = Flows()
    for src, dst in enumerate(inter_leaf_permutation(leaves, hosts, rng)):
        flows.add(src, int(dst), packets * MTU)

    got = run(
        leaf_spine(leaves, hosts, hosts, RATE, DELAY_PS), flows, placing(),
        forwarding=("ns3::LeastLoaded", {"Choices": 2}), pfc={"XoffBytes": 100_000},
    )  # fmt: skip

    assert got.drops() == 0
    assert got["flows"]["retransmitted_packets"].sum() == got["flows"]["naks"].sum() == 0
    least_ps = (packets + 3) * WIRE * BYTE_PS + 4 * DELAY_PS
    assert got.fcts_ps().max() <= 1.15 * least_ps


def test_it_is_no_option_of_selective_repeat():
    flows = Flows()
    flows.add(0, 1, MTU)
    with pytest.raises(SimulationError, match="DirectPlacement is for Recovery=GoBackN"):
        run(line([RATE] * 2, [DELAY_PS] * 2), flows, placing(Recovery="SelectiveRepeat"))
