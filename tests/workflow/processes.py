# SPDX-License-Identifier: GPL-2.0-only
"""Processes that tests start: wait for what they do, tell the dead from the living."""

import time
from pathlib import Path


def wait_for(condition, seconds=60):
    """Return what a condition gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return found


def is_zombie(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
