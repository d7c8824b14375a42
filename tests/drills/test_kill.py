# SPDX-License-Identifier: GPL-2.0-only
"""Some kills of each command; three hundred with ``make drill``."""

import itertools

import pytest

from tests.drills.kill import Drill, Study, Workflow

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


@pytest.mark.parametrize(("kind", "number"), [(Workflow, 2), (Study, 2)])
def test_a_command_that_is_killed_ends_as_one_that_is_not(kind, number, tmp_path):
    drill = Drill(kind, tmp_path, seed=2)
    for case in itertools.islice(drill.cases(), number):
        drill.kill(*case)
    drill.finish()

    assert drill.compared
