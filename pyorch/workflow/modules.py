# SPDX-License-Identifier: GPL-2.0-only
"""The C++ modules, as they must be before the names of runs are known."""

import os
import subprocess
import sys
from pathlib import Path

from pyorch.built import STUDY
from pyorch.errors import BuildError


def build_modules(sources: Path | str = "ns3-modules") -> None:
    """Bring the C++ modules up to date; takes a quarter of a second if they are.

    A build that was chosen with PYORCH_BUILD is used as it is.

    Raises
    ------
    BuildError
        They do not build; the compiler has said why.
    """
    if STUDY or "PYORCH_BUILD" not in os.environ and any(Path(sources).glob("*/model/*.cc")):
        done = subprocess.run([sys.executable, "-m", "pyorch.simulate.build"])
        if done.returncode:
            alone = "python -m pyorch.simulate.build" if STUDY else "make setup"
            raise BuildError(f"the C++ modules do not build; see above. Alone: {alone}")
