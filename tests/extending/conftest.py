# SPDX-License-Identifier: GPL-2.0-only
"""Let the tests import the helper that lies beside them; a copy of the project for each test."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def copy(tmp_path):
    from project_copy import Copy

    return Copy(tmp_path / "project")
