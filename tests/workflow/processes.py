# SPDX-License-Identifier: GPL-2.0-only
"""Processes that tests start: wait for what they do, tell the dead from the living."""

import contextlib
import os
import signal
import time
from pathlib import Path


def wait_for(condition, seconds=600):
    """Return what a condition gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
    return found


def pause(pid):
    """Stop a process where it is, so that it cannot end before something else has happened."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: _state(pid) == "T")


def go_on_when_told_to_end(pid):
    """Let a stopped process go on as soon as a signal waits for it, or it has been killed."""
    wait_for(lambda: is_zombie(pid) or _has_signal(pid))
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def called(name, folder):
    """Return the process of this name that works in a folder, 0 if there is none.

    Other tests may make runs of the same name at the same time.
    """
    for process in Path("/proc").glob("[0-9]*"):  # a bare machine has no ps
        with contextlib.suppress(OSError):  # it has ended meanwhile
            is_it = (process / "comm").read_text().strip() == name
            if is_it and (process / "cwd").readlink() == folder and not is_zombie(process.name):
                return int(process.name)
    return 0


def _has_signal(pid):
    said = Path(f"/proc/{pid}/status").read_text()
    return any(int(line.split()[1], 16) for line in said.splitlines() if "Pnd:" in line)


def _state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_zombie(pid):
    """Return whether a process has ended, and perhaps nobody has asked how."""
    try:
        return _state(pid) in "ZX"
    except OSError:
        return True


def living_in(folder):
    """Return the command lines of the processes that work in or below a folder, by id."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(Path(folder).resolve()):
                found[int(process.name)] = (process / "cmdline").read_bytes()
    return found


def parent_of(pid):
    """Return the parent of a process; 0 if that is gone."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def server_in(folder, words):
    """Return the process with these words in its command line that is no fork; 0 without one."""
    found = [pid for pid, line in living_in(folder).items() if words in line]
    return next((pid for pid in found if parent_of(pid) not in found), 0)


def forks_of(folder, words):
    """Return the forks of that process."""
    server = server_in(folder, words)
    found = [pid for pid, line in living_in(folder).items() if words in line]
    return [pid for pid in found if server and parent_of(pid) == server]
