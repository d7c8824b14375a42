# SPDX-License-Identifier: GPL-2.0-only
"""SMaRTT on a fabric: an incast near its least time, fair shares, a permutation without trims."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, leaf_spine, run, star

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80
DELAY_PS = 1_000_000
MTU = 4096
WIRE = MTU + 62 + 20
ACK = 66 + 20
PACKETS = 489  # 2 MB


def smartt(**attributes):
    common = {
        "WindowBdp": 0,
        "CongestionControl": "ns3::Smartt",
        "PathSelector": "ns3::RepsEntropy",
    }
    return ("ns3::SprayTransport", {**common, "Rto": "200us", **attributes})


def product_bytes(links):
    """Return what fills the path of so many links for a round trip of a full packet."""
    return (links * (2 * DELAY_PS + (WIRE + ACK) * BYTE_PS)) // BYTE_PS


def queue(trims, links):
    """Return the switch queue: one product, or five where packets are dropped; ECN 20 to 80 %."""
    product = product_bytes(links)
    sizes = {"KminBytes": product // 5, "KmaxBytes": 4 * product // 5}
    limit = product if trims else 5 * product
    return ("ns3::TrimmingQueue" if trims else "ns3::RedEcn", {**sizes, "LimitBytes": limit})


def incast(senders, trims, **options):
    flows = Flows()
    for sender in range(1, senders + 1):
        flows.add(sender, 0, PACKETS * MTU)
    network = star(senders + 1, RATE, DELAY_PS)
    transport = smartt(Trimmable=trims)
    return run(network, flows, [transport], queue=queue(trims, 2), buffer_bytes=10**9, **options)


@pytest.mark.parametrize("trims", [True, False])
@pytest.mark.parametrize("senders", [8, 32])
def test_an_incast_takes_two_percent_longer_than_its_packets_on_the_last_link(senders, trims):
    # Oracle: all packets one after the other, and one more link before. Trimmed headers of 64 B
    # and losses are what may come on top.
    got = incast(senders, trims)
    least_ps = (senders * PACKETS + 1) * WIRE * BYTE_PS + 2 * DELAY_PS
    assert 1 <= got.fcts_ps().max() / least_ps <= 1.02
    lost = got["flows"]["trimmed_packets"].sum() if trims else got.drops()
    assert lost > 0 and got["flows"]["retransmitted_packets"].sum() == lost


def test_eight_senders_get_equal_shares_after_twenty_round_trips():
    # Jain's index of what arrived with its payload in the next forty; 1 is equal. Of all packets,
    # also those that arrive trimmed, it is 0.98.
    got = incast(8, True, arrivals=True)
    base_ps = product_bytes(2) * BYTE_PS
    time_ps, flow = got["arrivals"]["time_ps"], got["arrivals"]["flow"]
    counted = flow[(time_ps > 20 * base_ps) & (time_ps <= 60 * base_ps)]
    shares = np.bincount(counted, minlength=8)
    assert shares.sum() ** 2 / (8 * (shares**2).sum()) > 0.95


def test_a_permutation_is_recycled_without_a_trim():
    # 64 hosts over 8 spines: each packet's own path is kept while it has no mark.
    flows = Flows()
    for host in range(64):
        flows.add(host, (host + 8) % 64, PACKETS * MTU)
    transport = smartt(Trimmable=True)
    got = run(leaf_spine(8, 8, 8, RATE, DELAY_PS), flows, [transport], queue=queue(True, 4))
    best_ps = (PACKETS + 3) * WIRE * BYTE_PS + 4 * DELAY_PS + PACKETS * ACK * BYTE_PS
    marked = got["flows"]["ecn_marked_packets"].sum() / got["flows"]["sent_data_packets"].sum()
    assert got["flows"]["trimmed_packets"].sum() == 0
    assert marked < 0.01
    assert 1 <= got.fcts_ps().max() / best_ps <= 1.15


def test_a_window_that_nobody_sets_is_refused():
    with pytest.raises(Exception, match="WindowBdp is 0, so that congestion control decides, and"):
        flows = Flows()
        flows.add(0, 1, 1000)
        run(star(2, RATE, DELAY_PS), flows, [("ns3::SprayTransport", {"WindowBdp": 0})])
