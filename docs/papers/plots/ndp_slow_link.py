# SPDX-License-Identifier: GPL-2.0-only
"""What each of 128 messages of a permutation gets if one link of the core is slow, sorted.

Compare with NDP (SIGCOMM 2017), figure 22: lines are the rates that its authors' simulator comes
with, dashes ours, over the last 100 ms (MPTCP: 50 ms, DCTCP: 10 ms). NDP: payload; the others: with
headers, which packets have none of there.
"""

import runpy
from pathlib import Path

draw = runpy.run_path(str(Path(__file__).with_name("ndp_permutation.py")))["draw"]
