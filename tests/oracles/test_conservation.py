# SPDX-License-Identifier: GPL-2.0-only
"""Whatever is simulated, each frame is somewhere, and each flow ends or has a reason not to."""

import numpy as np
import pytest
from conservation_cases import cases, circles
from conservation_ledger import Ledger
from conservation_times import Times
from hypothesis import HealthCheck, given, note, settings

pytestmark = pytest.mark.ns3

EXAMPLES, MANY_EXAMPLES = 50, 500
#: One in so many is run a second time, with its tables listed in another order.
AGAIN = 4


def check(case):
    got = case.run()
    note(f"{got.stop_reason} {got['summary']}")
    for laws in (Ledger(case, got), Times(case, got)):
        for name in dir(laws):
            if name.startswith("check_"):
                getattr(laws, name)()
    if case.seed % AGAIN == 0:
        again = case.listed_otherwise().run()
        assert again.stop_reason == got.stop_reason and again.cycle == got.cycle
        for table, columns in got.tables.items():
            for name, column in columns.items():
                assert np.array_equal(again[table][name], column), f"{table}.{name}"


def of_many(examples: int):
    return settings(
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@of_many(EXAMPLES)
@given(case=cases())
def test_all_is_accounted_for(case):
    check(case)


@of_many(EXAMPLES // 2)
@given(case=circles())
def test_buffers_in_a_circle_drain_or_are_a_deadlock_that_is_named(case):
    check(case)


@pytest.mark.slow
@of_many(MANY_EXAMPLES)
@given(case=cases())
def test_all_is_accounted_for_again_and_again(case):
    check(case)
