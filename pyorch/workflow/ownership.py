# SPDX-License-Identifier: GPL-2.0-only
"""Whose the folder is: locks of a Snakemake that was killed, and the runs that it has left."""

import os
import signal
from contextlib import suppress
from pathlib import Path

#: What only the process that a simulate job starts has in its command line.
_SIMULATE_JOB = b"--log\0logs/simulate/"


def release_dead_locks(folder: Path | str = ".snakemake/locks") -> bool:
    """Remove the locks of a Snakemake that was killed; return whether there were any.

    Snakemake writes no process id into its locks, so they are dead if no other Snakemake process
    has its working directory here. Runs that it has left behind are ended: they would take cores
    and memory beside the same runs, which are started again.
    """
    locks = sorted(Path(folder).glob("*.lock"))
    if not locks or _processes_here(b"snakemake"):
        return False
    for run in _processes_here(_SIMULATE_JOB):
        with suppress(ProcessLookupError):
            os.kill(run, signal.SIGTERM)
    for lock in locks:
        lock.unlink(missing_ok=True)
    return True


def _processes_here(words: bytes) -> list[int]:
    """Return the processes with these words in their command line that work in this folder."""
    ours, here, found = _ancestors(), Path.cwd(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            foreign = words in command and process.name not in ours
            if foreign and (process / "cwd").resolve() == here:
                found.append(int(process.name))
        except OSError:  # it has ended meanwhile, or is another user's
            continue
    return found


def _ancestors() -> set[str]:
    """Return this process and all above it."""
    found, pid = set(), str(os.getpid())
    while pid not in ("0", ""):
        found.add(pid)
        try:
            pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            break
    return found
