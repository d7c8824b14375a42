# SPDX-License-Identifier: GPL-2.0-only
"""What a job owes to the Snakemake that started it: to be seen while it runs, and to end with it.

A Snakemake that is killed takes its jobs not along. Each of them holds a lock on one file of the
folder, shared with the others, so that the next Snakemake can wait for the last of them; and each
looks every half second whether who started it is still there, and ends if not.
"""

import fcntl
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import TextIO

#: Environment of a job: which process owns the folder, and its file for the lock, as JSON.
OWNER = "PYORCH_OWNER"
#: Environment of a process that ends with the one that started it: the id of that one.
PARENT = "PYORCH_PARENT"
#: Between two looks at the owner [s].
PERIOD_S = 0.5
#: From the request to end to the end, for what does not hear it [s].
GRACE_S = 10.0

_held: list[TextIO] = []


def identity(pid: int) -> list[str] | None:
    """Return what names a process for good: boot, namespace of ids, id, start; None if it is gone.

    An id alone is given again, and means another process on another machine or in a container.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        return None
    return None if stat[0] in "ZX" else [boot, namespace, str(pid), stat[19]]


def announce(file: Path) -> None:
    """Tell all processes that this one starts that it owns the folder with this file."""
    os.environ[OWNER] = json.dumps({"process": identity(os.getpid()), "file": str(file.resolve())})


def hold() -> dict | None:
    """Be seen, until this process and what it forks have ended, by who next owns the folder."""
    owner = json.loads(os.environ.get(OWNER, "null"))
    if owner is not None and not _held:
        file = open(owner["file"], "a")  # noqa: SIM115 (until the end)
        fcntl.flock(file, fcntl.LOCK_SH)
        _held.append(file)
    return owner


def join() -> None:
    """Take part in the workflow that has started this process, if one has; return at once."""
    owner = hold()
    parent = os.environ.pop(PARENT, "")
    ends_with = owner["process"] if owner else None
    if _of_this_machine(ends_with) or parent:
        watched = (ends_with if _of_this_machine(ends_with) else None, int(parent or 0))
        threading.Thread(target=_watch, args=watched, daemon=True).start()


def _of_this_machine(process: list[str] | None) -> bool:
    """Whether ids of processes mean the same here as where this identity was taken."""
    here = identity(os.getpid())
    return bool(process and here and process[:2] == here[:2])


def _watch(owner: list[str] | None, parent: int) -> None:
    while (owner is None or identity(int(owner[2])) == owner) and parent in (0, os.getppid()):
        time.sleep(PERIOD_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(128 + signal.SIGTERM)
