# SPDX-License-Identifier: GPL-2.0-only
"""Takes a finished run, writes what one needs to know to repeat it and what it cost.

Nothing in it names the machine: no host, user or path.
"""

import os
import platform
import resource
import subprocess
import time
from collections.abc import Mapping
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import pyorch
from pyorch import built, origin
from pyorch.simulate import loader
from pyorch.simulate.results import save_json

PACKAGES = ("ns3", "cppyy", "numpy")


def describe(**facts: object) -> dict[str, object]:
    """Return the provenance of the run of this process.

    Parameters
    ----------
    **facts
        What only the run knows: seed, events, seconds of its phases.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        **facts,
        "cpu_user_s": round(usage.ru_utime, 6),
        "cpu_system_s": round(usage.ru_stime, 6),
        "wall_s": round(process_age_s(), 6),
        "peak_memory_bytes": usage.ru_maxrss * 1024,
        **made_by(),
        "used": origin.used(),
        "libraries_sha256": {
            name: library.sha256 for name, library in sorted(loader.loaded.items())
        },
    }


@lru_cache(maxsize=1)
def made_by() -> dict[str, object]:
    """Return the versions and the commit of what this process has loaded, asked for once."""
    return {"versions": versions(), "git_commit": git_commit()}


def versions() -> dict[str, str]:
    """Return the versions of Python, of us and of what the simulation is made of."""
    ours = {"pyorch": pyorch.__version__, "python": platform.python_version()}
    return ours | package_versions()


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Return the versions of the packages of others that decide a result."""
    return {package: metadata.version(package) for package in PACKAGES}


def save(folder: Path, facts: Mapping[str, object]) -> None:
    """Write the provenance of a run."""
    save_json(folder / "provenance.json", facts)


def git_commit() -> str | None:
    """Return the commit of the repository, with ``-dirty`` if it was edited; None if no git."""
    if not (built.REPOSITORY / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=built.REPOSITORY,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def process_age_s() -> float:
    """Return the time since this process was started, by the kernel's clock [s]."""
    with open("/proc/self/stat") as stat:
        after_name = stat.read().rpartition(")")[2].split()
    started_ticks = int(after_name[19])  # field 22, starttime; field 3 is the first after the name
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK")
