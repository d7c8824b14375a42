# SPDX-License-Identifier: GPL-2.0-only
"""Cut-through switches, against a recursion over packets and hops."""

import pytest
from oracle_network import GBPS, NS_PS, US_PS, line, one_flow, run

pytestmark = pytest.mark.ns3

FRAMING_BYTES = 20


def expected_ps(sizes, rates, delay_ps, processing_delay_ps, head_bytes):
    """Return when the last bit is in, if each switch forwards once `head_bytes` are in.

    A frame waits for the frame before it; a switch with a faster port than the one the frame
    comes in by stores it first.
    """
    free = [0] * len(rates)
    end = 0
    for size in sizes:
        ready = 0
        for hop, rate in enumerate(rates):
            per_byte_ps = 8 * 10**12 // rate
            begin = max(free[hop], ready)
            free[hop] = begin + (size + FRAMING_BYTES) * per_byte_ps
            cuts = hop + 1 < len(rates) and rates[hop + 1] <= rate
            seen = min(head_bytes, size) if cuts else size
            ready = begin + (seen + FRAMING_BYTES) * per_byte_ps + delay_ps + processing_delay_ps
            end = free[hop] + delay_ps
    return end


@pytest.mark.parametrize("size_bytes", [1, 4096, 4097, 100_000])
@pytest.mark.parametrize("processing_delay_ps", [0, 300_000])
@pytest.mark.parametrize("rates_gbps", [(100, 100), (800, 800, 800, 800), (100, 400), (400, 100)])
def test_an_unloaded_transfer_takes_what_the_recursion_says(
    size_bytes, processing_delay_ps, rates_gbps
):
    rates = [gbps * GBPS for gbps in rates_gbps]
    full, rest = divmod(size_bytes, 4096)
    sizes = [4096 + 62] * full + ([max(64, rest + 62)] if rest else [])

    got = run(
        line(rates, [500 * NS_PS] * len(rates)),
        one_flow(0, 1, size_bytes),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        cut_through_bytes=128,
        processing_delay_ps=processing_delay_ps,
    )

    assert got.fct_ps() == expected_ps(sizes, rates, 500 * NS_PS, processing_delay_ps, 128)


def test_a_link_that_slows_down_under_load_is_stored_from_its_next_frame_on():
    # Oracle: the same recursion. The host's link has 100 Gb/s until it is cut to 10 Gb/s in the
    # middle of a frame; a frame that began before ends as it began, later ones are stored first.
    fast, slow, change_ps, delay_ps, packets = 100 * GBPS, 10 * GBPS, 10 * US_PS, US_PS, 100
    frame, head = 4096 + 62, 64
    free = [0, 0]
    for _ in range(packets):
        rate = slow if free[0] >= change_ps else fast
        begin, seen = free[0], head if rate == fast else frame
        free[0] += (frame + FRAMING_BYTES) * 8 * 10**12 // rate
        ready = begin + (seen + FRAMING_BYTES) * 8 * 10**12 // rate + delay_ps
        free[1] = max(free[1], ready) + (frame + FRAMING_BYTES) * 8 * 10**12 // fast

    got = run(
        line([fast, fast], [delay_ps, delay_ps]),
        one_flow(0, 1, packets * 4096),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        cut_through_bytes=head,
        link_events=[(change_ps, 0, 10, slow)],
    )

    assert got.fct_ps() == free[1] + delay_ps


@pytest.mark.parametrize("restored", [(0, 10), (10, 1)])
def test_a_link_that_comes_back_slower_or_beside_a_faster_one_is_stored_from_its_first_frame_on(
    restored,
):
    # Oracle: by hand. The host waits for its link; when it is back, its rate is a tenth of the
    # other one's, because it has become slower or the other one faster at that very time.
    slow, back_ps, delay_ps, frame = 10 * GBPS, 20 * US_PS, US_PS, 1000 + 62
    fast = 100 * GBPS
    before = fast if restored == (0, 10) else slow
    changes = [(1, 0, 10, 0), (back_ps, 0, 10, slow)]
    if restored == (10, 1):
        changes.append((back_ps, 10, 1, fast))
    expected = back_ps + sum((frame + FRAMING_BYTES) * 8 * 10**12 // rate for rate in (slow, fast))

    got = run(
        line([before, before], [delay_ps, delay_ps]),
        one_flow(0, 1, 1000, start_ps=US_PS),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        cut_through_bytes=64,
        link_events=changes,
    )

    assert got.flow(0)["receiver_end_ps"] == expected + 2 * delay_ps
