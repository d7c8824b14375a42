# SPDX-License-Identifier: GPL-2.0-only
"""What the Snakefile asks when it is read: which runs there are, and what this machine holds."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pyorch import spec as specs
from pyorch.cli_list import scenario_files
from pyorch.errors import BuildError, SpecError, did_you_mean
from pyorch.figures.needs import read_caption, read_needs, split_need
from pyorch.plugins import load, names
from pyorch.render import input_tables
from pyorch.simulate import sizes
from pyorch.spec import typeids
from pyorch.spec.fields import restore

#: What Linux and other programs keep [1].
_SHARE_FOR_RUNS = 0.9
#: What only the process that a simulate job starts has in its command line.
_SIMULATE_JOB = b"--log\0logs/simulate/"


@dataclass(frozen=True)
class Workflow:
    """Every run of every scenario at one scale, and every figure.

    Attributes
    ----------
    scale : str
        Of all runs.
    files : dict
        Scenario file by name of the scenario.
    runs : dict
        Runs by scenario and id.
    figures : dict
        NEEDS by name of the figure.
    captions : dict
        Docstring by name of the figure.
    types : TypeIds
        Of the modules as they are now; a job may be building them anew later.
    """

    scale: str
    files: dict[str, Path]
    runs: dict[str, dict[str, specs.Run]]
    figures: dict[str, dict[str, str]]
    captions: dict[str, str]
    types: typeids.TypeIds

    def spec(self, scenario: str, run: str) -> dict:
        """Return the resolved spec of a run; names without one belong to an earlier state."""
        known = self.runs.get(scenario, {})
        if run not in known:
            raise SpecError(f"no run {scenario}/{run} at scale {self.scale}.")
        return known[run].spec

    def libraries(self, scenario: str, run: str) -> list[str]:
        """Return the shared libraries that a run loads."""
        loaded = self.types.libraries(self.spec(scenario, run))
        return [f"build/lib/{name}" for name in loaded]

    def plugin_files(self, scenario: str, run: str) -> list[str]:
        """Return the files of the topology and the workloads of a run, and what these share."""
        spec = self.spec(scenario, run)
        loads = sorted({load["type"] for load in spec["workload"]})
        topology = f"pyorch/topology/{spec['topology']['type']}.py"
        failures = sorted({failure["type"] for failure in spec["failures"]})
        loads = [f"pyorch/workload/{name}.py" for name in loads]
        loads += [f"pyorch/failure/{name}.py" for name in failures]
        shared = [*_shared("topology"), *_shared("workload")]
        shared += ["pyorch/failure/_outage.py"] if failures else []
        return [topology, *loads, *shared]

    def memory_mb(self, scenario: str, run: str) -> int:
        """Return the memory that a run is given [MB].

        Measured: 200 MB for Python, cppyy and ns-3; the engine takes below 16 KB for each host.
        """
        spec = self.spec(scenario, run)
        return 300 + _hosts(spec) * 32 // 1000 + self.logs_mb(scenario, run)

    def logs_mb(self, scenario: str, run: str) -> int:
        """Return the memory for what a run records beside its results [MB].

        Measured: 88 B for each row of the arrivals, 136 B for one of the samples; a growing array
        may have twice the room of its rows, 24 to 40 B each. Samples may last until the stop.
        """
        return _size(self.spec(scenario, run)).log_rows * 160 // 1_000_000

    def disk_mb(self, scenario: str, run: str) -> int:
        """Return the disk that a run is given: raw columns and Parquet tables, captures [MB]."""
        size = _size(self.spec(scenario, run))
        return 1000 + 2 * (size.result_bytes + size.log_rows * 72) // 1_000_000

    def runtime_min(self, scenario: str, run: str) -> int:
        """Return the time that a run is given [minute].

        Measured: 1 to 3 us of CPU for each data packet, up to 8192 hosts; ten times that is left
        for slower machines and for what is sent again, five minutes for the start.
        """
        return 5 + _size(self.spec(scenario, run)).packets * 30 // 60_000_000

    def tables(self, scenario: str, name: str) -> list[str]:
        """Return one table of each run of a scenario."""
        return [f"results/{scenario}/{run}/{name}.parquet" for run in self.runs[scenario]]

    def simulated(self, name: str) -> list[str]:
        """Return one file of each run that a figure needs."""
        return [
            f"results/{scenario}/{run}/{name}" for scenario in self.needed
            for run in self.runs[scenario]
        ]  # fmt: skip

    @property
    def needed(self) -> list[str]:
        """The scenarios that a figure needs."""
        needs = [need for named in self.figures.values() for need in named.values()]
        return sorted({split_need(need, "NEEDS")[0] for need in needs})


@lru_cache(maxsize=8)
def _shared(kind: str) -> list[str]:
    """Return the files that all plug-ins of a kind share."""
    return sorted(map(str, Path("pyorch", kind).glob("_[!_]*.py")))


def escape(text: str) -> str:
    """Return text with what is special in reStructuredText escaped."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def _hosts(spec: dict) -> int:
    """Return the number of hosts of a run, in closed form."""
    module = load("pyorch.topology", spec["topology"]["type"])
    return module.counts(restore(module.Params, spec["topology"]))["hosts"]


class _Size(NamedTuple):
    """Data packets of a run, without what is sent again; rows of its logs; its other files."""

    packets: int
    log_rows: int
    result_bytes: int


def _size(spec: dict) -> _Size:
    """Return the size of a run; all seeds are said to have that of the first.

    That is exact but for sizes that are drawn (`poisson`) and for what single hosts send.
    """
    return _size_of(json.dumps(spec | {"seed": 1, "failures": []}))


@lru_cache(maxsize=1024)
def _size_of(resolved: str) -> _Size:
    spec = json.loads(resolved)
    trace, tables = spec["trace"], input_tables(spec)
    flows, links = tables["flows"], tables["links"]
    of_flow = sizes.data_packets(flows, [given["attributes"] for given in spec["transport"]])
    packets = int(of_flow.sum())
    rows = packets * trace["arrivals"]
    rows += packets // 10 * trace["pauses"]  # measured: one for 40 packets
    if period_ps := trace["sample_ps"]:
        ports = np.concatenate([links["node_a"], links["node_b"]])
        ports = ports[np.isin(ports, trace["nodes"])] if trace["nodes"] else ports
        rows += (len(ports) + len(of_flow)) * (spec["stop_ps"] // period_ps + 1)
    captures = [(host, trace["snaplen_bytes"]) for host in trace["pcap"]]
    n_links = len(links["node_a"])
    others = sizes.least_result_bytes(flows, n_links, of_flow, False, captures)
    return _Size(packets, rows, others)


def build_modules(sources: Path | str = "ns3-modules") -> None:
    """Bring the C++ modules up to date; takes a quarter of a second if they are.

    Raises
    ------
    BuildError
        They do not build; the compiler has said why.
    """
    if any(Path(sources).glob("*/model/*.cc")):
        done = subprocess.run([sys.executable, "-m", "pyorch.simulate.build"])
        if done.returncode:
            raise BuildError("the C++ modules do not build; see above. Alone: make setup")


def read(scale: str, scenarios: str = "scenarios", plots: str = "plots") -> Workflow:
    """Return the workflow of all scenarios and figures that are there.

    Raises
    ------
    PyorchError
        A scenario or a figure cannot be used; nothing has been started then.
    """
    files, runs = {}, {}
    for path in scenario_files(scenarios):
        planned = specs.plan(specs.read_scenario(path), scale)
        name = planned[0].scenario
        if name in files:
            raise SpecError(f"{path}: name: '{name}' is the name of {files[name]} too.")
        files[name], runs[name] = path, specs.runs_by_id(planned)
    drawn = sorted(Path(plots).glob("[!_]*.py"))
    figures = {path.stem: read_needs(path) for path in drawn}
    captions = {path.stem: read_caption(path) for path in drawn}
    for figure, needs in figures.items():
        for need in needs.values():
            _check_need(f"{plots}/{figure}.py", need, files)
    return Workflow(scale, files, runs, figures, captions, typeids.load())


def _check_need(source: str, need: str, files: dict[str, Path]) -> None:
    scenario, metric = split_need(need, source)
    for kind, name, known in (("scenario", scenario, files), ("metric", metric, _metrics())):
        if name not in known:
            raise SpecError(
                f"{source}: NEEDS: no {kind} '{name}'. There are {', '.join(sorted(known))}."
                f"{did_you_mean(name, known)}"
            )


def _metrics() -> list[str]:
    return names("pyorch.metrics")


def available_mb() -> int:
    """Return the memory that runs may take together on this machine [MB]."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(int(line.split()[1]) * 1024 / 1e6 * _SHARE_FOR_RUNS)
    return int(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e6 * _SHARE_FOR_RUNS)


def release_dead_locks(folder: Path | str = ".snakemake/locks") -> bool:
    """Remove the locks of a Snakemake that was killed; return whether there were any.

    Snakemake writes no process id into its locks, so they are dead if no other Snakemake process
    has its working directory here. Runs that it has left behind are ended: they would take cores
    and memory beside the same runs, which are started again.
    """
    locks = sorted(Path(folder).glob("*.lock"))
    if not locks or _processes_here(b"snakemake"):
        return False
    for run in _processes_here(_SIMULATE_JOB):
        with suppress(ProcessLookupError):
            os.kill(run, signal.SIGTERM)
    for lock in locks:
        lock.unlink(missing_ok=True)
    return True


def keep_one_timer(scheduler: type) -> None:
    """Let Snakemake's scheduler wait for one timer at a time, in place of one per finished job.

    Its rounds go over all jobs that are ready. Each starts a timer for another round in a second,
    and each finished job starts a round, so with n finished jobs there are n rounds a second: the
    CPU time of a workflow grows with the square of its jobs. Seen in Snakemake 9.27; of 300 jobs of
    0.3 s this takes away half of all CPU time. Without that method nothing is changed.
    """
    if not hasattr(scheduler, "_schedule_reevalutation"):
        return

    def look_again_after(self, delay_s: float) -> None:
        def look_again() -> None:
            self.waits_for_timer = False
            self._open_jobs.release()

        if not getattr(self, "waits_for_timer", False):
            self.waits_for_timer = True
            threading.Timer(delay_s, look_again).start()

    scheduler._schedule_reevalutation = look_again_after


def _processes_here(words: bytes) -> list[int]:
    """Return the processes with these words in their command line that work in this folder."""
    ours, here, found = _ancestors(), Path.cwd(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
            foreign = words in command and process.name not in ours
            if foreign and (process / "cwd").resolve() == here:
                found.append(int(process.name))
        except OSError:  # it has ended meanwhile, or is another user's
            continue
    return found


def _ancestors() -> set[str]:
    """Return this process and all above it."""
    found, pid = set(), str(os.getpid())
    while pid not in ("0", ""):
        found.add(pid)
        try:
            pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            break
    return found
