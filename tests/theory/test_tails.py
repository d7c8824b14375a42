# SPDX-License-Identifier: GPL-2.0-only
"""Quantiles of few values, against binomial sums written out."""

from math import comb

import numpy as np
import pytest

from pyorch.theory import tails


def chance(n, share, low, high):
    """Return the chance that the quantile lies from sorted value `low` on and below value `high`.

    Exactly then at least `low` and fewer than `high` of n values lie up to it, each of them with
    the chance `share`.
    """
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(low, high))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n", [5, 29, 368, 400, 1000])
def test_the_interval_is_the_narrowest_that_leaves_a_fortieth_at_each_end(n, share):
    found = tails.quantile(np.arange(1, n + 1)[::-1], share)  # the value is its rank
    low = 0 if np.isnan(found.low) else int(found.low)
    high = n + 1 if np.isnan(found.high) else int(found.high)

    assert chance(n, share, 0, low) <= 0.025  # too few lie up to the quantile
    assert chance(n, share, 0, low + 1) > 0.025
    assert chance(n, share, high, n + 1) <= 0.025
    assert chance(n, share, high - 1, n + 1) > 0.025
    assert low <= found.value <= high


@pytest.mark.parametrize(("share", "n"), [(0.5, 6), (0.9, 36), (0.99, 368), (0.999, 3688)])
def test_so_many_values_have_both_ends_and_one_less_has_not(share, n):
    # The largest value is above the quantile but for share^n.
    assert share**n <= 0.025 < share ** (n - 1)
    assert tails.least_values(share) == n
    assert not np.isnan(tails.quantile(np.arange(n), share)[1:]).any()
    assert np.isnan(tails.quantile(np.arange(n - 1), share)[1:]).any()
