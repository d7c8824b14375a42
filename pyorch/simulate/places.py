# SPDX-License-Identifier: GPL-2.0-only
"""Where the sources of the C++ modules and what is built from them lie."""

from pathlib import Path

from pyorch.built import BUILD, REPOSITORY
from pyorch.built import TYPEIDS as TYPEIDS

MODULES = REPOSITORY / "ns3-modules"
LIBRARIES = BUILD / "lib"
HEADERS = BUILD / "include"


def shown(path: Path) -> str:
    """Return a path as a person at the repository, or in this folder, would write it."""
    for folder in (REPOSITORY, Path.cwd()):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)


def module_libraries() -> list[Path]:
    """Return the built libraries of the modules without their tests, sorted by name."""
    return sorted(path for path in LIBRARIES.glob("lib*.so") if not path.name.endswith("-test.so"))


def library(name: str) -> Path:
    """Return the built library of this file name."""
    return LIBRARIES / name
