# SPDX-License-Identifier: GPL-2.0-only
"""Runs and metrics of one scenario through Snakemake, whose own words go to a log."""

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyorch import plugins
from pyorch import spec as specs
from pyorch.errors import SimulationError
from pyorch.simulate.process import last_line
from pyorch.workflow import SWEEP, ownership
from pyorch.workflow.events import Progress, follow
from pyorch.workflow.planfile import write_plan
from pyorch.workflow.resources import size_of
from pyorch.workflow.snakemake import EVENTS
from pyorch.writing import make_folder

#: What a run takes beside its packets, as packets: 0.2 s of CPU at 2 us each.
PACKETS_OF_A_START = 100_000
#: The table that is written last.
LAST = "summary.parquet"
PROFILE = Path(__file__).with_name("profile")


@dataclass
class Outcome:
    """What a sweep has come to.

    Attributes
    ----------
    status : int
        Exit status of Snakemake; 130 and 143: somebody has stopped it.
    progress : Progress
        What was done and what failed.
    log : Path
        Snakemake's own words.
    tables : list of Path
        Of the metrics, those that are there.
    folder : str
        Where these lie below the scenario, and what they said below their log.
    """

    status: int
    progress: Progress
    log: Path
    tables: list[Path] = field(default_factory=list)
    folder: str = ""

    def failures(self) -> list[str]:
        """Return one line for each job that failed: which, and its last words."""
        found = []
        for rule, name in self.progress.failed:
            scenario, _, what = name.partition("/")
            below = self.folder if rule == "metrics" else ""
            log = Path("logs", rule, scenario, below, f"{what}.log")
            words = last_line(log) if log.exists() else f"see {self.log}"
            found.append(f"{name}: {words}")
        return found


def metrics_of(runs: Iterable[specs.Run]) -> list[str]:
    """Return the metrics that all of these runs can be asked, sorted."""
    runs = list(runs)
    return [name for name in plugins.names("pyorch.metrics") if not refusal_of(name, runs)]


def refusal_of(metric: str, runs: Iterable[specs.Run]) -> str:
    """Return why a metric cannot be asked of all of these runs; nothing if it can.

    Raises
    ------
    PluginError
        There is no such metric.
    """
    refusal = getattr(plugins.load("pyorch.metrics", metric), "refusal", lambda _: "")
    return next(filter(None, (refusal(run.spec) for run in runs)), "")


def sweep(
    runs: Sequence[specs.Run],
    cores: int | None = None,
    metrics: Sequence[str] = (),
    folder: str = "",
    show: Callable[[Progress], object] = lambda _: None,
) -> Outcome:
    """Make runs that are not finished, and metrics of all, in results/ of this folder.

    What another Snakemake is making is waited for, and then used.

    Parameters
    ----------
    runs : sequence of Run
        Of one scenario, at one scale.
    cores : int, optional
        How many at a time; all cores by default.
    metrics : sequence of str
        Names.
    folder : str
        Where their tables lie below the scenario; the scale by default.
    show : callable
        Is given the progress whenever it has changed, and now and then.
    """
    scenario, folder = runs[0].scenario, folder or runs[0].scale
    name = hashlib.sha256("".join(run.folder for run in runs).encode()).hexdigest()[:10]
    plan = Path(".snakemake", "pyorch", f"sweep-{scenario}-{name}.jsonl")
    write_plan(runs, plan)
    log = Path("logs", "sweep", f"{scenario}-{folder}.log")
    make_folder(log.parent)
    config = [f"plan={plan}", f"metrics={','.join(metrics)}", f"folder={folder}"]
    command = [
        sys.executable, "-m", "snakemake", "all", "--snakefile", SWEEP,
        "--cores", str(cores or "all"), "--workflow-profile", str(PROFILE), "--nocolor",
        "--config", *config,
    ]  # fmt: skip
    while True:
        progress = Progress(total=len({run.id for run in runs}), work=_work(runs))
        status = _run(command, log, progress, show)
        if not progress.refused:
            break
        ownership.wait_for_others()
    tables = [Path("results", scenario, folder, f"{name}.csv") for name in metrics]
    return Outcome(status, progress, log, [path for path in tables if path.exists()], folder)


def _work(runs: Iterable[specs.Run]) -> dict[str, float]:
    """Return what each run that is not finished takes, in data packets, by its name."""
    missing = {r.folder: r.spec for r in runs if not Path("results", r.folder, LAST).exists()}
    return {name: PACKETS_OF_A_START + size_of(spec).packets for name, spec in missing.items()}


def make_all(runs: Sequence[specs.Run], cores: int | None = None) -> None:
    """Make runs without metrics.

    Raises
    ------
    SimulationError
        Some did not come to their end; names them.
    """
    outcome = sweep(runs, cores)
    if outcome.status in (130, 143):
        raise KeyboardInterrupt
    if outcome.status:
        lines = outcome.failures()
        said = f"{len(lines)} failed" if lines else f"Snakemake ended with {outcome.status}"
        raise SimulationError("\n".join([f"{said}; its log is {outcome.log}", *lines]))


def _run(
    command: list[str], log: Path, progress: Progress, show: Callable[[Progress], object]
) -> int:
    """Run Snakemake; return its exit status."""
    ours, theirs = os.pipe()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with log.open("wb") as words:
        process = subprocess.Popen(
            command, stdout=words, stderr=words, stdin=subprocess.DEVNULL, pass_fds=[theirs],
            env=os.environ | {"PATH": path, EVENTS: str(theirs)},
        )  # fmt: skip
    os.close(theirs)
    while True:
        try:
            follow(ours, progress, show)
            status = process.wait()
            os.close(ours)
            return 130 if status == -signal.SIGINT else status
        except KeyboardInterrupt:  # Snakemake has got it too; its jobs end, then it does
            progress.stopping = True
