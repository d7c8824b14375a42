# SPDX-License-Identifier: GPL-2.0-only
"""Dynamic thresholds, against the closed form of Choudhury and Hahne."""

import pytest
from oracle_network import GBPS, MS_PS, NS_PS, Flows, Network, run

pytestmark = pytest.mark.ns3

FRAME_BYTES = 4096 + 62
BUFFER_BYTES = 4_000_000


def pairs(n: int, slow_bps: int) -> tuple[Network, Flows]:
    """Return n fast senders, each with a receiver whose link hardly drains, around one switch."""
    network = Network(hosts=list(range(2 * n)), switches=[(1000, 1)])
    flows = Flows()
    for i in range(n):
        network.link(i, 1000, 100 * GBPS, 500 * NS_PS)
        network.link(n + i, 1000, slow_bps, 500 * NS_PS)
        flows.add(i, n + i, 8_000_000)
    return network, flows


@pytest.mark.parametrize("n", [1, 2, 8])
@pytest.mark.parametrize("alpha", [0.125, 1, 8])
def test_saturated_queues_hold_the_closed_form_within_one_packet(n, alpha):
    # Oracle: q = alpha (B - Q) with Q = n q + n frames on the slow wires, so
    # q = alpha (B - n F) / (1 + n alpha). A queue is full when no frame is admitted any more, so
    # it ends within one frame above.
    network, flows = pairs(n, 10**6)
    expected = alpha * (BUFFER_BYTES - n * FRAME_BYTES) / (1 + n * alpha)

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0, "Rto": "1s"})],
        queue=("ns3::DropTail", {"Alpha": alpha}),
        buffer_bytes=BUFFER_BYTES,
        stop_ps=MS_PS,
    )

    for i in range(n):
        held = got.port(1000, n + i)["max_queue_bytes"]
        assert abs(held - expected) <= FRAME_BYTES


@pytest.mark.parametrize("n", [1, 4])
def test_a_dynamic_pfc_threshold_pauses_at_its_share_and_loses_nothing(n):
    # Oracle: each ingress is paused at alpha * (shared - n u), so at alpha * shared / (1 + n alpha)
    # when all fill at once; then at most the headroom comes on top. Headroom by the formula: three
    # frames, one PAUSE, two propagation times, all as bytes of a 100 Gb/s (or 1 Gb/s) link.
    alpha = 0.5
    network, flows = pairs(n, GBPS)

    def headroom(rate_bps):
        wire = (FRAME_BYTES + 20) + (64 + 20) + 2 * 500e-9 * rate_bps / 8
        return wire + 2 * FRAME_BYTES

    shared = BUFFER_BYTES - n * (headroom(100 * GBPS) + headroom(GBPS))
    threshold = alpha * shared / (1 + n * alpha)

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0, "Rto": "1s"})],
        pfc={"Alpha": alpha, "XonOffsetBytes": 10_000},
        buffer_bytes=BUFFER_BYTES,
        stop_ps=2 * MS_PS,
    )

    assert got.drops() == 0
    for i in range(n):
        held = got.port(1000, i)["max_ingress_bytes"]
        assert threshold - 2 * FRAME_BYTES <= held <= threshold + headroom(100 * GBPS)
