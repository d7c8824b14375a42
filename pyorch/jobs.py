# SPDX-License-Identifier: GPL-2.0-only
"""Whom a process ends with: no process of a workflow outlives the one that has started it.

Three ties, all of the kernel's making, so that they also hold after signal 9. A child that we start
ourselves is killed with its parent (`end_with`, `tied`). A job of Snakemake, which a shell starts,
waits for the end of that Snakemake (`join`). And each holds a lock on one file of the folder,
shared with the others, so that the next Snakemake can wait for the last of them (`hold`).
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

#: Environment of a job: which process owns the folder, and its file for the lock, as JSON.
OWNER = "PYORCH_OWNER"
#: Environment of a process that ends with the one that started it: the id of that one.
PARENT = "PYORCH_PARENT"
#: From the request to end to the end, for what does not hear it [s].
GRACE_S = 0.5
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

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


def _owner() -> dict | None:
    return json.loads(os.environ.get(OWNER, "null"))


def owner_is_gone() -> bool:
    """Whether the Snakemake that has started this job has ended; False if that cannot be known."""
    owner = _owner()
    process = owner["process"] if owner else []
    return _of_this_machine(process) and identity(int(process[2])) != process


def hold() -> None:
    """Be seen, until this process and what it forks have ended, by who next owns the folder."""
    owner = _owner()
    if owner is not None and not _held:
        file = open(owner["file"], "a")  # noqa: SIM115 (until the end)
        fcntl.flock(file, fcntl.LOCK_SH)
        _held.append(file)


def belong() -> None:
    """Be seen, and end with the process that has started this one, if that has asked for it."""
    hold()
    if parent := os.environ.pop(PARENT, ""):
        end_with(int(parent))


def join() -> None:
    """Take part in the workflow that has started this process, if one has; return at once."""
    belong()
    owner = _owner()
    if owner and _of_this_machine(owner["process"]):
        threading.Thread(target=_watch, args=(owner["process"],), daemon=True).start()


def _of_this_machine(process: list[str] | None) -> bool:
    """Whether ids of processes mean the same here as where this identity was taken."""
    here = identity(os.getpid())
    return bool(process and here and process[:2] == here[:2])


def _watch(process: list[str]) -> None:
    """Wait for the end of a process, then end this one."""
    try:
        descriptor = os.pidfd_open(int(process[2]))
    except ProcessLookupError:
        pass
    else:
        if identity(int(process[2])) == process:
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            ended.poll()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(128 + signal.SIGTERM)


def end_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send a signal to this process when the one that has started it ends.

    More exactly when the thread ends that has started it, so that one waits for this process.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it has ended before we said so
        os._exit(128 + number)


def tied(command: Sequence[str], number: int = signal.SIGKILL) -> list[str]:
    """Return the command that runs another one, which gets a signal when this process ends.

    A program that has children of its own to end gets SIGTERM.
    """
    process = [str(os.getpid()), str(int(number))]
    return [sys.executable, "-P", "-m", "pyorch.jobs", *process, *command]


def adopt() -> None:
    """Become the parent of what children leave behind, so that `end_children` finds it."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children() -> None:
    """Kill all that this process has started, and what that has left behind."""
    import psutil

    while children := psutil.Process().children(recursive=True):
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()
        psutil.wait_procs(children, GRACE_S)


if __name__ == "__main__":
    end_with(int(sys.argv[1]), int(sys.argv[2]))
    os.execvp(sys.argv[3], sys.argv[3:])
