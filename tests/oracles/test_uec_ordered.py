# SPDX-License-Identifier: GPL-2.0-only
"""Ultra Ethernet's reliable ordered delivery (ROD): one path, one NACK for a gap, go-back-N."""

import pytest
from oracle_network import GBPS, US_PS, Flows, line, one_flow, run, star

pytestmark = pytest.mark.ns3

RATE, BYTE_PS = 100 * GBPS, 80
MTU = 4096
DATA_PS = (MTU + 62 + 20) * BYTE_PS
ACK_PS = (66 + 20) * BYTE_PS
DELAY_PS = 5 * US_PS  # two links
ONE_WAY_PS = 2 * DATA_PS + 2 * DELAY_PS
BACK_PS = 2 * ACK_PS + 2 * DELAY_PS
SWITCH, PACKETS = 10, 400
ORDERED = {"Delivery": "Ordered", "PathSelector": "ns3::FlowEntropy"}
# A window of eight products without quick adaption never closes, so the wire is never idle.
OPEN = {**ORDERED, "CongestionControl": "ns3::Nscc[MaxWindowBdp=8|QuickAdaptGate=32]"}
QUEUE = {"LimitBytes": 20 * 4158, "KminBytes": 4 * 4158, "KmaxBytes": 16 * 4158}
MODES = {
    "NSCC": {"CongestionControl": "ns3::Nscc"},
    "RCCC": {"ReceiverCredit": True},
}


def lose(packets, ordinals, **attributes):
    """Send packets over two links; lose the data frames with these ordinals on the first."""
    return run(
        line([RATE, RATE], [DELAY_PS, DELAY_PS]),
        one_flow(0, 1, packets * MTU),
        [("ns3::UecTransport", {**OPEN, **attributes})],
        queue=("ns3::RedEcn", {"KminBytes": 10**8, "KmaxBytes": 10**8}),  # marks nothing
        drops=[(0, SWITCH, ordinal) for ordinal in ordinals],
    )


def begun_by_answer(frame):
    """Return how many frames have been begun when the answer to a frame (from 0) is there."""
    return (frame * DATA_PS + ONE_WAY_PS + BACK_PS) // DATA_PS + 1


@pytest.mark.parametrize("lost", [0, 1, 100, 250])
def test_one_loss_sends_again_what_was_in_flight_when_the_nack_came(lost):
    again = begun_by_answer(lost + 1) - lost
    got = lose(PACKETS, [lost + 1])
    flow = got.flow(0)
    assert flow["retransmitted_packets"] == again
    assert (flow["naks"], flow["timeouts"], flow["out_of_order_peak_packets"]) == (1, 0, 0)
    assert got.fct_ps() == (PACKETS + again - 1) * DATA_PS + ONE_WAY_PS


def test_a_lost_copy_is_reported_when_the_next_copy_comes():
    # The first copy of packet 100 is the frame behind those that were begun when the NACK came.
    copy = begun_by_answer(101)
    sent = begun_by_answer(copy + 1) + PACKETS - 100
    got = lose(PACKETS, [101, copy + 1])
    assert (got.flow(0)["naks"], got.flow(0)["timeouts"]) == (2, 0)
    assert got.flow(0)["sent_data_packets"] == sent
    assert got.fct_ps() == (sent - 1) * DATA_PS + ONE_WAY_PS


def test_a_lost_last_packet_comes_one_timeout_after_the_last_progress():
    rto_ps, packets = 100 * US_PS, 50
    got = lose(packets, [packets], AckEveryBytes=0)
    progress_ps = (packets - 2) * DATA_PS + ONE_WAY_PS + BACK_PS
    assert got.fct_ps() == progress_ps + rto_ps + ONE_WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (1, 1)


@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_losses_and_trims_of_an_incast_are_repaired_in_order(mode, trims):
    network = star(9, RATE, DELAY_PS)
    if not trims:
        network.links = [(*link[:5], 0.01, 0.0) for link in network.links]
    flows = Flows()
    for sender in range(1, 9):
        flows.add(sender, 0, 300 * MTU)
    got = run(
        network, flows, [("ns3::UecTransport", {**ORDERED, **MODES[mode], "Trimmable": trims})],
        queue=("ns3::TrimmingQueue" if trims else "ns3::RedEcn", QUEUE),
    )  # fmt: skip
    flows = got["flows"]
    assert (flows["sender_end_ps"] > 0).all() and (flows["out_of_order_peak_packets"] == 0).all()
    assert (flows["retransmitted_packets"] > 0).any() and (flows["naks"] > 0).any()
    assert (flows["trimmed_packets"] > 0).any() == trims


def test_a_path_for_each_packet_is_refused():
    uec = {"Delivery": "Ordered", "CongestionControl": "ns3::Nscc"}
    with pytest.raises(Exception, match=r"Delivery=Ordered drops what comes out of order"):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, 1000), [("ns3::UecTransport", uec)])
