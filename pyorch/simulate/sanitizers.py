# SPDX-License-Identifier: GPL-2.0-only
"""Leaves the environment of a process that loads libraries with sanitizers, if they have any."""

import os
import subprocess
from functools import lru_cache

from pyorch import built


def environment() -> dict[str, str]:
    """Return the environment of a process that loads libraries, before them the sanitizers."""
    return os.environ | (_loaded_first() if built.here().sanitize else {})


@lru_cache(maxsize=1)
def _loaded_first() -> dict[str, str]:
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
