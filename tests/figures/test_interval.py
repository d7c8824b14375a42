# SPDX-License-Identifier: GPL-2.0-only
"""Confidence intervals over seeds, against printed quantiles and against drawn samples."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pyorch.errors import FigureError
from pyorch.figures import mean_interval, over_seeds


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


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20).filter(lambda v: np.std(v) > 1e-3))
def test_the_interval_is_that_of_a_t_test(values):
    # Another way to the same limits: the means that a two-sided t-test at 5 % does not refuse.
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    mean, half = mean_interval(values)

    assert (mean - half, mean + half) == pytest.approx(tuple(theirs), rel=1e-9, abs=1e-6)


def test_points_keep_their_order_and_carry_their_interval():
    table = pd.DataFrame(
        {"variant": list("bbbaac"), "seed": [1, 2, 3, 1, 2, 1], "x": [1, 2, 6, 4, 4, 7.0]}
    )
    got = over_seeds(table, ["variant"], "x")

    assert list(got.columns) == ["variant", "n_seeds", "x_mean", "x_low", "x_high"]
    assert got["variant"].tolist() == ["b", "a", "c"]
    assert got["n_seeds"].tolist() == [3, 2, 1]
    # b by hand, as above; a: no spread; c: one seed has no interval.
    half = 4.3027 * math.sqrt(7 / 3)
    assert got["x_low"][:2].tolist() == pytest.approx([3 - half, 4], abs=1e-4)
    assert got["x_high"][:2].tolist() == pytest.approx([3 + half, 4], abs=1e-4)
    assert got.loc[2, ["x_low", "x_high"]].isna().all()


def test_a_seed_that_stands_twice_is_not_counted_as_two():
    table = pd.DataFrame({"variant": ["a", "a"], "seed": [1, 1], "x": [1.0, 2.0]})
    with pytest.raises(FigureError, match="x: more than one row for a seed at variant a"):
        over_seeds(table, ["variant"], "x")
