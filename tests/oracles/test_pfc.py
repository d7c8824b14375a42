# SPDX-License-Identifier: GPL-2.0-only
"""Priority flow control: nothing is lost, and what pauses is what should."""

import numpy as np
import pytest
from oracle_network import GBPS, MS_PS, US_PS, Flows, Network, run, star

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80  # 8 / (100 Gb/s)
MTU = 4096
FRAME = MTU + 62  # in a buffer; RETH off, so all frames are equal
FRAME_PS = (FRAME + 20) * BYTE_PS  # on the wire
PAUSE_PS = (64 + 20) * BYTE_PS
ROCE = ("ns3::RoceTransport", {"RethBytes": 0})

# The worst case, counted in frames. The one that crosses XoffBytes comes in at t0. The PAUSE
# waits for a reverse frame (less than one FRAME_PS), takes PAUSE_PS and one propagation time.
# Frame k after the crossing one was begun at t0 + (k - 1) * FRAME_PS - delay and cannot be
# stopped if that is before the PAUSE is there:
#     k - 1 < (wait + PAUSE_PS + 2 * delay) / FRAME_PS,  wait < FRAME_PS
# The delay makes (PAUSE_PS + 2 * delay) = 4.3 FRAME_PS: k is at most 1 + floor(5.3 - 0) = 6,
# and reaches it when the wait is above 0.7 frames. With the crossing one: 7 frames.
IN_FLIGHT = 4.3
DELAY_PS = round((IN_FLIGHT * FRAME_PS - PAUSE_PS) / 2)
WORST_FRAMES = 7
XOFF = 20 * FRAME  # a multiple, so that the crossing frame lies wholly beyond it


def headroom_by_standard():
    """Return what comes beyond Xoff as IEEE 802.1Q annex O counts it, in bytes at line rate."""
    pause_ps = FRAME_PS + PAUSE_PS + 2 * DELAY_PS
    return pause_ps / BYTE_PS + 2 * FRAME


def incast(n, size_bytes, *, reverse_bytes=0):
    """Return hosts 1..n that all send to host 0 at once, and host 0 that may answer them."""
    flows = Flows()
    for host in range(1, n + 1):
        flows.add(host, 0, size_bytes)
    for host in range(1, n + 1):
        if reverse_bytes:
            flows.add(0, host, reverse_bytes, start_ps=host * 7919)
    return flows


def ideal_ps(n, size_bytes):
    # Everything crosses the last link back to back; the first frame comes to it over one link.
    packets = size_bytes // MTU
    return FRAME_PS + 2 * DELAY_PS + n * packets * FRAME_PS


@pytest.mark.parametrize("n", [8, 32, 100])
def test_incast_loses_nothing_and_ends_within_two_percent_of_ideal(n):
    size_bytes = 100 * MTU
    got = run(star(n + 1, RATE, DELAY_PS), incast(n, size_bytes), [ROCE], pfc={"XoffBytes": XOFF})

    assert got.drops() == 0
    assert got["flows"]["retransmitted_packets"].sum() == 0
    assert got["ports"]["pause_frames_sent"].sum() > 0, "this run must pause to mean anything"
    # Never faster than the last link carries it; 2 % for pauses that come back too late.
    assert 1 <= got.fcts_ps().max() / ideal_ps(n, size_bytes) <= 1.02


@pytest.mark.parametrize("n", [8, 32])
def test_the_worst_phase_fills_the_headroom_and_no_more(n):
    got = worst_phase(n)
    peak = int(got["ports"]["max_ingress_bytes"].max()) - XOFF

    assert got.drops() == 0
    assert peak == WORST_FRAMES * FRAME
    # The bound in bytes counts the wire's framing too: at most one frame is left of it.
    assert peak <= headroom_by_standard() <= peak + FRAME


def test_headroom_below_the_worst_phase_loses_frames():
    # One byte less than the seventh frame needs, which is less than one frame off the formula.
    got = worst_phase(32, {"HeadroomBytes": WORST_FRAMES * FRAME - 1})
    assert got["ports"]["dropped_headroom_frames"].sum() > 0
    enough = worst_phase(32, {"HeadroomBytes": WORST_FRAMES * FRAME})
    assert enough.drops() == 0


def test_the_headroom_is_the_formula_and_no_more():
    # The engine refuses a buffer that does not hold Xoff and headroom of each port (3 here), so
    # the least buffer it takes tells the headroom, to the byte per port that it rounds up.
    needed = 3 * (XOFF + headroom_by_standard())
    flows = incast(2, MTU)
    network = star(3, RATE, DELAY_PS)
    run(network, flows, [ROCE], pfc={"XoffBytes": XOFF}, buffer_bytes=int(needed) + 6)
    with pytest.raises(PyorchError, match="switch 1000 needs .* bytes for XoffBytes and headroom"):
        run(network, flows, [ROCE], pfc={"XoffBytes": XOFF}, buffer_bytes=int(needed) - 6)


def worst_phase(n, attributes=None):
    """Incast of n, with three more hosts that send to the first eight senders.

    So the wire that a PAUSE takes is busy in the reverse direction, with frames in every phase.
    """
    network = star(n + 1, RATE, DELAY_PS)
    network.hosts += [2000, 2001, 2002]  # three more sources of reverse traffic
    for host in network.hosts[-3:]:
        network.link(host, 1000, RATE, DELAY_PS)
    flows = incast(n, 150 * MTU)
    for i, host in enumerate(network.hosts[-3:]):
        for sender in range(1, 9):
            flows.add(host, sender, 400 * MTU, start_ps=1_000_003 * (i + 1) + 7919 * sender)
    return run(network, flows, [ROCE], pfc={"XoffBytes": XOFF, **(attributes or {})})


def duty(got, n, from_ps):
    """Return the share of time each sender's egress was paused."""
    now_ps = int(got["summary"]["now_ps"][0])
    return np.array([got.port(h, 1000)["paused_ps"] / (now_ps - from_ps) for h in range(1, n + 1)])


@pytest.mark.parametrize(("n", "share"), [(2, 0.5), (4, 0.75)])
def test_each_port_of_a_fan_in_is_paused_the_right_share_of_time(n, share):
    # Each sender may use 1/n of the last link, at full rate or not at all: it is silent for
    # 1 - 1/n of the time. It is silent a little longer than it is paused, or shorter: up to one
    # frame per pause is sent while paused, against 100 kB / (1 - 1/n) of hysteresis: < 2 %.
    # The first pause comes when XOFF has gathered at (1 - 1/n) of the rate: left out.
    xoff = 200_000
    got = run(
        star(n + 1, RATE, US_PS),
        incast(n, 100_000_000),
        [ROCE],
        pfc={"XoffBytes": xoff, "XonOffsetBytes": 100_000},
        stop_ps=6 * MS_PS,
    )
    from_ps = xoff * BYTE_PS / (1 - 1 / n)
    assert duty(got, n, from_ps) == pytest.approx(share, abs=0.02)
    # All rates are equal: 6 ms of the last link hold 6 ms / FRAME_PS packets.
    sent = got["flows"]["sent_data_packets"]
    assert sent == pytest.approx(6 * MS_PS / FRAME_PS / n, rel=0.02)


@pytest.mark.parametrize("offset", [50_000, 150_000])
def test_the_account_swings_between_resume_and_pause(offset):
    # 2:1. An ingress gains and loses at half the rate, offset / (C / 2) each way. A PAUSE works
    # after its own time, the delay, half a frame on average and the delay of what is under way;
    # a RESUME likewise, and then a whole frame must come. What has come or gone meanwhile at
    # half the rate takes as long to undo.
    up_ps = 2 * US_PS + PAUSE_PS + FRAME_PS / 2
    down_ps = 2 * US_PS + PAUSE_PS + FRAME_PS
    period_ps = 2 * (offset * BYTE_PS * 2) + 2 * up_ps + 2 * down_ps
    xoff = 200_000
    got = run(
        star(3, RATE, US_PS),
        incast(2, 100_000_000),
        [ROCE],
        pfc={"XoffBytes": xoff, "XonOffsetBytes": offset},
        stop_ps=6 * MS_PS,
    )
    periods = (6 * MS_PS - xoff * BYTE_PS * 2) / period_ps
    for host in (1, 2):
        switch = got.port(1000, host)
        # One PAUSE and one RESUME per period.
        assert switch["pause_frames_sent"] == pytest.approx(2 * periods, rel=0.03)
        assert got.port(host, 1000)["pause_frames_received"] in (
            switch["pause_frames_sent"],
            switch["pause_frames_sent"] - 1,
        )
        peak = xoff + (up_ps + FRAME_PS / 2) / BYTE_PS / 2
        assert switch["max_ingress_bytes"] == pytest.approx(peak, abs=FRAME)


def victim_fabric():
    """Return two switches; 0 and 1 sit on the left, receivers 2, 3 and senders 4..10 right."""
    network = Network(hosts=list(range(11)), switches=[(1000, 1), (1001, 1)])
    for host in network.hosts:
        network.link(host, 1000 if host < 2 else 1001, RATE, US_PS)
    network.link(1000, 1001, RATE, US_PS)
    return network


def victim_run(victim_priority):
    """8:1 incast into host 2, one of them from the left; the victim 1 -> 3 shares its link."""
    flows = Flows()
    flows.add(0, 2, 500 * MTU)
    for host in range(4, 11):
        flows.add(host, 2, 500 * MTU)
    victim = flows.add(1, 3, 200 * MTU, start_ps=100 * US_PS, transport=1)
    transports = [ROCE, (ROCE[0], {**ROCE[1], "Priority": victim_priority})]
    pfc = {"XoffBytes": 50_000, "Priorities": 0b11000}  # priorities 3 and 4
    got = run(victim_fabric(), flows, transports, pfc=pfc)
    assert got.drops() == 0
    return got.fct_ps(victim)


def test_a_victim_on_a_paused_port_slows_and_one_on_another_priority_does_not():
    alone_ps = 200 * FRAME_PS + 2 * FRAME_PS + 3 * US_PS
    # The port between the switches is paused so that the incast flow gets 1/8 of the receiver.
    # The victim shares its first-in first-out queue, one frame for one frame: 1/8 as well, and
    # the incast outlasts it (500 of 500 frames against 200).
    assert victim_run(3) / alone_ps == pytest.approx(8, rel=0.1)
    # Priority 4 goes first and is not paused: it can lose to at most one frame already on the
    # wire at each of the two switches (it shares neither host with others).
    assert alone_ps <= victim_run(4) <= alone_ps + 2 * FRAME_PS


def test_pause_travels_back_to_the_source_and_rates_halve():
    # Tree of two levels: 0 -> S1 -> S2 -> receiver 2, with host 3 at S2 as the competitor. Both
    # sources end up at half of the receiver's rate, the one behind two switches too.
    network = Network(hosts=[0, 2, 3], switches=[(1000, 1), (1001, 1)])
    network.link(0, 1000, RATE, US_PS)
    network.link(1000, 1001, RATE, US_PS)
    network.link(2, 1001, RATE, US_PS)
    network.link(3, 1001, RATE, US_PS)
    flows = Flows()
    flows.add(0, 2, 100_000_000)
    flows.add(3, 2, 100_000_000)
    xoff = 100_000
    got = run(network, flows, [ROCE], pfc={"XoffBytes": xoff}, stop_ps=4 * MS_PS)
    source = got.port(0, 1000)
    # By then two switches have filled up to Xoff: not before 2 * XOFF at half the rate.
    from_ps = 2 * xoff * 2 * BYTE_PS
    assert source["paused_ps"] / (4 * MS_PS - from_ps) == pytest.approx(0.5, abs=0.03)
    packets = 4 * MS_PS / FRAME_PS
    assert got["flows"]["sent_data_packets"] == pytest.approx(packets / 2, rel=0.03)
    assert got.drops() == 0
