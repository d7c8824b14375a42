# SPDX-License-Identifier: GPL-2.0-only
"""Takes the sources of the C++ modules, writes libraries, headers and ``typeids.json`` in build/.

``python -m pyorch.simulate.build`` is quiet when there is nothing to do, and shows the compiler's
own words when something does not compile. With ``test-runner`` it builds the test suites of the
modules too.
"""

import argparse
import fcntl
import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import cmake
import ninja

from pyorch import built, jobs
from pyorch.errors import BuildError, PyorchError
from pyorch.simulate import build_cache, build_study, modules, sanitizers
from pyorch.simulate.process import how
from pyorch.simulate.results import sha256

CMAKE = Path(cmake.CMAKE_BIN_DIR) / "cmake"
NINJA = Path(ninja.BIN_DIR) / "ninja"
RUNNER = "test-runner"


def build(targets: tuple[str, ...] = (), sanitize: str = "") -> None:
    """Bring the libraries and ``typeids.json`` up to date.

    Parameters
    ----------
    targets : tuple of str
        Programs to build besides the modules. A runner of test suites that is there is kept up to
        date unasked.
    sanitize : str
        Sanitizers of every target, ``"address,undefined"``.

    Raises
    ------
    BuildError
        With the first errors of the compiler, and where all of them are.
    """
    place = built.here()
    place.folder.mkdir(parents=True, exist_ok=True)
    if (place.folder / "bin" / RUNNER).exists():
        targets = (*targets, RUNNER)
    if place.study:
        build_study.link_installed()
    began_ns = time.time_ns()
    with _alone():
        name = "" if sanitize or place.study else build_cache.key()
        if name and not targets and build_cache.restore(name):
            _drop_dead_headers()
            modules.note_success(began_ns)
            return
        (place.folder / build_cache.STAMP).unlink(missing_ok=True)
        _configure(sanitize)
        _call([NINJA, "all", *targets], notice="Building the C++ modules")
        _call([NINJA, "-t", "cleandead"])  # what folders that are gone once built
        _drop_dead_headers()
        # Else Python cannot load a library that wants the sanitizer loaded first.
        if not sanitize or place.study:
            _write_typeids()
            modules.note_success(began_ns)
            if name:
                build_cache.keep(name)


def _drop_dead_headers() -> None:
    """Remove the links to headers that are gone: who copies the headers would fail on one."""
    for link in built.here().headers.glob("ns3/*.h"):
        if not link.exists():
            link.unlink(missing_ok=True)


@contextmanager
def _alone():
    """Let a second build in the same folder wait for the first, and for the last compiler of it."""
    with (built.here().folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.set_inheritable(lock.fileno(), True)
        yield


def _configure(sanitize: str) -> None:
    """Run CMake when there is no build yet or it was for another Python; Ninja does the rest."""
    settings = {
        "CMAKE_MAKE_PROGRAM": str(NINJA),
        "Python3_EXECUTABLE": sys.executable,
        "PYORCH_SANITIZE": sanitize,
    }
    place = built.here()
    stamp = place.folder / ".configured"
    source = build_study.write_project() if place.study else built.MODULES
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    if place.study:  # it names the installed modules, which may have moved
        text += (source / "CMakeLists.txt").read_text()
    complete = (place.folder / "build.ninja").exists()
    if complete and stamp.exists() and stamp.read_text() == text:
        return
    (place.folder / "CMakeCache.txt").unlink(missing_ok=True)
    options = [f"-D{name}={value}" for name, value in settings.items()]
    _call([CMAKE, "-S", source, "-B", place.folder, "-G", "Ninja", *options])
    stamp.write_text(text)


def _call(command: list, notice: str = "") -> None:
    """Run CMake or Ninja in the build folder, quietly unless it fails.

    Parameters
    ----------
    command : list
        Program and arguments.
    notice : str
        What is said when files are compiled, with how many there are.
    """
    output = []
    shown = Compiling(notice)
    with subprocess.Popen(
        jobs.tied([str(part) for part in command], signal.SIGTERM),  # Ninja stops its compilers
        close_fds=False,  # the lock is theirs too
        start_new_session=True,  # signals come to it from here
        cwd=built.here().folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"NINJA_STATUS": "[%f/%t] ", "LC_ALL": "C.UTF-8"},
    ) as process:
        try:
            for line in process.stdout:
                output.append(line)
                shown.take(line)
        except KeyboardInterrupt:
            process.terminate()
            raise
        finally:
            shown.end()
    if process.returncode < 0:  # it has left compilers behind
        jobs.end_children()
        raise BuildError(f"{Path(command[0]).name} {how(process.returncode)}. Start again.")
    if process.returncode != 0:
        log = built.here().folder / "build.log"
        log.write_text("".join(output))
        raise BuildError(
            f"the C++ modules do not build:\n{errors_of(''.join(output))}\n"
            f"All that was printed is in {built.shown(log)}."
        )


class Compiling:
    """Says which of how many files is compiled: one moving line, in a log a line now and then."""

    EVERY_S = 10.0

    def __init__(self, notice: str):
        self.notice, self.said_s, self.has_said = notice, -math.inf, False
        self.moving = sys.stderr.isatty()

    def take(self, line: str) -> None:
        """Read one line of Ninja: ``[3/46] Building CXX object fabric/...fabric.cc.o``."""
        found = re.match(r"\[(\d+)/(\d+)\] Building CXX object (?:.*/)?(\S+?)\.o\b", line)
        if not found or not self.notice:
            return
        now = time.monotonic()
        if self.moving or now - self.said_s > self.EVERY_S:
            text = f"{self.notice}: {found[1]} of {found[2]} done, {found[3]}"
            start, end = ("\r\033[K", "") if self.moving else ("", "\n")
            print(f"{start}{text[:78]}", end=end, file=sys.stderr, flush=True)
            self.said_s, self.has_said = now, True

    def end(self) -> None:
        """Leave the line to what comes next."""
        if self.moving and self.has_said:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def errors_of(output: str, max_lines: int = 30) -> str:
    """Return the lines of a failed build that say what is wrong, with paths from the repository.

    Parameters
    ----------
    output : str
        What Ninja or CMake printed: progress, the command that failed, the compiler's messages.
    max_lines : int
        Lines to keep; the first error is what matters.
    """
    lines = output.replace(f"{built.REPOSITORY}/", "").splitlines()
    useful = []
    after_failed = False
    for line in lines:
        noise = after_failed or re.match(
            r"\[\d+/\d+\] |FAILED: |ninja: (?!error)|-- |In file included", line
        )
        if not noise and line.strip():
            useful.append(line)
        after_failed = line.startswith("FAILED: ")  # the next line is the whole command
    first = next((n for n, line in enumerate(useful) if re.search(r"\berror\b", line, re.I)), 0)
    return "\n".join(useful[max(0, first - 1) :][:max_lines])


def _write_typeids() -> None:
    """Ask the registry of the new libraries, in a process of its own, unless that is known."""
    place = built.here()
    libraries, typeids = place.module_libraries(), place.typeids
    engine = place.libraries / built.ENGINE
    if engine not in libraries:
        raise BuildError(f"{built.shown(engine)} was not built: is ns3-modules/facade there?")
    stamp = place.folder / ".described"
    text = "".join(f"{path.name} {path.stat().st_mtime_ns}\n" for path in libraries)
    known = typeids.exists() and stamp.exists()
    if known and stamp.read_text() == f"{text}{sha256(typeids)}\n":
        return
    done = subprocess.run(
        [sys.executable, "-P", "-m", "pyorch.simulate.describe"],
        cwd=place.study or built.REPOSITORY,
        capture_output=True,
        text=True,
        env=sanitizers.environment(),
    )
    if done.returncode != 0:
        raise BuildError(f"the built modules cannot be asked for their TypeIds:\n{done.stderr}")
    temporary = typeids.with_suffix(".tmp")
    temporary.write_text(done.stdout + "\n")
    temporary.rename(typeids)
    stamp.write_text(f"{text}{sha256(typeids)}\n")


def origin_of_modules() -> str:
    """Return in one line where the modules in the build folder have come from."""
    place = built.here()
    kept, stamp = build_cache.folder(), place.folder / build_cache.STAMP
    if kept is None or not stamp.exists():
        return f"C++ modules: compiled here, in {built.shown(place.folder)}."
    return (
        f"C++ modules: taken from the build cache, {kept / stamp.read_text()}, where these very"
        f" sources were compiled before. To compile: rm -r {built.shown(place.folder)}, then"
        " PYORCH_CACHE=off make setup."
    )


def main(arguments: list[str] | None = None) -> int:
    """Build from the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pyorch.simulate.build", description=__doc__)
    parser.add_argument("targets", nargs="*", help="programs to build besides the modules")
    parser.add_argument("--sanitize", default="", help="for example address,undefined")
    parser.add_argument("--say", action="store_true", help="say where the modules come from")
    options = parser.parse_args(arguments)
    if options.sanitize and built.here().study:
        parser.error("in a study: PYORCH_SANITIZE=address,undefined pyorch run SCENARIO --out DIR")
    if options.sanitize and "PYORCH_BUILD" not in os.environ:
        parser.error(
            "--sanitize is for bin/test-runner, not for Python; give it a folder of its own,"
            " for example PYORCH_BUILD=build/sanitized"
        )
    jobs.belong()
    jobs.adopt()
    try:
        build(tuple(options.targets), options.sanitize or built.here().sanitize)
    except PyorchError as error:
        print(f"{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped by Ctrl-C; what was compiled is kept.", file=sys.stderr)
        return 130
    if options.say:
        print(f"{origin_of_modules()}\nReady: make figures SCALE=smoke")
    return 0


if __name__ == "__main__":
    sys.exit(main())
