# SPDX-License-Identifier: GPL-2.0-only
"""Let the tests import the run that lies beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
