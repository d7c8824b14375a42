# SPDX-License-Identifier: GPL-2.0-only
"""Where the built C++ modules lie: in the clone's build/, or in the package if a wheel brought it.

A wheel has no sources of modules; `setup.py` puts what was built from them into the package.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
#: The repository, if the package is installed in place (`pip install --editable`).
REPOSITORY = _PACKAGE.parent
#: What a wheel brings along.
PACKAGED = _PACKAGE / "_built"
#: Whether there are no sources, so that nothing can be, or has to be, built.
IS_PACKAGED = PACKAGED.is_dir() and not (REPOSITORY / "ns3-modules").is_dir()
#: What pyorch itself is used with; another one, for example with sanitizers, can be chosen for a
#: process.
INSTALLED = Path(
    os.environ.get("PYORCH_BUILD", PACKAGED if IS_PACKAGED else REPOSITORY / "build")
).resolve()


def study() -> Path | None:
    """Return this folder if it is a study, which has a place for C++ modules of its own."""
    here = Path.cwd()
    own = here != REPOSITORY and (here / "ns3-modules").is_dir()
    return here if own and not (here / "ns3-modules" / "CMakeLists.txt").exists() else None


#: A study that has modules: they are built beside links to the installed ones.
STUDY = study() if any(Path.cwd().glob("ns3-modules/*/CMakeLists.txt")) else None
#: Sanitizers with which modules of a study are built and run: ``address,undefined``.
SANITIZE = os.environ.get("PYORCH_SANITIZE", "") if STUDY else ""
BUILD = STUDY / "build" / ("sanitized" if SANITIZE else "") if STUDY else INSTALLED
#: What the build says about the types of the modules, and the library that every run loads.
TYPEIDS = BUILD / "typeids.json"
ENGINE = "libfacade.so"
#: What a run of the fluid engine loads too.
FLUID = "libfluid.so"
#: How modules are built; a wheel brings it along.
CMAKE_PARTS = PACKAGED / "cmake" if IS_PACKAGED else REPOSITORY / "ns3-modules" / "cmake"
