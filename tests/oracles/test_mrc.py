# SPDX-License-Identifier: GPL-2.0-only
"""MRC-like: planes are equally loaded, dead paths are left and come back, congestion only skips."""

import numpy as np
import pytest
from oracle_network import GBPS, US_PS, Flows, Network, leaf_spine, one_flow, run

pytestmark = pytest.mark.ns3

PLANES, RATE, DELAY_PS = 8, 100 * GBPS, 500_000
MTU, HEADERS, FRAMING, SACK = 4096, 142, 20, 158
WIRE_PS = (MTU + HEADERS + FRAMING) * 80  # of a packet on one port
MRC = "ns3::MrcTransport"
NSCC = {"CongestionControl": "ns3::Nscc"}
SWITCH = 1000


def trimming(limit_bytes=70_000, kmin_bytes=14_000, kmax_bytes=56_000):
    return ("ns3::TrimmingQueue", {"LimitBytes": limit_bytes, "KminBytes": kmin_bytes,
                                   "KmaxBytes": kmax_bytes, "Pmax": 1})  # fmt: skip


def planes(count=PLANES, lossy=None, loss=0.0):
    """Two hosts around a switch in each plane; `lossy` is a plane that loses packets to host 1."""
    network = Network(hosts=[0, 1], switches=[(SWITCH + i, 1) for i in range(count)])
    for i in range(count):
        network.link(0, SWITCH + i, RATE, DELAY_PS)
        network.link(1, SWITCH + i, RATE, DELAY_PS, loss=loss if i == lossy else 0.0)
    return network


def send(network, packets, *, attributes=None, queue=None, **options):
    """Send one message from host 0 to host 1."""
    got = run(
        network, one_flow(0, 1, packets * MTU), [(MRC, {**NSCC, **(attributes or {})})],
        forwarding="ns3::EntropyModulo", queue=queue or trimming(), buffer_bytes=10**9, **options,
    )  # fmt: skip
    assert got.flow(0)["receiver_end_ps"] > 0
    return got


def load(got, count=PLANES):
    """Return the data packets that host 0 has sent into each plane."""
    return np.array([got.port(0, SWITCH + i)["sent_data_packets"] for i in range(count)])


def static(links):
    """Return options with which links are cut, as (at, a, b), and no route ever changes."""
    return {"link_events": links, "convergence_ps": 10**13}


def test_all_planes_carry_the_same_to_one_packet():
    # Oracle: 4001 packets over eight planes. Together they take 4001 packets at eight times the
    # rate, and what the first of them takes to arrive.
    got = send(planes(), 4001)
    assert sorted(load(got)) == [500] * 7 + [501]
    least_ps = 4001 * WIRE_PS / PLANES + 2 * DELAY_PS + WIRE_PS
    assert least_ps <= got.fct_ps() + WIRE_PS and got.fct_ps() <= 1.01 * least_ps
    assert got.flow(0)["retransmitted_packets"] == 0


@pytest.mark.parametrize("host", [0, 1], ids=["sender", "receiver"])
def test_a_lost_port_costs_an_eighth_of_the_rate(host):
    # Oracle: 7/8 = 87.5 %. The port of the receiver is known by its acknowledgements alone: what
    # goes there until the first comes is lost: a round trip of four links and two packets, 2.7 us,
    # has eight packets of 341 ns, as many more at most until one is answered. Losses alone would
    # say it when 256 packets have overtaken one, 32 of each plane.
    packets = 16_000
    whole = send(planes(), packets)
    got = send(planes(), packets, **static([(0, host, SWITCH + 3, 0)]))
    assert whole.fct_ps() / got.fct_ps() == pytest.approx(7 / 8, rel=0.01)
    lost = load(got)[3]
    assert lost == 0 if host == 0 else 0 < lost <= 16
    assert got.flow(0)["retransmitted_packets"] == lost
    assert np.ptp(np.delete(load(got), 3)) <= 1


def test_a_path_that_comes_back_is_probed_and_used_again():
    # A link between leaf and spine is down from 20 to 120 us; routes are static. Oracle: with 16
    # spines each carries a sixteenth, so that of the failed one is lost for a round trip and the
    # 256 packets that must overtake, 16 each: at most 40. Then it is probed: three answers, 10 us
    # apart, from 120 us on, and the rest of the message has its sixteenth there again.
    packets, spines = 12_000, 16
    network = leaf_spine(2, 1, spines, RATE, DELAY_PS)
    cut = [(20 * US_PS, 10_000, 20_000, 0), (120 * US_PS, 10_000, 20_000, RATE)]
    got = send(network, packets, **static(cut))
    sent = np.array([got.port(10_000, 20_000 + s)["sent_data_packets"] for s in range(spines)])
    assert 0 < got.flow(0)["retransmitted_packets"] <= 40
    assert got.flow(0)["timeouts"] == 0
    away_share = (100 * US_PS + 10 * 10 * US_PS) / (packets * WIRE_PS)
    assert (1 - away_share) * packets / spines <= sent[0] < sent[1:].min()
    for_good = send(network, packets, **static(cut[:1]))
    assert for_good.port(10_000, 20_000)["sent_data_packets"] < 0.1 * packets / spines


def test_a_plane_that_loses_a_fifth_of_its_packets_is_left_and_probed():
    # Of eight planes with one path each, one loses 20 %. Oracle: its only path is bad after a
    # loss, so the plane is left out until three probes in a row have come back, 10 us apart at
    # least; until the next loss, five packets later in the mean, it has a plane's share. Those
    # five are 13 us, and three answers in a row of 80 % each take 38 us and more: so less than
    # half of the share, and what is lost is a fifth of that.
    packets = 16_000
    got = send(planes(lossy=2, loss=0.2), packets)
    share = packets / PLANES
    assert load(got)[2] < share / 2
    assert got.flow(0)["retransmitted_packets"] < 1.1 * 0.2 * load(got)[2] + 20
    assert np.ptp(np.delete(load(got), 2)) <= 1


def test_marks_skip_a_path():
    # One of 16 uplinks has a fortieth of the rate, and in turn would get a sixteenth. Oracle: a
    # packet that is marked there costs the path one turn, so it keeps half of its turns or more,
    # and would have all of them without marks. Nothing is trimmed or lost.
    packets, spines = 6000, 16
    network = leaf_spine(2, 1, spines, RATE, DELAY_PS)
    slow = network.links.index((10_000, 20_000, 0, RATE, DELAY_PS, 0.0, 0.0))
    network.links[slow] = (10_000, 20_000, 0, RATE // 40, DELAY_PS, 0.0, 0.0)
    patient = {"ReorderPackets": 6000, "Rto": "10ms", "PsnRange": 6000}  # nothing counts as lost
    got = send(network, packets, attributes=patient, queue=trimming(limit_bytes=10**7))
    sent = np.array([got.port(10_000, 20_000 + s)["sent_data_packets"] for s in range(spines)])
    assert 0.45 < sent[0] / sent[1:].mean() < 0.75
    assert got.flow(0)["retransmitted_packets"] == 0


def test_trims_at_the_last_hop_cost_packets_and_no_path():
    # Four senders into one, each below a leaf of its own. Oracle: each trimmed packet is sent once
    # more, and nothing else. No path is at fault, so those of a sender stay in turn: packets by
    # spine are equal to one.
    spines = 8
    flows = Flows()
    for source in range(1, 5):
        flows.add(source, 0, 250 * MTU)  # fewer than must overtake a lost one
    got = run(
        leaf_spine(5, 1, spines, RATE, DELAY_PS), flows, [(MRC, NSCC)],
        forwarding="ns3::EntropyModulo", buffer_bytes=10**9,
        queue=("ns3::PerDirection",
               {"ToHosts": "ns3::TrimmingQueue[LimitBytes=70000]",
                "ToSwitches": "ns3::TrimmingQueue[LimitBytes=70000|KminBytes=14000|Pmax=1]"}),
    )  # fmt: skip
    table = got["flows"]
    assert (table["receiver_end_ps"] > 0).all()
    assert table["trimmed_packets"].min() > 0 and table["ecn_marked_packets"].sum() == 0
    assert table["retransmitted_packets"].tolist() == table["trimmed_packets"].tolist()
    for leaf in range(10_001, 10_005):
        sent = [got.port(leaf, 20_000 + s)["sent_data_packets"] for s in range(spines)]
        assert max(sent) - min(sent) <= 1


def test_a_denied_plane_is_never_used():
    got = send(planes(), 1000, attributes={"Denylist": "3:*,5:0"})
    assert load(got)[[3, 5]].tolist() == [0, 0]  # a plane of one switch has one path, 0
    assert np.ptp(np.delete(load(got), [3, 5])) <= 1
