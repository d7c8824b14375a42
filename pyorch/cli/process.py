# SPDX-License-Identifier: GPL-2.0-only
"""Runs a scenario script in a process of its own and says in one line how it failed.

The simulating process links GPL-2.0-only code and may abort inside C++; whoever reads its result
is another process, and this one stays to tell the end.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyorch import jobs

STOPPED = (130, 143)  # Ctrl-C, SIGTERM: not a failure of the run


def simulate(script: Path, out: Path, log: Path | None = None) -> int:
    """Run a script; return its exit status, or 1 if a signal killed it.

    Parameters
    ----------
    script : path
        Rendered scenario.
    out : path
        Folder for the result.
    log : path, optional
        Where its messages go instead of to our own standard error.
    """
    started = time.monotonic()
    command = [sys.executable, str(script), "--out", str(out)]
    environment = os.environ | {jobs.PARENT: str(os.getpid())}  # no run outlives who waits for it
    if log is None:
        status, last_line = _wait(subprocess.Popen(command, env=environment)), ""
    else:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as file:
            status = _wait(
                subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
            )
        last_line = _last_line(log)
    if status == 0 or status in STOPPED:
        return status
    if log is not None or status < 0:
        print(failure(script, out, status, time.monotonic() - started, last_line), file=sys.stderr)
    return status if status > 0 else 1


def failure(script: Path, out: Path, status: int, seconds: float, last_line: str) -> str:
    """Return what happened to a run, its last words, and how to run it alone."""
    run = script.resolve().parent.name
    words = f' Last line: "{last_line}".' if last_line else ""
    ended = (
        f"was killed by {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
    )
    return (
        f"Run {run} {ended} after {seconds:.1f} s.{words}"
        f" Alone: python -m pyorch simulate {script} --out {out}"
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _wait(process: subprocess.Popen) -> int:
    """Wait for the end; hand on SIGTERM, and let Ctrl-C, which it gets too, do its work."""
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
    finally:
        signal.signal(signal.SIGTERM, before)


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")
