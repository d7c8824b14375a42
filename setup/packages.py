# SPDX-License-Identifier: GPL-2.0-only
"""Installs the locked packages into the environment of this Python, and says what it does.

    .venv/bin/python setup/packages.py requirements.lock

Standard library only: nothing else is there yet. pip fetches and builds as this machine is set up
for it; a package that has to be compiled is kept in pip's own cache, so that the next environment
on this machine only unpacks it.
"""

import ctypes
import importlib.util
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

#: From this version on pip keeps what it has built also for packages that are given with a hash.
PIP = """\
pip==26.3 --hash=sha256:f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13
"""
_PR_SET_PDEATHSIG = 1
#: How often a line is printed where no terminal shows a moving one [s].
EVERY_S = 10.0


class Progress:
    """One moving line on a terminal; in a log a line now and then, and one per compiled package."""

    def __init__(self, total: int):
        self.total, self.seen, self.name, self.state = total, 0, "", ""
        self.since_s = self.said_s = time.monotonic()
        self.moving = sys.stderr.isatty()

    def say(self, state: str, *, always: bool = False) -> None:
        """Take note of what goes on now."""
        self.state, self.since_s = state, time.monotonic()
        self.beat(always=always)

    def beat(self, *, always: bool = False) -> None:
        """Show what goes on and for how long, at once or when the time has come."""
        now = time.monotonic()
        lasts_s = now - self.since_s
        text = self.state + (f" ({lasts_s:.0f} s)" if lasts_s >= 2 else "")
        if self.moving:
            print(f"\r\033[K  {text[:76]}", end="", file=sys.stderr, flush=True)
        elif self.state and (always or now - self.said_s > EVERY_S):
            print(f"  {text}", file=sys.stderr, flush=True)
            self.said_s = now

    def take(self, line: str) -> None:
        """Read one line of pip."""
        of = f"{self.seen} of {self.total} packages"
        if found := re.match(r"Collecting (\S+?)(?:==|\s|$)", line):
            self.seen, self.name = self.seen + 1, found[1]
            self.say(f"{self.seen} of {self.total} packages: fetching {self.name}")
        elif found := re.match(r"\s+Downloading .*(\([\d.]+ [kMG]B\))", line):
            self.say(f"{of}: fetching {self.name} {found[1]}")
        elif re.match(r"\s+(Installing build dependencies|Preparing metadata).*: started", line):
            self.say(f"{of}: preparing to compile {self.name}")
        elif found := re.match(r"\s*Building wheel for (\S+) .*: (started|finished)", line):
            what = {"started": "compiling", "finished": "compiled"}[found[2]]
            self.say(f"{what} {found[1]} (C++, kept for the next time)", always=True)
        elif line.startswith("Installing collected packages"):
            what = f"{self.total} packages" if self.total > 1 else "pip"
            self.say(f"unpacking {what}", always=True)

    def count(self) -> None:
        """Say how many packages are unpacked."""
        done = len(list(Path(sysconfig.get_path("purelib")).glob("*.dist-info")))
        state = f"{min(done, self.total)} of {self.total} packages unpacked"
        if state != self.state and self.total > 1:
            self.say(state)

    def end(self) -> None:
        """Leave the line as it was."""
        if self.moving:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


@contextmanager
def started(command: list[str], file: TextIO) -> Iterator[subprocess.Popen]:
    """Start a process, its words into a file; it ends with this one, its own processes as well."""
    kernel = ctypes.CDLL(None)
    with subprocess.Popen(
        command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        preexec_fn=lambda: kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def unpack_pip() -> None:
    """Give the environment the pip that comes with Python, unless it has one."""
    if importlib.util.find_spec("pip") is None:
        with (
            (Path(sys.prefix) / "ensurepip.log").open("w") as file,
            started([sys.executable, "-m", "ensurepip"], file) as process,
        ):
            process.wait()


def install(requirements: Path, total: int) -> int:
    """Install a list in which everything has a hash; return pip's exit status."""
    # `compile_all` does it on all cores.
    command = [
        sys.executable, "-m", "pip", "install", "--no-compile", "--use-pep517",
        "--disable-pip-version-check", "--progress-bar", "off", "--require-hashes",
        "--requirement", str(requirements),
    ]  # fmt: skip
    log = Path(sys.prefix) / "install.log"
    progress = Progress(total)
    with log.open("w+") as file, started(command, file) as process, log.open() as lines:
        unpacking = False
        while process.poll() is None:
            for line in lines:
                progress.take(line)
                unpacking = unpacking or line.startswith("Installing collected")
            if unpacking:
                progress.count()
            progress.beat()
            time.sleep(0.5)
    progress.end()
    if process.returncode:
        words = [line for line in log.read_text().splitlines() if not line.startswith("WARNING")]
        print("\n".join(words[-25:]), file=sys.stderr)
        print(f"pip could not install the packages; all it said: {log}", file=sys.stderr)
    return process.returncode


def compile_all() -> int:
    """Compile the packages to bytecode, without their tests; return 0.

    Else every command compiles what it imports wherever Python may not write: in a container that
    is read only, for another user, with PYTHONDONTWRITEBYTECODE.
    """
    print("  compiling Python", file=sys.stderr)
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0", "-x", r"/tests?/"]
    with (
        (Path(sys.prefix) / "compile.log").open("w") as file,
        started([*command, sysconfig.get_path("purelib")], file) as process,
    ):
        process.wait()
    return 0  # what a package has as a template need not be Python


def _stop(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def main() -> int:
    """Install pip itself, then the packages of the lock; end when make ends, and pip with it."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stop)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    lock = Path(sys.argv[1])
    total = len(re.findall(r"^\S+==", lock.read_text(), re.MULTILINE))
    own = Path(sys.prefix) / "pip.lock"
    own.write_text(PIP)
    unpack_pip()
    return install(own, 1) or install(lock, total) or compile_all()


if __name__ == "__main__":
    sys.exit(main())
