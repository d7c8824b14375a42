# SPDX-License-Identifier: GPL-2.0-only
"""A thousand malformed scenarios, commands and files: each is refused in one line, and that is all.

And a thousand that are made of what is shipped: whatever they are, nothing is executed, none hangs.
Here one in `SHARE` and one in twice as many; all of them with ``make battery``.
"""

import os

import malformed_commands as commands
import malformed_files as files
import malformed_scenarios as scenarios
import mutated
import pytest
from malformed import run, verdict

SHARE = 1 if os.environ.get("PYORCH_BATTERY") == "all" else 12
CASES = [*scenarios.cases(), *commands.cases(), *files.cases()]
MUTATED = list(mutated.cases())

pytestmark = pytest.mark.ns3  # attributes are those of the built modules


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import once what every command imports, so that a case is a fork of this process."""
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    import pyorch.cli.theory.app
    import pyorch.theory.exposed  # noqa: F401


def test_there_are_a_thousand_and_no_two_are_called_alike():
    names = [case.name for case in CASES]
    assert len(names) > 1000
    assert len(set(names)) == len(names), sorted({n for n in names if names.count(n) > 1})


@pytest.mark.parametrize("case", CASES[::SHARE], ids=lambda case: case.name)
def test_it_is_refused_in_one_line_and_nothing_else_happens(case):
    assert not verdict(case, run(case))


def test_a_thousand_are_made_anew_by_their_seed_and_by_it_alone():
    assert len(MUTATED) == 1000 and list(mutated.cases()) == MUTATED
    assert sum(a != b for a, b in zip(MUTATED, mutated.cases(1), strict=True)) > 990


@pytest.mark.parametrize("case", MUTATED[:: 2 * SHARE - 1], ids=lambda case: case.name)
def test_what_is_made_of_what_is_shipped_executes_nothing_and_ends(case):
    outcome = run(case)
    assert not mutated.fault(case, outcome)
    if SHARE == 1 and "scenario" in case.name and outcome.status == 0:
        assert not mutated.only_the_engine_refuses(run(mutated.simulated(case)))
