# SPDX-License-Identifier: GPL-2.0-only
"""The Ultra Ethernet transport: acknowledgements counted, trims repaired, credit, losses."""

import pytest
from oracle_network import GBPS, Flows, leaf_spine, line, one_flow, run, star

import pyorch

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80
DELAY_PS = 1_000_000
MTU = 4096
WIRE = MTU + 62 + 20
PACKETS = 489  # 2 MB
PRODUCT = 2 * (2 * DELAY_PS + (WIRE + 86) * BYTE_PS) // BYTE_PS
TRIMS = (
    "ns3::TrimmingQueue",
    {"LimitBytes": PRODUCT, "KminBytes": PRODUCT // 5, "KmaxBytes": 4 * PRODUCT // 5},
)
MODES = {
    "nscc": {"CongestionControl": "ns3::Nscc"},
    "rccc": {"ReceiverCredit": True},
    "both": {"CongestionControl": "ns3::Nscc[IgnoresLastHopTrims=true]", "ReceiverCredit": True},
}


def uec(mode, **attributes):
    return ("ns3::UecTransport", {"Trimmable": True, **MODES[mode], **attributes})


def incast(senders, mode, **attributes):
    flows = Flows()
    for sender in range(1, senders + 1):
        flows.add(sender, 0, PACKETS * MTU)
    network = star(senders + 1, RATE, DELAY_PS)
    return run(network, flows, [uec(mode, **attributes)], queue=TRIMS, buffer_bytes=10**9)


@pytest.mark.parametrize(("every", "packets"), [(16384, 4), (4096, 1), (8317, 3)])
def test_the_first_packet_each_16_kib_and_the_last_are_acknowledged(every, packets):
    # A frame has 4158 B: four are 16 632, two are 8316. A window of eight products never closes.
    got = run(
        star(2, RATE, DELAY_PS),
        one_flow(0, 1, PACKETS * MTU),
        [uec("nscc", CongestionControl="ns3::Nscc[MaxWindowBdp=8]", AckEveryBytes=every)],
        queue=TRIMS,
    )
    assert got.port(1, 1000)["sent_frames"] == 1 + -(-(PACKETS - 1) // packets)


@pytest.mark.parametrize(("mode", "published_us"), [("nscc", 176.2), ("rccc", 177.4)])
def test_a_message_alone_takes_as_long_as_beside_its_authors_simulator(mode, published_us):
    # 2 MB over the six links of a fat tree of three tiers, in frames of 4086 and 64 B. A window of
    # 1.5 products never closes: 489 full frames and one of 1946 and 64 B one after the other, five
    # more hops of a full one, six links, and an answer of 64 B back. Credit comes at 0.99 of the
    # rate, so the end may wait for its turn.
    tree = line([RATE] * 6, [DELAY_PS] * 6)
    frame = {"MtuBytes": 4086, "HeaderBytes": 64, "AckBytes": 64, "PullBytes": 64}
    flow, transport = one_flow(0, 1, 2_000_000), uec(mode, **frame)
    got = run(tree, flow, [transport], queue=TRIMS, framing_bytes=0)
    end_ps = got.flow(0)["sender_end_ps"]
    alone_ps = ((489 + 5) * 4150 + 1946 + 64 + 6 * 64) * BYTE_PS + 12 * DELAY_PS
    assert end_ps >= alone_ps
    assert end_ps == alone_ps or mode == "rccc"
    assert end_ps / 1e6 == pytest.approx(published_us, abs=0.05)


def test_a_source_that_cannot_go_on_asks():
    # One packet at a time: an acknowledgement for each, although none fills 16 KiB.
    got = run(
        star(2, RATE, DELAY_PS),
        one_flow(0, 1, 100 * MTU),
        [uec("nscc", CongestionControl="ns3::Nscc[MaxWindowBdp=0.01]")],
        queue=TRIMS,
    )
    rtt_ps = 2 * (WIRE + 86) * BYTE_PS + 4 * DELAY_PS
    assert got.port(1, 1000)["sent_frames"] == 100
    assert got.flow(0)["sender_end_ps"] == 100 * rtt_ps


def test_a_source_asks_with_the_last_packet_that_its_window_allows():
    # Eight and a half packets. Of the first eight three are acknowledged: the first, the fifth,
    # with which 16 KiB have come, and the last, which asks. These free one, four and three packets,
    # and the last of each asks.
    got = run(
        star(2, RATE, DELAY_PS),
        one_flow(0, 1, 16 * MTU),
        [uec("nscc", CongestionControl=f"ns3::Nscc[MaxWindowBdp={8.5 * WIRE / PRODUCT}]")],
        queue=TRIMS,
    )
    assert got.port(1, 1000)["sent_frames"] == 6


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("senders", [8, 32])
def test_an_incast_takes_as_long_as_its_packets_on_the_last_link(senders, mode):
    # Every trim is one NACK and one copy. Credit is 0.99 of the rate but for the first window, so
    # an incast by credit alone takes up to 1 % longer. A window that shrinks may leave a packet
    # unanswered that did not ask: few timeouts, each a packet or two.
    got = incast(senders, mode)
    flows = got["flows"]
    least_ps = (senders * PACKETS + 1) * WIRE * BYTE_PS + 2 * DELAY_PS
    assert 1 <= got.fcts_ps().max() / least_ps <= 1.03
    assert flows["trimmed_packets"].sum() > 0
    assert flows["naks"].sum() == flows["trimmed_packets"].sum()
    assert abs(flows["retransmitted_packets"].sum() - flows["naks"].sum()) <= senders // 8


def test_credit_for_what_was_trimmed_is_given_once():
    # 29 messages of a product each come unasked, and most are trimmed. Their headers take the last
    # link, a round trip goes by until what was sent again comes, and that comes at 0.99 of the
    # rate; the last packet takes the first link as well. Credit for a trim and once more because
    # its source asks is credit for sources that have nothing left: 1.15 of the least time.
    senders, packets = 29, PRODUCT // WIRE
    flows = Flows()
    for sender in range(1, senders + 1):
        flows.add(sender, 0, packets * MTU)
    network = star(senders + 1, RATE, DELAY_PS)
    got = run(network, flows, [uec("rccc")], queue=TRIMS, buffer_bytes=10**9)
    trims = got["flows"]["trimmed_packets"].sum()
    on_link_bytes = (senders * packets + 1) * WIRE + trims * (62 + 20) + PRODUCT
    assert trims > senders * packets // 2
    assert got.fcts_ps().max() <= on_link_bytes * BYTE_PS / 0.99 + 2 * DELAY_PS


def test_trims_at_the_last_hop_count_unless_nscc_is_told_otherwise():
    # All trims of an incast into one host of a star are at the last hop.
    ends = []
    for given in ("", "[IgnoresLastHopTrims=false]", "[IgnoresLastHopTrims=true]"):
        got = incast(8, "nscc", CongestionControl=f"ns3::Nscc{given}")
        assert got["flows"]["trimmed_packets"].sum() > 0
        ends.append(got["flows"]["sender_end_ps"].tolist())
    by_default, told, ignoring = ends
    assert by_default == told != ignoring


def test_credit_is_given_at_99_percent_of_the_rate():
    # A message of 40 MB: after the first window, which comes without credit, packets arrive at
    # 0.99 of the rate, not more.
    packets = 9766
    got = run(star(2, RATE, DELAY_PS), one_flow(0, 1, packets * MTU), [uec("rccc")], queue=TRIMS)
    alone_ps = (packets + 1) * WIRE * BYTE_PS + 2 * DELAY_PS
    free_packets = 1.5 * PRODUCT / WIRE + 1
    paced_ps = (packets - 2 * free_packets) * WIRE * BYTE_PS / 0.99
    assert paced_ps < got.fct_ps() < alone_ps / 0.99
    assert got.fct_ps() > 1.008 * alone_ps


@pytest.mark.parametrize("mode", MODES)
def test_losses_of_data_answers_and_credit_are_repaired(mode):
    network = star(3, RATE, DELAY_PS)
    network.links = [(*link[:5], 0.02, 0.0) for link in network.links]
    flows = Flows()
    flows.add(1, 0, 300 * MTU)
    flows.add(2, 0, 300 * MTU)
    got = run(network, flows, [uec(mode, ReorderPackets=8)], queue=TRIMS)
    assert (got["flows"]["receiver_end_ps"] > 0).all() and (got["flows"]["sender_end_ps"] > 0).all()
    assert got["ports"]["dropped_loss_frames"].sum() > 0


def test_a_permutation_over_many_paths_needs_no_copy_of_a_late_packet():
    flows = Flows()
    for host in range(64):
        flows.add(host, (host + 8) % 64, PACKETS * MTU)
    got = run(leaf_spine(8, 8, 8, RATE, DELAY_PS), flows, [uec("nscc")], queue=TRIMS)
    least_ps = (PACKETS + 3) * WIRE * BYTE_PS + 4 * DELAY_PS
    assert got["flows"]["retransmitted_packets"].sum() == got["flows"]["trimmed_packets"].sum()
    assert 1 <= got.fcts_ps().max() / least_ps <= 1.2


def test_a_transport_that_nobody_limits_is_refused():
    with pytest.raises(Exception, match="CongestionControl is empty and ReceiverCredit is false"):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, 1000), [("ns3::UecTransport", {})])


@pytest.mark.parametrize("transport", ["ns3::UecTransport", "ns3::MrcTransport"])
def test_no_message_beats_the_optimum_which_counts_the_answers_that_are_sent(transport, tmp_path):
    # Two hosts send to each other. A data packet and a quarter of an acknowledgement share a link;
    # with an acknowledgement for each packet the optimum would be 1.5 and 3 % longer than this.
    # The last acknowledgements leave when no data is left, which is less than a ten-thousandth.
    scenario = tmp_path / "both_ways.yaml"
    scenario.write_text(
        "name: both_ways\ntopology: {type: star, hosts: 2}\nlink: {rate: 100 Gb/s, delay: 1 us}\n"
        "switch: {buffer: 64 MB, queue: {type: ns3::TrimmingQueue, attributes: {LimitBytes: 400 kB,"
        " KminBytes: 80 kB, KmaxBytes: 320 kB, Pmax: 1}}}\n"
        "workload: {type: permutation, message: 8 MB, inter_leaf: false}\n"
        f"transport: {{type: {transport}, attributes: {{CongestionControl: ns3::Nscc,"
        " Trimmable: true}}\nstop: 20 ms\n"
    )
    found = pyorch.run(scenario, out=tmp_path / "run", progress=False)
    assert 0.9999 < found.summary["slowest_over_optimal"] < 1.005
