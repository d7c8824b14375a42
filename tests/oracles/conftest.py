# SPDX-License-Identifier: GPL-2.0-only
"""Let the oracles import the helpers that lie beside them, and make their runs without loading."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module", autouse=True)
def _without_loading(loaded):
    """Each oracle makes its runs in processes that have loaded everything."""
