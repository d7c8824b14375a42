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
