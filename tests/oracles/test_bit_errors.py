# SPDX-License-Identifier: GPL-2.0-only
"""A bit error ratio loses frames by their length, and no others."""

import math

import pytest
from oracle_network import GBPS, NS_PS, Network, one_flow, run

pytestmark = pytest.mark.ns3

MTU = 1000
FRAME = MTU + 62
ACK = 78  # AckBytes of the transports
SPRAY = ("ns3::SprayTransport", {"MtuBytes": MTU})


def two_links(ratio):
    """Return host 0 - switch 10 - host 1 with errors on the second link only."""
    network = Network(hosts=[0, 1], switches=[(10, 1)])
    network.link(0, 10, 100 * GBPS, 500 * NS_PS)
    network.link(1, 10, 100 * GBPS, 500 * NS_PS, bit_errors=ratio)
    return network


@pytest.mark.parametrize("ratio", [1e-6, 2e-5])
def test_frames_are_lost_as_often_as_one_of_their_bits_is_wrong(ratio):
    packets = 20_000
    got = run(two_links(ratio), one_flow(0, 1, packets * MTU), [SPRAY])

    assert got["flows"]["receiver_end_ps"][0] > 0
    for sender, receiver, frame_bytes in ((10, 1, FRAME), (1, 10, None)):
        frames = got.port(sender, receiver)["sent_frames"]
        corrupt = got.port(receiver, sender)["dropped_corrupt_frames"]
        bits = got.port(sender, receiver)["sent_bytes"] / frames - 20  # all are alike
        assert frame_bytes is None or bits == frame_bytes
        share = 1 - (1 - ratio) ** (8 * bits)
        assert abs(corrupt - frames * share) < 4 * math.sqrt(frames * share * (1 - share)) + 1
    assert got.port(10, 0)["dropped_corrupt_frames"] == 0
    assert got.drops() == got["ports"]["dropped_corrupt_frames"].sum()


def test_errors_and_losses_are_counted_apart():
    network = two_links(1e-5)
    network.link(0, 10, 100 * GBPS, 500 * NS_PS, parallel=1, loss=0.01)
    got = run(network, one_flow(0, 1, 5_000 * MTU), [SPRAY])

    lost, corrupt = (got["ports"][f"dropped_{why}_frames"] for why in ("loss", "corrupt"))
    assert lost.sum() > 10 and corrupt.sum() > 100
    assert not (lost * corrupt).any(), "each link has only one kind"
