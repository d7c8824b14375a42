# SPDX-License-Identifier: GPL-2.0-only
"""A thousand malformed scenarios, commands and files: each is refused in one line, and that is all.

Here one in `SHARE`; all of them with ``make battery``.
"""

import os

import malformed_commands as commands
import malformed_files as files
import malformed_scenarios as scenarios
import pytest
from malformed import run, verdict

SHARE = 1 if os.environ.get("PYORCH_BATTERY") == "all" else 12
CASES = [*scenarios.cases(), *commands.cases(), *files.cases()]

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
