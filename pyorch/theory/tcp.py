# SPDX-License-Identifier: GPL-2.0-only
"""Takes a loss ratio and a round trip, leaves the window that TCP keeps [packet].

Both laws are of one loss per 1/p packets, exactly. Losses that are independent leave more, because
some come soon after another, when the window is small; a limit of the window leaves less.
"""

import numpy as np

from pyorch.theory._quantities import PS_PER_S, Real

#: RFC 9438 sections 4.6 and 5.1: multiplicative decrease, and growth in segments per cubic second.
CUBIC_BETA, CUBIC_C = 0.7, 0.4


def reno_window(loss_ratio: Real) -> Real:
    """Return the mean window of Reno, sqrt(3 / 2p) = 1.22 / p^0.5.

    Source: Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997, equation 3, each packet acknowledged.
    """
    return np.sqrt(1.5 / np.asarray(loss_ratio, float))


def cubic_window(loss_ratio: Real, rtt_ps: Real) -> Real:
    """Return the mean window of CUBIC, 1.054 RTT^0.75 / p^0.75 with RTT in seconds, or Reno's.

    Source: RFC 9438 section 5.1, equation 6; where Reno has more CUBIC follows it (section 4.3).
    """
    factor = (CUBIC_C * (3 + CUBIC_BETA) / 4 / (1 - CUBIC_BETA)) ** 0.25
    rtt_s = np.asarray(rtt_ps, float) / PS_PER_S
    cubic = factor * (rtt_s / np.asarray(loss_ratio, float)) ** 0.75
    return np.maximum(cubic, reno_window(loss_ratio))
