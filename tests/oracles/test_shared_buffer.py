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


@pytest.mark.parametrize(("n", "alpha"), [(1, 1), (4, 1), (4, 8), (8, 0.125)])
def test_a_burst_beside_saturated_queues_gets_its_share_of_what_is_free(n, alpha):
    # Oracle: n queues have stopped at their threshold and leave B / (1 + n alpha) free. They hardly
    # drain, so a new queue of q has a threshold of alpha (free - q): it stops at
    # alpha free / (1 + alpha), within a frame, and what is longer is dropped.
    network, flows = pairs(n + 1, 10**6)
    burst = flows.rows.pop()
    flows.add(*burst[1:4], start_ps=MS_PS)
    free = (BUFFER_BYTES - (n + 1) * FRAME_BYTES) / (1 + n * alpha)

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0, "Rto": "1s"})],
        queue=("ns3::DropTail", {"Alpha": alpha}),
        buffer_bytes=BUFFER_BYTES,
        stop_ps=2 * MS_PS,
    )

    held = got.port(1000, 2 * n + 1)["max_queue_bytes"]
    assert abs(held - alpha * free / (1 + alpha)) <= 2 * FRAME_BYTES


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


def test_a_threshold_that_falls_below_what_an_idle_port_holds_costs_it_no_headroom():
    # Host 0 leaves 1 MB in a switch that hardly drains, well below its threshold of half the
    # buffer, and falls silent. Eight others then fill the rest: with alpha 1 each holds a ninth of
    # what is left, about 0.3 MB, and the threshold is as low. When host 0 sends again it holds
    # more than threshold and headroom together, but was never paused: it has its headroom yet.
    network, _ = pairs(9, 10**6)
    flows = Flows()
    flows.add(0, 9, 1_000_000)
    for i in range(1, 9):
        flows.add(i, 9 + i, 8_000_000, start_ps=MS_PS)
    flows.add(0, 9, 1_000_000, start_ps=2 * MS_PS)

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0, "Rto": "1s"})],
        pfc={"Alpha": 1, "XonOffsetBytes": 10_000},
        buffer_bytes=BUFFER_BYTES,
        stop_ps=3 * MS_PS,
    )

    port = got.port(1000, 0)
    assert got.port(1000, 1)["max_ingress_bytes"] < 400_000
    assert port["pause_frames_sent"] == 1
    assert 1_000_000 < port["max_ingress_bytes"] < 1_100_000
    assert got.drops() == 0


def test_a_threshold_that_falls_takes_headroom_from_none_of_two_priorities():
    # Four pairs begin one after the other, of two lossless priorities: the first fill the buffer
    # far above the share that the last leave them. What they hold is no reason to drop what comes.
    network, flows = pairs(4, GBPS)
    flows.rows = [
        (flow, src, dst, 2_000_000, flow * 20 * 10**6, flow % 2)
        for flow, src, dst, *_ in flows.rows
    ]  # fmt: skip

    got = run(
        network,
        flows,
        [("ns3::RoceTransport", {"Rto": "1s", "Priority": priority}) for priority in (3, 4)],
        pfc={"Alpha": 8, "XonOffsetBytes": 0, "Priorities": 0b11000},
        buffer_bytes=800_000,
        stop_ps=200 * MS_PS,
    )

    assert got.drops() == 0
    assert (got["flows"]["receiver_end_ps"] >= 0).all()
