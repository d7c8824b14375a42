# SPDX-License-Identifier: GPL-2.0-only
"""Runs a scenario script in a process of its own and says in one line how it failed.

The simulating process links GPL-2.0-only code and may abort inside C++; whoever reads its result
is another process, and this one stays to tell the end.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from pyorch import jobs
from pyorch.simulate import sanitizers, stack
from pyorch.writing import make_folder

#: How often a log that is watched is looked at [s].
LOOK_S = 0.5
#: What a process ends with after Ctrl-C, and after SIGTERM, which it has handled or not.
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, (128 + signal.SIGTERM, -signal.SIGTERM)
STOPPED = (INTERRUPTED, TERMINATED[0])  # not a failure of the run


@dataclass(frozen=True)
class End:
    """How a simulating process has ended.

    Attributes
    ----------
    status : int
        0 done; negative: the signal that killed it.
    seconds : float
        Wall time of the process.
    last_line : str
        The last words of its log; empty without one.
    where : str
        Function and line of a crash, `` in F at file:line``; empty without one.
    """

    status: int
    seconds: float
    last_line: str = ""
    where: str = ""

    @property
    def stopped(self) -> bool:
        """Whether somebody has ended it, which is no failure of the run."""
        return self.status in STOPPED

    @property
    def exit_status(self) -> int:
        """What the process that reports this ends with."""
        return self.status if self.status >= 0 else 1

    def message(self, script: Path, out: Path, name: str = "") -> str:
        """Return what happened to a run, its last words, and how to run it alone."""
        name = name or script.resolve().parent.name
        words = f' Last line: "{self.last_line}".' if self.last_line else ""
        return (
            f"Run {name} {how(self.status)}{self.where} after {self.seconds:.1f} s.{words}"
            f" Alone: pyorch simulate {quote(str(script))} --out {quote(str(out))}"
        )


def how(status: int) -> str:
    """Return in words how a process has ended: with a status, or -n for signal n."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def simulate(script: Path, out: Path, log: Path | None = None, threads: int = 1) -> int:
    """Run a script and say how it failed; return its exit status, or 1 if a signal killed it."""
    end = run(script, out, log, threads=threads)
    if end.status and not end.stopped and (log is not None or end.status < 0 or end.last_line):
        print(end.message(script, out), file=sys.stderr)
    return end.exit_status


def run(
    script: Path,
    out: Path,
    log: Path | None = None,
    threads: int = 1,
) -> End:
    """Run a script to its end.

    Parameters
    ----------
    script : path
        Rendered scenario.
    out : path
        Folder for the result.
    log : path, optional
        Where its messages go instead of to our own standard error.
    threads : int
        Of the simulation.
    """
    started, before = time.monotonic(), _stamp(out)
    command = [sys.executable, "-P", str(script), "--out", str(out), "--threads", str(threads)]
    # No run outlives who waits for it.
    environment = sanitizers.environment() | {jobs.PARENT: str(os.getpid())}
    if log is None:
        status = wait(start(command, env=environment))
    else:
        make_folder(log.parent)
        with log.open("wb") as file:
            status = wait(start(command, stdout=file, stderr=file, env=environment))
    if status == 0 and before == _stamp(out):
        return End(1, time.monotonic() - started, "nothing was run: it left no new manifest.json")
    return ended(status, started, out, log)


def start(command: list[str], **options) -> subprocess.Popen:
    """Start a process, which hears of Ctrl-C once it unblocks SIGINT and can say that it ends."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return subprocess.Popen(command, **options)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(status: int, started: float, out: Path, log: Path | None) -> End:
    """Return how a simulating process has ended, after its log got the stack of a crash.

    Parameters
    ----------
    status : int
        0 done; negative: the signal that killed it.
    started : float
        When it began [s, monotonic].
    out, log : path
        As in `run`.
    """
    end = End(status, time.monotonic() - started, last_line(log) if log else "")
    if status >= 0 or not (frames := stack.take(out)):
        return end
    with log.open("a") if log else nullcontext(sys.stderr) as file:
        file.writelines(f"  {frame}\n" for frame in frames)
    return replace(end, where=stack.culprit(frames))


def _stamp(out: Path) -> tuple[int, int] | None:
    """Return what changes when a run leaves a result."""
    try:
        stat = (out / "manifest.json").stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def wait(process: subprocess.Popen, look: Callable[[], object] | None = None) -> int:
    """Wait for the end of a process and return its status; call `look` now and then.

    SIGTERM is handed on. Ctrl-C reaches both; a process that does not end then, because only this
    one got the signal or it does not hear it yet, gets SIGTERM, and has ended by Ctrl-C.
    """
    main = threading.current_thread() is threading.main_thread()
    is_interrupted = False
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate()) if main else None
    try:
        while True:
            try:
                status = process.wait(timeout=LOOK_S)
                return INTERRUPTED if is_interrupted and status in TERMINATED else status
            except subprocess.TimeoutExpired:
                if is_interrupted:
                    process.terminate()
                elif look:
                    look()
            except KeyboardInterrupt:
                is_interrupted = True
    finally:
        if main:
            signal.signal(signal.SIGTERM, before)


def tell(log: Path, hear: Callable[[str], object]) -> None:
    """Tell the last words of a log, if it is there and has any."""
    if log.exists() and (words := last_line(log)):
        hear(words)


def last_line(log: Path) -> str:
    """Return the last words of a log."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")
