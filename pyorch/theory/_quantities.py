# SPDX-License-Identifier: GPL-2.0-only
"""The three conversions that all formulas share, and the type of what may be an array."""

from typing import Any

import numpy as np

#: A number, or an array of numbers that broadcasts with the other arguments. Which of the two a
#: formula returns follows from its arguments, so a type checker takes it for either.
Real = float | Any

PS_PER_S = 1e12
PS_PER_MS = 1e9
SECONDS_PER_DAY = 86_400
BITS_PER_BYTE = 8


def transfer_ps(size_bytes: Real, rate_bps: Real) -> Real:
    """Return the time to move bytes at a rate [ps]: no latency, no headers (source convention)."""
    return np.multiply(size_bytes, BITS_PER_BYTE * PS_PER_S) / rate_bps


def compute_ps(work_flop: Real, rate_flop_per_s: Real) -> Real:
    """Return the time to do arithmetic at full rate [ps]."""
    return np.multiply(work_flop, PS_PER_S) / rate_flop_per_s


def others_share(members: Real) -> Real:
    """Return (n-1)/n: the share of a buffer that each of `members` ranks sends in one ring pass."""
    return (np.asarray(members, float) - 1) / members
