# SPDX-License-Identifier: GPL-2.0-only
"""Whose the folder is: each Snakemake that runs jobs has its share of a lock until it ends.

The kernel lets go of the lock of a process that is killed, also one of another user, in a container
or, on a shared file system that has locks, on another machine. Who has it alone knows that all of
Snakemake's own locks, which hold no id of a process, are those of the dead.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from pyorch import jobs
from pyorch.errors import OutputError
from pyorch.writing import make_folder

#: Jobs of a Snakemake that was killed are waited for so long [s]; they end within a second.
PATIENCE_S = 60.0

_held: dict[Path, TextIO] = {}


@contextmanager
def shared_folder(folder: Path | str = ".snakemake") -> Iterator[bool]:
    """Take part in a folder until this process ends; give whether nobody else does.

    Who is alone keeps the others waiting until the end of the ``with`` block, and may remove what
    the dead have left and build. From then on all share the folder, but no file: who would make
    what another is making is refused (`pyorch.workflow.snakemake.look_and_lock_at_once`).
    """
    folder = Path(folder).resolve()
    make_folder(folder)
    file = _held.setdefault(folder, (folder / "pyorch.lock").open("a"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        alone = False
    else:
        alone = True
    try:
        jobs.announce(folder / "pyorch.jobs")
        yield alone
    finally:
        fcntl.flock(file, fcntl.LOCK_SH)


@contextmanager
def turn(folder: Path | str = ".snakemake") -> Iterator[None]:
    """Be the only one in a folder for a moment."""
    with (Path(folder) / "pyorch.turn").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def wait_for_others(folder: Path | str = ".snakemake") -> None:
    """Return when no Snakemake takes part in a folder any more; not for one that does itself."""
    with (Path(folder) / "pyorch.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def release_dead_locks(folder: Path | str = ".snakemake") -> bool:
    """Remove the locks of a Snakemake that was killed; return whether there were any.

    For who is alone in the folder. Returns when the jobs that it has left behind have ended.

    Raises
    ------
    OutputError
        They do not end.
    """
    folder = Path(folder)
    locks = sorted((folder / "locks").glob("*.lock"))
    if locks:
        _wait_for_jobs(folder / "pyorch.jobs")
    for lock in locks:
        lock.unlink(missing_ok=True)
    return bool(locks)


def _wait_for_jobs(path: Path) -> None:
    end_s = time.monotonic() + PATIENCE_S
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end_s:
                    raise OutputError(
                        f"{path}: jobs of a Snakemake that was killed are still running, maybe on"
                        " another machine. End them, or wait for them, then start again."
                    ) from None
                time.sleep(0.1)
