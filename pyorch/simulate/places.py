# SPDX-License-Identifier: GPL-2.0-only
"""Where the sources of the C++ modules and what is built from them lie."""

import os
import subprocess
from functools import lru_cache
from pathlib import Path

from pyorch.built import BUILD, REPOSITORY, SANITIZE
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


def environment() -> dict[str, str]:
    """Return the environment of a process that loads libraries, before them the sanitizers."""
    return os.environ | (_sanitizers() if SANITIZE else {})


@lru_cache(maxsize=1)
def _sanitizers() -> dict[str, str]:
    """Return what loads AddressSanitizer into Python, which has not been built with it.

    What throws exceptions has to be there before; what Python has not freed is no leak of ours.
    """
    compiler = os.environ.get("CXX", "c++")
    ask = [[compiler, f"-print-file-name={name}.so"] for name in ("libasan", "libstdc++")]
    found = [subprocess.run(one, capture_output=True, text=True, check=True) for one in ask]
    return {
        "LD_PRELOAD": " ".join(one.stdout.strip() for one in found),
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def library(name: str) -> Path:
    """Return the built library of this file name."""
    return LIBRARIES / name
