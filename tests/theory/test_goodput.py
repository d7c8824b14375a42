# SPDX-License-Identifier: GPL-2.0-only
"""Time that failures cost, against hand arithmetic, another formula and random courses of a job."""

import math
from dataclasses import astuple, replace

import numpy as np
import pytest

from pyorch.errors import TheoryError
from pyorch.theory.goodput import (
    Operation,
    best_interval_s,
    erlang_loss,
    goodput,
    simulated,
)

JOB = Operation(
    units=512, unit_mtbf_s=512 * 9000.0, checkpoint_s=30.0, restart_s=400.0, spares=2,
    repair_s=14_000.0,
)  # fmt: skip
#: Courses of a job, days of each, and how far their mean may be from the formula.
COURSES, DAYS, SIGMAS = 40, 60, 4


@pytest.mark.parametrize(
    ("job", "interval_s"),
    [
        (JOB, 900.0),
        (JOB, 9000.0),
        (replace(JOB, spares=0), 1800.0),
        (replace(JOB, spares=5, restart_s=3000.0), 600.0),
        (replace(JOB, checkpoint_s=0.0, repair_s=0.0), 60.0),
    ],
)
def test_random_courses_of_a_job_have_the_shares_of_the_closed_form(job, interval_s):
    # The simulation draws failures one by one and knows neither Daly's nor Erlang's formula.
    rng = np.random.default_rng(20_261_125)
    drawn = np.array([astuple(simulated(job, interval_s, DAYS, rng)) for _ in range(COURSES)])
    error = SIGMAS * drawn.std(axis=0, ddof=1) / math.sqrt(COURSES) + 2e-4

    assert (np.abs(drawn.mean(axis=0) - astuple(goodput(job, interval_s))) < error).all()


@pytest.mark.parametrize("interval_s", [10.0, 1000.0, 50_000.0])
def test_the_time_of_an_interval_is_that_of_daly(interval_s):
    # Oracle: Daly 2006, equation 3: M e^(R/M) (e^((t+d)/M) - 1) for t seconds of training.
    whole_s = 9000 * math.exp(400 / 9000) * math.expm1((interval_s + 30) / 9000)
    found = goodput(replace(JOB, repair_s=0.0), interval_s)

    assert found.training == pytest.approx(interval_s / whole_s, rel=1e-12)
    assert sum(astuple(found)) == pytest.approx(1, abs=1e-12) and min(astuple(found)) >= 0


def test_no_other_interval_is_better_than_the_best():
    best_s = best_interval_s(JOB)
    # Oracle: Young 1974, sqrt(2 d M), is its first order.
    assert best_s == pytest.approx(math.sqrt(2 * 30 * 9000), rel=0.05)
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert goodput(JOB, best_s * factor).training < goodput(JOB, best_s).training


def test_waiting_for_repairs_by_hand():
    # One unit without a spare, up for 3 h and in repair for 1 h: a quarter of the time is lost.
    one = Operation(1, 3 * 3600.0, 0.0, 0.0, spares=0, repair_s=3600.0)
    assert goodput(one, 1e-3).waiting == pytest.approx(0.25)
    # Erlang's formula for two servers and one call at a time: (1/2) / (1 + 1 + 1/2).
    assert erlang_loss(2, 1.0) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"units": 0}, "at least one unit"),
        ({"spares": -1}, "0 or more"),
        ({"unit_mtbf_s": 0.0}, "units fail after some time"),
        ({"restart_s": -1.0}, "no time is negative"),
    ],
)
def test_what_is_no_operation_is_refused(wrong, says):
    with pytest.raises(TheoryError, match=says):
        replace(JOB, **wrong)


def test_a_job_that_never_gets_anywhere_is_refused():
    with pytest.raises(TheoryError, match="an interruption each 9 s leaves no time"):
        goodput(replace(JOB, unit_mtbf_s=512 * 9.0), 600.0)
    with pytest.raises(TheoryError, match="Write an interval above 0"):
        goodput(replace(JOB, checkpoint_s=0.0))
