# SPDX-License-Identifier: GPL-2.0-only
"""Windows that losses leave to TCP, by hand."""

import numpy as np
import pytest

from pyorch.theory import tcp

RTT_PS = 60e9


def test_one_loss_in_ten_thousand_leaves_reno_122_packets():
    # The window goes from W/2 to W, one packet per round trip: 3/8 W^2 packets per loss, mean
    # 3/4 W. With 10 000: W = sqrt(8/3) x 100 = 163.3, mean 122.47.
    assert tcp.reno_window(1e-4) == pytest.approx(122.474, rel=1e-5)


def test_cubic_grows_with_the_round_trip_and_is_never_below_reno():
    # RFC 9438 equation 6: (0.4 x 3.7 / 1.2)^(1/4) = 1.0538; (0.2 / 1e-4)^0.75 = 299.07.
    assert tcp.cubic_window(1e-4, 200e9) == pytest.approx(1.0538 * 299.07, rel=1e-4)
    # At 10 ms (0.01 / 1e-4)^0.75 = 31.6 packets, Reno has 122.
    assert tcp.cubic_window(1e-4, 10e9) == tcp.reno_window(1e-4)
    # The two meet where p = (1.0538 / 1.2247)^4 x RTT^3: 1.18e-4 at 60 ms, one loss in 8446.
    meet = (1.0538 / 1.2247) ** 4 * 0.06**3
    assert tcp.cubic_window(np.array([meet / 2, 2 * meet]), RTT_PS) / tcp.reno_window(
        np.array([meet / 2, 2 * meet])
    ) == pytest.approx([2**0.25, 1], rel=1e-3)


def test_what_a_pipe_of_5_gbps_and_60_ms_may_lose():
    # 37.5 MB in flight are 25 685 segments of 1460 B: Reno needs 1.5 / 25685^2 = 2.27e-9, Cubic
    # 0.06 x (1.0538 / 25685)^(4/3) = 8.5e-8.
    segments = 37.5e6 / 1460
    assert tcp.reno_window(2.274e-9) == pytest.approx(segments, rel=1e-3)
    assert tcp.cubic_window(8.49e-8, RTT_PS) == pytest.approx(segments, rel=1e-2)


def test_losses_at_even_distances_leave_the_window_of_the_law_to_the_model():
    # Reno's cycle of 1500 packets: 38.7 +- 1 for windows that grow by whole round trips.
    window, lost = tcp.windows_of_chance("reno", 1e-3, RTT_PS, 200_000, draws=1, even=True)
    assert lost == pytest.approx([1e-3], rel=1e-9)
    assert window == pytest.approx([tcp.reno_window(1e-3)], rel=0.03)
    # Cubic: a Wmax that is off by a part e of itself is off by e - 0.56 e^3 after the next loss,
    # 0.94 / sqrt(n) after n. From above fast convergence takes it below the law, where it stays:
    # the mean of 0.94 / sqrt(n) for n from 100/3 to 100 is 2 x 0.94 (10 - 5.774) / 66.7 = 0.119,
    # and the mean window is off by 0.9 of that.
    window, _ = tcp.windows_of_chance("cubic", 1 / 2000, 200e9, 200_000, draws=1, even=True)
    assert window == pytest.approx([(1 - 0.107) * tcp.cubic_window(1 / 2000, 200e9)], rel=0.02)


def test_independent_losses_leave_a_fourteenth_more_to_reno():
    # Ott, Kemperman, Mathis, The Stationary Behavior of Ideal TCP Congestion Avoidance (1996): the
    # mean over time is 1.3098 / sqrt(p) where that is many packets, 1.2247 with even losses.
    window, lost = tcp.windows_of_chance("reno", 1e-4, RTT_PS, 10_000_000, draws=20)
    assert (window * lost**0.5).mean() == pytest.approx(1.3098, rel=0.02)


def test_what_a_few_losses_say_of_cubic():
    """Some 20 losses in a message, as in `wan_tcp`: the mean of many messages has an error of its
    own, and each of them one that is 20 times larger than that of 400."""
    window, lost = tcp.windows_of_chance("cubic", 1.15e-4, 200e9, 200_000, most_packets=3400)
    ratio = window / tcp.cubic_window(lost, 200e9)
    longer, share = tcp.windows_of_chance("cubic", 1.15e-4, 200e9, 4_000_000, draws=20,
                                          most_packets=3400)  # fmt: skip
    stationary = longer / tcp.cubic_window(share, 200e9)
    assert ratio.mean() == pytest.approx(stationary.mean(), abs=0.1)
    assert stationary.std() < ratio.std() / 2
