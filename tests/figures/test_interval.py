# SPDX-License-Identifier: GPL-2.0-only
"""Confidence intervals over seeds, against printed quantiles and against drawn samples."""

import math

import numpy as np
import pytest

from pyorch.figures import mean_interval


def test_three_seeds_by_hand():
    # 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7; t of 2 degrees at 97.5 % is 4.3027 in any
    # table: 4.3027 * sqrt(7 / 3).
    mean, half = mean_interval([1, 2, 6])

    assert mean == 3
    assert half == pytest.approx(4.3027 * math.sqrt(7 / 3), abs=1e-4)


def test_one_seed_says_nothing_about_the_others():
    mean, half = mean_interval([7])

    assert mean == 7
    assert math.isnan(half)


def test_nine_in_ten_intervals_hold_the_true_mean():
    # 4000 samples of three draws: the share has a standard deviation of 0.5 %; five of these.
    samples = np.random.default_rng(1).normal(5, 2, size=(4000, 3))
    inside = [abs(m - 5) <= half for m, half in (mean_interval(s, 0.9) for s in samples)]

    assert np.mean(inside) == pytest.approx(0.9, abs=0.025)
