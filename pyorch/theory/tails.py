# SPDX-License-Identifier: GPL-2.0-only
"""Takes values and a share, returns the quantile and how well so many values know it.

Of n independent values as many lie up to a quantile as a binomial draw says, so two values of the
sorted ones enclose it with a confidence that holds for every distribution (David and Nagaraja,
Order Statistics, 3rd edition, section 7.1).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

CONFIDENCE = 0.95


class Tail(NamedTuple):
    """A quantile and its interval of 95 % confidence; NaN where an end lies beyond all values."""

    value: float
    low: float
    high: float


def quantile(values: np.ndarray, share: float) -> Tail:
    """Return the smallest value that a share does not exceed, and its interval.

    Parameters
    ----------
    values : ndarray
        Independent draws, at least one. Messages of one run that meet in queues are less than that:
        the interval between seeds is wider.
    share : float
        Between 0 and 1.

    Examples
    --------
    >>> tuple(map(int, quantile(np.arange(1, 1001), 0.99)))
    (990, 983, 997)
    """
    ordered = np.sort(values)
    n, beyond = len(ordered), (1 - CONFIDENCE) / 2
    counts = np.arange(n + 1)
    upto = bdtr(counts, n, share)  # the chance that so many lie up to the quantile, or fewer
    low, high = (int(np.searchsorted(upto, chance)) for chance in (beyond, 1 - beyond))
    high += 1
    return Tail(
        float(np.quantile(ordered, share, method="inverted_cdf")),
        float(ordered[low - 1]) if low >= 1 else math.nan,
        float(ordered[high - 1]) if high <= n else math.nan,
    )


def known(end: float) -> float | None:
    """Return an end of an interval, None if it lies beyond all values."""
    return None if math.isnan(end) else end


def least_values(share: float) -> int:
    """Return how many values it takes until the interval of a quantile has both ends.

    Examples
    --------
    >>> least_values(0.99)
    368
    """
    beyond = (1 - CONFIDENCE) / 2
    return math.ceil(math.log(beyond) / math.log(max(share, 1 - share)))
