# SPDX-License-Identifier: GPL-2.0-only
"""Kills a small workflow with signal 9 at random moments, again and again, and resumes it.

    python tests/drills/kill.py --count 100

Four kinds of kill in turn: the whole process group, Snakemake alone, a simulation, any child. The
next start comes at once. Now and then one is left to finish; then every result must be what an
undisturbed run has made, byte for byte, no process may be left in the folder and no temporary file.
Provenances differ by nature (they hold times) and are left out. Ends with status 1 if one differs.
"""

import argparse
import hashlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

_HERE = Path(__file__).parent
_SPEC = importlib.util.spec_from_file_location("project", _HERE.parent / "workflow" / "conftest.py")
_PROJECT = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_PROJECT)

SCENARIO = """\
# Question: what is left of a workflow that is killed?
name: tiny
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 100 MB}
transport: {type: ns3::RoceTransport}
trace: {arrivals: true}
stop: 20 ms
sweep: {seed: [1, 2, 3, 4]}
"""
TARGETS = ["results/tiny/laptop/fct.csv", "results/tiny/laptop/slowdown.csv"]
KINDS = ("group", "snakemake", "simulation", "child")
#: What a start may take, with all that others do to this machine [s].
PATIENCE_S = 600


class Drill:
    """One folder that is killed, and what an undisturbed one has made."""

    def __init__(self, folder: Path, seed: int):
        self.random = random.Random(seed)
        self.calm, self.killed = (self._project(folder / name) for name in ("calm", "killed"))
        started = time.monotonic()
        done = self.calm.snakemake("--cores", "2", *TARGETS)
        assert done.returncode == 0, done.stdout
        self.whole_s = time.monotonic() - started
        self.expected = fingerprints(self.calm.folder)
        self.kills: Counter[str] = Counter()
        self.compared = 0

    @staticmethod
    def _project(folder: Path):
        folder.mkdir()
        project = _PROJECT.Project(folder)
        project.scenario.write_text(SCENARIO)
        return project

    def start(self) -> subprocess.Popen:
        """Start the workflow in a process group of its own; what it says goes to a file."""
        with (self.killed.folder / "said.txt").open("ab") as said:
            return subprocess.Popen(
                self.killed.command("--cores", "2", *TARGETS), cwd=self.killed.folder,
                env=self.killed.environment, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip

    def kill(self, kind: str) -> None:
        """Start, and kill at a random moment of a whole run."""
        process = self.start()
        end = time.monotonic() + self.random.uniform(0.02, 0.6) * self.whole_s
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is None:
            self._kill_now(kind, process)
        process.wait(PATIENCE_S)
        if process.returncode == 0 or self.random.random() < 0.1:
            self.finish()

    def _kill_now(self, kind: str, process: subprocess.Popen) -> None:
        if kind == "group":
            os.killpg(process.pid, signal.SIGKILL)
        elif kind == "snakemake":
            process.kill()
        else:
            victims = self._victims(kind, process)
            if not victims:
                return  # between two jobs: no kill is counted
            with suppress(ProcessLookupError):
                os.kill(self.random.choice(victims), signal.SIGKILL)
        self.kills[kind] += 1

    def _victims(self, kind: str, process: subprocess.Popen) -> list[int]:
        """Return the simulations, or all processes but the first, as soon as there are some."""
        end = time.monotonic() + self.whole_s
        while time.monotonic() < end and process.poll() is None:
            found = processes_in(self.killed.folder)
            found = {pid: words for pid, words in found.items() if pid != process.pid}
            if kind == "simulation":
                found = {pid: words for pid, words in found.items() if simulates(pid, words)}
            if found:
                return sorted(found)
            time.sleep(0.01)
        return []

    def finish(self) -> None:
        """Resume until the end and compare; then throw some of it away, so there is work again."""
        process = self.start()
        status = process.wait(PATIENCE_S)
        said = (self.killed.folder / "said.txt").read_text(errors="replace")
        assert status == 0, f"the workflow could not be resumed:\n{said[-3000:]}"
        found = fingerprints(self.killed.folder)
        wrong = {name for name in found | self.expected
                 if found.get(name) != self.expected.get(name)}  # fmt: skip
        assert not wrong, f"not what an undisturbed run has made: {sorted(wrong)}"
        end = time.monotonic() + 10
        while (left := processes_in(self.killed.folder)) and time.monotonic() < end:
            time.sleep(0.1)
        assert not left, f"left behind: {left}"
        half_made = [str(path) for path in self.killed.folder.rglob("*.tmp")]
        assert not half_made, f"temporary files: {half_made}"
        self.compared += 1
        for run in sorted((self.killed.folder / "results" / "tiny").glob("s*")):
            if self.random.random() < 0.6:
                shutil.rmtree(run)
        shutil.rmtree(self.killed.folder / "results" / "tiny" / "laptop")


def fingerprints(folder: Path) -> dict[str, str]:
    """Return the digest of every result by its path; provenance and manifest hold times."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / "results").rglob("*"))
        if path.is_file() and path.name not in ("provenance.json", "manifest.json")
    }


def processes_in(folder: Path) -> dict[int, bytes]:
    """Return the command lines of the processes that work in a folder, by id; no zombies."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").resolve() == folder.resolve():
                found[int(process.name)] = (process / "cmdline").read_bytes()
    return found


def simulates(pid: int, words: bytes) -> bool:
    """Whether a process simulates: it runs a script itself, or is a fork of the engine's server."""
    if b"scenario.py\0--out" in words:
        return True
    try:
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        return b"pyorch.simulate.server" in Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return False


def main() -> int:
    """Run the drill from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, help="kills")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pyorch-drill-") as folder:
        drill = Drill(Path(folder), options.seed)
        print(f"undisturbed: {drill.whole_s:.1f} s, {len(drill.expected)} files", flush=True)
        for kind in (KINDS[n % len(KINDS)] for n in range(100 * options.count)):
            if drill.kills.total() >= options.count:
                break
            drill.kill(kind)
            counted = ", ".join(f"{kind} {drill.kills[kind]}" for kind in KINDS)
            print(f"\r{drill.kills.total()} kills ({counted});", end=" ", flush=True)
            print(f"{drill.compared} times finished and the same", end="", flush=True)
        drill.finish()
        print(f"\n{drill.compared} comparisons: all results the same, nothing left over.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
