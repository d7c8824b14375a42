# SPDX-License-Identifier: GPL-2.0-only
"""One kill of each kind; a hundred with ``make drill``."""

import pytest

from tests.drills.kill import KINDS, Drill

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


def test_a_workflow_that_is_killed_ends_as_one_that_is_not(tmp_path):
    drill = Drill(tmp_path, seed=2)
    for kind in KINDS:
        drill.kill(kind)
    drill.finish()

    assert drill.compared
