# SPDX-License-Identifier: GPL-2.0-only
"""Takes one rendered scenario, writes raw columns, a manifest and a provenance.

The only package that loads ns-3. It imports numpy and cppyy and nothing of the analysis, so a run
starts in about a second.
"""

from pyorch.simulate.fabric import Fabric
from pyorch.simulate.run import main, run_script

__all__ = ["Fabric", "main", "run_script"]
