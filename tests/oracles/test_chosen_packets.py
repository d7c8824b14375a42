# SPDX-License-Identifier: GPL-2.0-only
"""One packet is lost: what that costs at the tail of a message, and what in its middle."""

import pytest

import pyorch
from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

MS_PS = 10**9
#: A packet has 1550 B on the wire: 80 ns each in the middle, and 8 ns on the links of both hosts.
ROUND_TRIP_PS, PACKET_PS, RTO_PS = 60 * MS_PS, 1550 * (80_000 + 2 * 8_000), 200 * MS_PS
#: Packets of 1460 B; an odd number, so that the last is acknowledged alone.
N_PACKETS = 1001


def wan(transport, packets, flow=0):
    model = {"type": "ns3::ChosenPackets", "attributes": {"Flow": flow, "Packets": packets}}
    return {
        "name": "tail",
        "topology": {"type": "dumbbell", "left": 1, "right": 1, "bottleneck_rate": "100 Mb/s",
                     "bottleneck_delay": f"{ROUND_TRIP_PS // 2 - 2_000_000} ps"},
        "link": {"rate": "1 Gb/s", "delay": "1 us",
                 "classes": [{"tiers": [1, 1], "loss_model": model}]},
        "switch": {"buffer": "60 MB"},
        "workload": {"type": "single", "source": 0, "target": 1,
                     "message": f"{N_PACKETS * 1460} B"},
        "transport": transport,
        "stop": "100 s",
    }  # fmt: skip


TCP = {"type": "ns3::TcpTransport",
       "attributes": {"SegmentBytes": 1460, "MinRto": f"{RTO_PS // MS_PS} ms"}}  # fmt: skip
ROCE = {"type": "ns3::RoceTransport", "attributes": {"MtuBytes": 1460}}


def flow_of(folder, packets, transport=TCP):
    ran = pyorch.run(wan(transport, packets), results=folder)
    (flow,) = ran.flows.to_dict("records")
    return flow | {"lost": ran.ports["dropped_loss_frames"].sum()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return flow_of(tmp_path_factory.mktemp("undisturbed"), "")


def test_a_lost_tail_costs_a_timeout_beyond_a_round_trip(tmp_path, undisturbed):
    # Oracle: RFC 6298. Nothing comes after the packet that tells of it. The timer starts again with
    # the last acknowledgement, a round trip after the packet before was sent.
    flow = flow_of(tmp_path, f"{N_PACKETS - 1}")
    late_ps = flow["receiver_end_ps"] - undisturbed["receiver_end_ps"]

    # docs/wan.md names these two times.
    assert [round(its["receiver_end_ps"] / MS_PS) for its in (undisturbed, flow)] == [498, 758]
    assert (undisturbed["lost"], flow["lost"]) == (0, 1)
    assert (flow["timeouts"], flow["retransmitted_packets"]) == (1, 1)
    assert ROUND_TRIP_PS <= late_ps <= RTO_PS + ROUND_TRIP_PS + PACKET_PS


def test_a_packet_in_the_middle_is_repaired_without_a_timeout(tmp_path, undisturbed):
    # Oracle: RFC 5681. Those behind it tell of it, so its copy takes the place of one packet.
    flow = flow_of(tmp_path, "500")
    late_ps = flow["receiver_end_ps"] - undisturbed["receiver_end_ps"]

    assert (flow["lost"], flow["timeouts"], flow["retransmitted_packets"]) == (1, 0, 1)
    assert 0 < late_ps <= PACKET_PS


def test_each_chosen_packet_is_lost_once_and_no_other(tmp_path):
    # Go-back-N sends again all from a lost packet on, and the copy of that one comes.
    flow = flow_of(tmp_path, "7,900", ROCE)
    assert flow["lost"] == 2
    assert flow["retransmitted_packets"] > 2


@pytest.mark.parametrize(
    ("packets", "flow", "message"),
    [("3;7", 0, "Packets is '3;7'; write numbers"), ("3", 1, "Flow is 1, and no message has")],
)
def test_what_cannot_be_chosen_is_refused(tmp_path, packets, flow, message):
    with pytest.raises(PyorchError, match=message):
        pyorch.run(wan(TCP, packets, flow), results=tmp_path)
