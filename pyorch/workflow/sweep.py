# SPDX-License-Identifier: GPL-2.0-only
"""Runs and metrics of one scenario through Snakemake, whose own words go to a log."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyorch import jobs, plugins
from pyorch import spec as specs
from pyorch.errors import SimulationError
from pyorch.simulate.process import how, last_line
from pyorch.workflow import SWEEP, estimate, ownership
from pyorch.workflow.events import EVENTS, Progress, follow
from pyorch.workflow.planfile import write_plan
from pyorch.writing import make_folder

#: Signals that stop a sweep, and with it all that it has started.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: From the request to end to the end, for a Snakemake that does not hear it [s].
STOP_S = 1.0
PROFILE = Path(__file__).with_name("profile")


@dataclass
class Outcome:
    """What a sweep has come to.

    Attributes
    ----------
    status : int
        Exit status of Snakemake, or -n for signal n that has ended it.
    progress : Progress
        What was done and what failed.
    log : Path
        Snakemake's own words.
    tables : list of Path
        Of the metrics, those that are there.
    folder : str
        Where these lie below the scenario, and what they said below their log.
    stop : int
        Number of the signal that has stopped this process and with it the sweep; 0 without one.
    """

    status: int
    progress: Progress
    log: Path
    tables: list[Path] = field(default_factory=list)
    folder: str = ""
    stop: int = 0

    @property
    def exit_status(self) -> int:
        """What the process that reports this ends with."""
        number = self.stop or -self.status
        return 128 + number if number > 0 else self.status

    def end(self) -> str:
        """Return why not all was made, where no job has failed."""
        if self.stop:
            name = signal.Signals(self.stop).name
            return f"Stopped by {name}. What is finished is kept; the same command goes on."
        return f"Snakemake {how(self.status)}: see {self.log}"

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
    found = estimate.look(runs)
    config = [f"plan={plan}", f"metrics={','.join(metrics)}", f"folder={folder}"]
    command = [
        sys.executable, "-P", "-m", "snakemake", "all", "--snakefile", SWEEP,
        "--cores", str(cores or "all"), "--workflow-profile", str(PROFILE), "--nocolor",
        "--config", *config,
    ]  # fmt: skip
    tables = [Path("results", scenario, folder, f"{name}.csv") for name in metrics]
    due = {
        "metrics": sum(not path.exists() for path in tables) if not found.missing else len(tables)
    }
    status = stop = 0
    try:
        with _stops():
            while True:
                progress = estimate.progress(found, due, cores)
                status = _run(command, log, progress, show)
                if status == 0 and progress.due is None:
                    progress.due = 0  # who has nothing to do tells nothing
                if not progress.refused:
                    break
                ownership.wait_for_others()
    except Stopped as stopped:
        stop = stopped.number
    tables = [path for path in tables if path.exists()]
    return Outcome(status, progress, log, tables, folder, stop)


def make_all(
    runs: Sequence[specs.Run],
    cores: int | None = None,
    show: Callable[[Progress], object] = lambda _: None,
) -> None:
    """Make runs without metrics; `show` as in `sweep`.

    A signal that ends this process ends it, after all that was started for the runs.

    Raises
    ------
    SimulationError
        Some did not come to their end; names them.
    """
    outcome = sweep(runs, cores, show=show)
    if outcome.stop:
        signal.raise_signal(outcome.stop)
    if outcome.exit_status:
        lines = outcome.failures()
        said = f"{len(lines)} failed; the log is {outcome.log}" if lines else outcome.end()
        raise SimulationError("\n".join([said, *lines]))


class Stopped(BaseException):
    """A signal asks this process to end."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


@contextmanager
def _stops() -> Iterator[None]:
    """Raise `Stopped` at the first signal that asks this process to end; none that it ignores."""

    def stop(number: int, _frame: object) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in STOPS if is_main}
    before = {number: how for number, how in before.items() if how not in (None, signal.SIG_IGN)}
    try:
        for number in before:
            signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(
    command: list[str], log: Path, progress: Progress, show: Callable[[Progress], object]
) -> int:
    """Run Snakemake, which does not outlive this call; return how it has ended."""
    ours, theirs = os.pipe()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    with log.open("wb") as words:
        process = subprocess.Popen(
            jobs.tied(command), stdout=words, stderr=words, stdin=subprocess.DEVNULL,
            pass_fds=[theirs], env=os.environ | {"PATH": path, EVENTS: str(theirs)},
            start_new_session=True,  # signals come to it from here
        )  # fmt: skip
    os.close(theirs)
    try:
        follow(ours, progress, show)
        return process.wait()
    finally:
        _end(process)
        os.close(ours)


def _end(process: subprocess.Popen) -> None:
    """End a process and those of its session, if it runs yet: as Ctrl-C does, then at once."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_S)
