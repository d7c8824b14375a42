# SPDX-License-Identifier: GPL-2.0-only
"""ECN marks against the ramp, on queues whose length is known frame by frame."""

import math
from bisect import bisect_left

import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, run, star

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80
MTU = 4096
FRAME = MTU + 62
FRAME_PS = (FRAME + 20) * BYTE_PS
DELAY_PS = 10**6
LONG, BURST = 4000, 100  # packets of the two flows


def two_flows():
    """A long flow at line rate and a short one: the short one's packets stay in the queue.

    While both send, two frames come for each that leaves; afterwards one for one, so the queue
    stays at about BURST frames for the rest of the long flow. Half a frame apart, so that no
    two frames come at the same instant.
    """
    flows = Flows()
    flows.add(1, 0, LONG * MTU)
    flows.add(2, 0, BURST * MTU, start_ps=FRAME_PS // 2 + 7)
    return flows


def queues_seen():
    """Return the bytes left in the queue behind each frame as it begins to leave (the oracle).

    Arrivals at the switch: start + k * FRAME_PS + FRAME_PS + DELAY. A frame leaves when it is
    there and the one before has left. Of those that have come by then, it is one itself. One
    that comes at the instant when another ends finds the queue as it is after that.
    """
    starts = [(0, LONG), (FRAME_PS // 2 + 7, BURST)]
    arrivals = sorted(
        start + (k + 1) * FRAME_PS + DELAY_PS for start, n in starts for k in range(n)
    )
    seen, free = [], 0
    for i, arrival in enumerate(arrivals):
        begin = max(arrival, free)
        free = begin + FRAME_PS
        come = max(bisect_left(arrivals, begin), i + 1)
        seen.append((come - i - 1) * FRAME)
    return seen


def marks(seed=1, **red):
    """Return how many packets were marked; port and receiver must agree."""
    got = run(
        star(3, RATE, DELAY_PS),
        two_flows(),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        queue=("ns3::RedEcn", red),
        seed=seed,
    )
    marked = got.port(1000, 0)["ecn_marked_packets"]
    assert got["flows"]["ecn_marked_packets"].sum() == marked
    assert got.port(1000, 0)["sent_data_packets"] == LONG + BURST
    return marked


def test_the_queue_of_this_test_is_constant():
    # The oracle itself, by hand: it climbs to 99 or 100 frames and stays.
    seen = queues_seen()
    plateau = max(seen)
    assert plateau in (99 * FRAME, 100 * FRAME)
    assert sum(abs(q - plateau) <= FRAME for q in seen) > LONG - 2 * BURST


def test_the_deepest_queue_is_what_the_oracle_says():
    got = run(star(3, RATE, DELAY_PS), two_flows(), [("ns3::RoceTransport", {"RethBytes": 0})])
    # max_queue_bytes counts a frame that has just come; the oracle's frames see it afterwards.
    assert got.port(1000, 0)["max_queue_bytes"] - max(queues_seen()) in (0, FRAME)


def test_nothing_is_marked_up_to_kmin():
    plateau = max(queues_seen())
    assert marks(KminBytes=plateau, KmaxBytes=plateau, Pmax=1) == 0


def test_everything_above_kmax_is_marked():
    plateau = max(queues_seen())
    # A step at K: all that saw more than K, none that saw K or less (Pmax 0: no ramp).
    for step in (plateau - 1, plateau // 2, FRAME, 0):
        expected = sum(q > step for q in queues_seen())
        assert marks(KminBytes=step, KmaxBytes=step, Pmax=0) == expected


def test_kmax_itself_is_still_on_the_ramp():
    # At q = Kmax the probability is Pmax = 0, just above it 1.
    plateau = max(queues_seen())
    assert marks(KminBytes=0, KmaxBytes=plateau, Pmax=0) == 0


@pytest.mark.parametrize("pmax", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("place", [0.25, 0.5, 0.9])
def test_the_share_of_marks_is_the_ramp(pmax, place):
    # The constant queue lies at `place` of the way from Kmin to Kmax. Frame i is marked with
    # p_i = Pmax (q_i - Kmin) / (Kmax - Kmin) independently: mean sum p, variance sum p (1 - p).
    seen = queues_seen()
    kmin = 100_000
    kmax = kmin + round((max(seen) - kmin) / place)
    chances = [pmax * (q - kmin) / (kmax - kmin) if q > kmin else 0 for q in seen]
    mean = sum(chances)
    sigma = math.sqrt(sum(p * (1 - p) for p in chances))
    # 3 sigma: false alarm 0.3 % for a seed drawn at random, none for this one.
    assert abs(marks(KminBytes=kmin, KmaxBytes=kmax, Pmax=pmax) - mean) <= 3 * sigma


def test_marks_are_drawn_anew_with_each_seed():
    # Mean 1950, sigma 32: ten seeds agree in one number with probability below 1e-12.
    plateau = max(queues_seen())
    red = {"KminBytes": 0, "KmaxBytes": 2 * plateau, "Pmax": 1}
    assert len({marks(seed, **red) for seed in range(10)}) > 1


def test_what_is_not_ecn_capable_is_never_marked():
    got = run(
        star(3, RATE, DELAY_PS),
        two_flows(),
        [("ns3::RoceTransport", {"RethBytes": 0, "EcnCapable": False})],
        queue=("ns3::RedEcn", {"KminBytes": 0, "KmaxBytes": 0}),
    )
    assert got["ports"]["ecn_marked_packets"].sum() == 0


def test_drop_tail_drops_what_the_queue_has_no_room_for():
    # The same queue with room for 50 frames: it is full from the 50th frame of the burst on, and
    # while both flows send one of two frames finds no room. Nothing is sent again before the
    # NAK is back, so the highest queue is the limit itself.
    got = run(
        star(3, RATE, DELAY_PS),
        two_flows(),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        queue=("ns3::DropTail", {"LimitBytes": 50 * FRAME}),
        stop_ps=LONG * FRAME_PS // 20,
    )
    port = got.port(1000, 0)
    assert port["max_queue_bytes"] == 50 * FRAME
    assert got["ports"]["dropped_buffer_frames"].sum() > 0


def test_a_queue_that_marks_nothing_loses_the_same_frames():
    # Draws for marks and for losses are of their own: with a probability of 1e-12 every departure
    # draws and none marks, so the lossy links lose what they lose without RED.
    network = star(3, RATE, DELAY_PS)
    network.links = [(*link[:5], 0.02, 0.0) for link in network.links]

    def outcome(queue):
        flows = Flows()
        for src, dst in ((0, 1), (2, 1), (1, 0)):
            flows.add(src, dst, 1000 * MTU)
        transport = ("ns3::SprayTransport", {"WindowBdp": 2, "ReorderPackets": 500, "Rto": "5ms"})
        got = run(network, flows, [transport], queue=queue)
        assert got["ports"]["ecn_marked_packets"].sum() == 0
        lost = got["ports"]["dropped_loss_frames"].tolist()
        return lost, got["flows"]["receiver_end_ps"].tolist()

    red = {"KminBytes": 0, "KmaxBytes": 10**9, "Pmax": 1e-12}
    lost, _ = plain = outcome(("ns3::DropTail", {}))
    assert sum(lost) > 50
    assert outcome(("ns3::RedEcn", red)) == plain


@pytest.mark.parametrize("slow_from_ps", [0, 5 * US_PS])
def test_limits_and_marks_follow_the_rate_that_a_link_has(slow_from_ps):
    # By hand: three hosts send to one from 10 us on, over a queue of 8 frames at 100 Gb/s that
    # marks above 2. At a quarter of the rate it holds 2 and marks above half a frame, from the very
    # first one; when the link has its rate again it holds 8, for three others that begin then.
    frame, back_ps = 1000, 100 * US_PS
    sizes = {"LimitBytes": 8 * frame, "KminBytes": 2 * frame, "KmaxBytes": 2 * frame, "Pmax": 1}
    wire = {"MtuBytes": frame - 62, "HeaderBytes": 62, "RethBytes": 0, "Recovery": "GoBackN"}
    longest, marked = {}, {}
    for end_ps in (50 * US_PS, 200 * US_PS):
        flows = Flows()
        for src in (1, 2, 3):
            flows.add(src, 0, 20 * (frame - 62), 10 * US_PS)
            flows.add(src, 0, 20 * (frame - 62), back_ps + 10 * US_PS)
        got = run(
            star(4, 100 * GBPS, 500 * NS_PS), flows, [("ns3::RoceTransport", wire)],
            queue=("ns3::RedEcn", {**sizes, "ReferenceRateBps": 100 * GBPS}),
            link_events=[(slow_from_ps, 1000, 0, 25 * GBPS), (back_ps, 1000, 0, 100 * GBPS)],
            stop_ps=end_ps,
        )  # fmt: skip
        longest[end_ps] = got.port(1000, 0)["max_queue_bytes"]
        marked[end_ps] = got.port(1000, 0)["ecn_marked_packets"]

    assert longest == {50 * US_PS: 2 * frame, 200 * US_PS: 8 * frame}
    assert marked[50 * US_PS] > 0  # behind a frame there is one at most
