# SPDX-License-Identifier: GPL-2.0-only
"""The closed form of an unloaded transfer against hand counts and a slow packet-by-packet twin."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.theory.fct import Framing, unloaded_fct_ps

PLAIN = Framing(mtu_bytes=1000, header_bytes=0, first_header_bytes=0, framing_bytes=0)


def slow_twin(sizes, rates, delays, switch_delay):
    """Forward every packet over every link: start = max(arrived whole, link is free)."""
    free = [0] * len(rates)
    arrival = 0
    for size in sizes:
        arrival = 0
        for link, (rate, delay) in enumerate(zip(rates, delays, strict=True)):
            start = max(arrival, free[link])
            free[link] = start + -(-size * 8 * 10**12 // rate)
            arrival = free[link] + delay + (switch_delay if link < len(rates) - 1 else 0)
    return arrival


def packet_sizes(message, mtu, header, first_header, framing):
    """Cut a message by hand: full payloads, then what is left; 64 B is the least frame."""
    payloads = [mtu] * (message // mtu) + ([message % mtu] if message % mtu else [])
    return [
        max(payload + header + (first_header if index == 0 else 0), 64) + framing
        for index, payload in enumerate(payloads)
    ]


@settings(max_examples=300)
@given(
    message=st.integers(1, 40_000),
    mtu=st.sampled_from([256, 1024, 4096]),
    headers=st.tuples(st.integers(0, 90), st.integers(0, 40), st.integers(0, 24)),
    links=st.lists(
        st.tuples(st.sampled_from([100, 200, 400, 800, 1600]), st.integers(0, 10**7)),
        min_size=1,
        max_size=6,
    ),
    switch_delay=st.integers(0, 10**6),
)
def test_the_closed_form_equals_the_slow_twin(message, mtu, headers, links, switch_delay):
    rates, delays = [rate * 10**9 for rate, _ in links], [delay for _, delay in links]
    sizes = packet_sizes(message, mtu, *headers)

    got = unloaded_fct_ps(message, rates, delays, Framing(mtu, *headers), switch_delay)

    assert got == slow_twin(sizes, rates, delays, switch_delay)


def test_one_byte_over_four_links_by_hand():
    # 1 + 62 + 16 = 79 B frame, 99 B on the wire, at 800 Gb/s 10 ps/B: 990 ps a link.
    # Four links of 500 ns: 4 * 990 + 4 * 500 000 = 2 003 960 ps.
    assert unloaded_fct_ps(1, [800 * 10**9] * 4, [500_000] * 4, Framing()) == 2_003_960


def test_a_long_message_by_hand():
    # 3 x 4096 B, 4 links of 800 Gb/s without delay. Wire: 4194, 4178, 4178 B at 10 ps/B.
    # The first packet is the largest, so those behind it wait for it on every link:
    # all three on the first link and the largest once more on each of the other three.
    by_hand = 10 * (4194 + 4178 + 4178 + 3 * 4194)
    assert unloaded_fct_ps(3 * 4096, [800 * 10**9] * 4, [0] * 4, Framing()) == by_hand


def test_a_slow_link_in_the_middle_carries_all_packets():
    # 10 packets of 1000 B: 10 ns at 800 Gb/s, 80 ns at 100 Gb/s. The first reaches the slow
    # link after 10 ns, ten follow each other there, the last takes 10 ns more.
    rates = [800 * 10**9, 100 * 10**9, 800 * 10**9]
    assert unloaded_fct_ps(10_000, rates, [0] * 3, PLAIN) == 10_000 + 10 * 80_000 + 10_000


def test_a_short_last_packet_waits_for_the_full_one_before_it():
    # 1000 B and 1 B (64 B frame). On link 2 the short one arrives at 10 640 ps while the long
    # one is still being sent until 20 000 ps, so it ends at 20 640 ps.
    assert unloaded_fct_ps(1001, [800 * 10**9] * 2, [0] * 2, PLAIN) == 20_640


@pytest.mark.parametrize("rate_gbps", [100, 400, 800, 1600])
def test_the_message_of_the_paper_lasts_about_a_millisecond(rate_gbps):
    # 97.4 MB: 23 779 full packets of 4178 + 20... on the wire 23 779 * 4178 + 16 + last.
    # 97 400 000 = 23 779 * 4096 + 1216, last frame 1216 + 62 + 20 = 1298 B.
    wire = 23_779 * (4096 + 62 + 20) + 16 + 1298
    first = 4096 + 62 + 16 + 20
    expected = (wire + 3 * first) * 8000 // rate_gbps + 2_000_000

    got = unloaded_fct_ps(97_400_000, [rate_gbps * 10**9] * 4, [500_000] * 4, Framing())

    assert got == expected
