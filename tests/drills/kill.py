# SPDX-License-Identifier: GPL-2.0-only
"""Kills commands at random moments, again and again, and lets them go on.

    python tests/drills/kill.py --count 300

Four commands (``snakemake``, ``pyorch sweep``, ``pyorch run``, the build of a study's module) are
hit in turn by four signals: the process itself, its process group, a child. Two seconds after the
process has ended nothing that it has started may be alive. Now and then one is left to finish; then
every result must be what an undisturbed one is, byte for byte, with no lock and no temporary file.
Provenances and manifests hold times and are left out. Ends with status 1 at the first difference.
"""

import argparse
import hashlib
import importlib.util
import itertools
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


def _module(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_WORKFLOW = Path(__file__).parents[1] / "workflow"
_PROJECT = _module(_WORKFLOW / "conftest.py")
_PROCESSES = _module(_WORKFLOW / "processes.py")

SCENARIO = """\
# Question: what is left of a workflow that is killed?
name: tiny
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 30 MB}
transport: {type: ns3::RoceTransport}
trace: {arrivals: true}
stop: 20 ms
sweep: {seed: [1, 2, 3, 4]}
"""
TABLES = ["results/tiny/laptop/fct.csv", "results/tiny/laptop/slowdown.csv"]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
VICTIMS = ("process", "group", "child")
#: What a start may take, with all that others do to this machine [s].
PATIENCE_S = 600
#: From the end of a process to that of all that it has started [s].
ORPHAN_S = 2.0
#: Written at every start: times, and changes that were asked for.
_OF_A_START = ("provenance.json", "manifest.json", "runs.jsonl")


class Workflow:
    """A folder with one scenario and four runs, which three commands make."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self.project = _PROJECT.Project(folder)
        self.project.scenario.write_text(SCENARIO)
        self.folder, self.environment = folder, self.project.environment
        pyorch = [sys.executable, "-m", "pyorch"]
        self.whole = self.project.command("--cores", "2", *TABLES)
        self.commands = {
            "snakemake": self.whole,
            "sweep": [*pyorch, "sweep", self.project.scenario, "--cores", "2", "--metric", "fct"],
            "run": [*pyorch, "run", self.project.scenario, "--seed", "3"],
        }

    def products(self) -> list[Path]:
        """Return the files that are compared."""
        return [path for path in (self.folder / "results").rglob("*")
                if path.is_file() and path.name not in _OF_A_START]  # fmt: skip

    def leftovers(self) -> list[Path]:
        """Return locks, temporary files and notes of jobs that have not ended."""
        own = self.folder / ".snakemake"
        found = [*own.glob("locks/*"), *own.glob("incomplete/*")]
        return found + [*self.folder.rglob("*.tmp")]

    def undo(self, chance: random.Random) -> None:
        """Remove some results, so that there is work again."""
        for run in sorted((self.folder / "results" / "tiny").glob("s*")):
            if chance.random() < 0.6:
                shutil.rmtree(run)
        shutil.rmtree(self.folder / "results" / "tiny" / "laptop")


class Study:
    """A study with a transport of its own, which is compiled."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True)
        self.folder = folder
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path}
        for words in (["init", "."], ["new", "transport", "mine"]):
            subprocess.run(
                ["pyorch", *words], cwd=folder, env=self.environment, check=True,
                stdout=subprocess.DEVNULL,
            )  # fmt: skip
        self.whole = [sys.executable, "-P", "-m", "pyorch.simulate.build"]
        self.commands = {"build": self.whole}

    def products(self) -> list[Path]:
        """Return the files that are compared."""
        found = (self.folder / "build" / "lib").glob("*.so")
        return [*found, self.folder / "build" / "typeids.json"]

    def leftovers(self) -> list[Path]:
        """Return temporary files."""
        return [*self.folder.rglob("*.tmp")]

    def undo(self, chance: random.Random) -> None:
        """Remove all that was built, or the objects of one source."""
        if chance.random() < 0.3:
            shutil.rmtree(self.folder / "build")
        else:
            for source in self.folder.glob("ns3-modules/*/model/*.cc"):
                source.touch()


class Drill:
    """One folder that is killed, and what an undisturbed one has made."""

    def __init__(self, kind: type, folder: Path, seed: int):
        self.random = random.Random(seed)
        calm, self.killed = kind(folder / "calm"), kind(folder / "killed")
        started = time.monotonic()
        done = subprocess.run(
            calm.whole, cwd=calm.folder, env=calm.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        self.whole_s = time.monotonic() - started
        self.expected = fingerprints(calm)
        assert self.expected
        self.compared, self.slowest_s = 0, 0.0
        self.kills: Counter[tuple[str, str, str]] = Counter()

    def cases(self):
        """Return every command with every signal and victim, again and again."""
        one = itertools.product(SIGNALS, VICTIMS, self.killed.commands)
        return itertools.cycle([(command, *rest) for *rest, command in one])

    def start(self, command: list) -> subprocess.Popen:
        """Start a command in a process group of its own; what it says goes to a file."""
        with (self.killed.folder / "said.txt").open("wb") as said:
            return subprocess.Popen(
                list(map(str, command)), cwd=self.killed.folder, env=self.killed.environment,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, process_group=0,
            )  # fmt: skip

    def kill(self, command: str, number: signal.Signals, victim: str) -> None:
        """Start a command, hit it at a random moment, and see that it leaves nothing alive."""
        process = self.start(self.killed.commands[command])
        end = time.monotonic() + self.random.uniform(0.01, 0.6) * self.whole_s
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is None and self._hit(process, number, victim):
            self.kills[command, number.name, victim] += 1
        process.wait(PATIENCE_S)
        self._nothing_lives(f"{command}, {number.name} to {victim}")
        if process.returncode == 0 or self.random.random() < 0.1:
            self.finish()

    def _hit(self, process: subprocess.Popen, number: signal.Signals, victim: str) -> bool:
        """Send a signal; return whether there was somebody to send it to."""
        if victim == "child":
            children = sorted(set(_PROCESSES.living_in(self.killed.folder)) - {process.pid})
            if not children:
                return False
            with suppress(ProcessLookupError):
                os.kill(self.random.choice(children), number)
        elif victim == "group":
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        return True

    def _nothing_lives(self, after: str) -> None:
        ended = time.monotonic()
        while left := _PROCESSES.living_in(self.killed.folder):
            assert time.monotonic() < ended + ORPHAN_S, f"alive after {after}: {left}"
            time.sleep(0.02)
        self.slowest_s = max(self.slowest_s, time.monotonic() - ended)

    def finish(self) -> None:
        """Go on until the end and compare; then throw some of it away, so there is work again."""
        process = self.start(self.killed.whole)
        status = process.wait(PATIENCE_S)
        said = (self.killed.folder / "said.txt").read_text(errors="replace")
        assert status == 0, f"it does not go on:\n{said[-3000:]}"
        found = fingerprints(self.killed)
        wrong = {name for name in found | self.expected
                 if found.get(name) != self.expected.get(name)}  # fmt: skip
        assert not wrong, f"not what an undisturbed one has made: {sorted(wrong)}"
        self._nothing_lives("the end")
        assert not (left := self.killed.leftovers()), f"left over: {left}"
        self.compared += 1
        self.killed.undo(self.random)


def fingerprints(work: Workflow | Study) -> dict[str, str]:
    """Return the digest of every product by its path."""
    return {
        str(path.relative_to(work.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in work.products()
    }


def main() -> int:
    """Run the drill from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="kills, a fifth of them of builds")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    n_builds = options.count // 5
    for kind, count in ((Workflow, options.count - n_builds), (Study, n_builds)):
        with tempfile.TemporaryDirectory(prefix="pyorch-drill-") as folder:
            drill = Drill(kind, Path(folder), options.seed)
            what = " or ".join(drill.killed.commands)
            print(f"{what}: undisturbed {drill.whole_s:.1f} s, {len(drill.expected)} files")
            for case in drill.cases():
                if drill.kills.total() >= count:
                    break
                drill.kill(*case)
                print(f"\r{drill.kills.total()} kills", end="", flush=True)
            drill.finish()
            for part, name in enumerate(("command", "signal", "victim")):
                split = Counter()
                for case, number in drill.kills.items():
                    split[case[part]] += number
                print(f"\r{name}: {', '.join(f'{key} {n}' for key, n in split.items())}")
            print(
                f"{drill.kills.total()} kills, {drill.compared} comparisons: all files the same,"
                f" nothing left over, the last orphan gone after {drill.slowest_s:.1f} s."
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
