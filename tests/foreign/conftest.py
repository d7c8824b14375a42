# SPDX-License-Identifier: GPL-2.0-only
"""Let the tests import what lies beside them, and the writers of files of other folders."""

import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(_TESTS / name) for name in ("foreign", "collective", "training", "workload")]
