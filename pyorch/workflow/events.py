# SPDX-License-Identifier: GPL-2.0-only
"""Says how far runs, tables and figures are, and how long the others take, by Snakemake's jobs."""

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyorch.errors import counted
from pyorch.simulate.progress import duration_text

#: The display is brought up to date at least this often [s].
PERIOD_S = 0.5
RUN_RULE = "simulate"
#: CPU of a job of another rule [s]. Measured beside other work: 3.3 and 3.7 of two tables, 2.0 to
#: 9.1 of seven figures, their mean 4.6.
OTHER_S = {"metrics": 3.0, "figure": 5.0, "benchmarks": 3.0, "reproduction": 5.0}
#: The first jobs wait for what all later ones share, so the pace of the first tells little [s].
PRIOR_S = 60.0
#: Runs that are named while they run.
MOST_NAMES = 4
#: Environment of a Snakemake and of its worker: the descriptor to which they tell what happens, a
#: line of JSON each.
EVENTS = "PYORCH_EVENTS"

#: Descriptors of who wants to know.
listening: list[int] = []


def listen() -> bool:
    """Find out whether who has started this process wants to know what happens; return that."""
    if descriptor := os.environ.pop(EVENTS, ""):
        listening.append(int(descriptor))
    return bool(listening)


def tell(event: dict) -> None:
    """Tell an event to who wants to know."""
    for descriptor in listening:
        with contextlib.suppress(OSError):  # who listened may be gone
            os.write(descriptor, json.dumps(event).encode() + b"\n")


def say(text: str) -> None:
    """Say something to the user, wherever the screen is."""
    print(text, file=sys.stderr, flush=True)
    tell({"said": text})


@dataclass
class Progress:
    """How far a sweep, or a whole workflow, is.

    Attributes
    ----------
    total : int
        Runs that are asked for; of these some may be finished from before.
    due : int or None
        Runs that have to be made; unknown until Snakemake has looked.
    done : int
        Of those that are due.
    others, others_due : int
        Tables and figures that are made, and that have to be.
    running : dict
        Names of what runs now by the number of its job.
    failed : list of (rule, name)
        What did not come to its end.
    work : dict
        CPU of each run that may have to be made, by its name [s]. Without it runs are taken to be
        equally long, and nothing else to take time.
    cores : int
        How many jobs at a time, where `work` says seconds; then the estimate counts beside the pace
        so far, as much as `PRIOR_S` of work.
    estimate : str
        How long all may take, in words: from `pyorch.workflow.estimate.line`.
    refused : bool
        Another Snakemake is making some of the same; this one waits for it.
    chunks : mapping
        Names of the runs of each rule that makes several.
    """

    total: int
    due: int | None = None
    done: int = 0
    others: int = 0
    others_due: int = 0
    running: dict[int, str] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    work: dict[str, float] = field(default_factory=dict)
    cores: int = 0
    estimate: str = ""
    refused: bool = False
    chunks: Mapping[str, list[str]] = field(default_factory=dict)
    _news: list[str] = field(default_factory=list)
    _jobs: dict[int, tuple[str, str]] = field(default_factory=dict)
    _ended_work: dict[str, float] = field(default_factory=dict)
    _others_s: float = 0.0
    _others_left_s: float = 0.0
    _first_s: float = 0.0

    def tell(self, event: dict) -> None:
        """Take one event of `pyorch.workflow.snakemake.tell_events`, or of `say`."""
        if "jobs" in event and self.due is None:
            counts = event["jobs"]
            self.due = counts.get(RUN_RULE, 0)
            self.due += sum(len(self.chunks.get(rule, [])) for rule in counts)
            self.others_due = sum(counts.get(rule, 0) for rule in OTHER_S)
            self._others_left_s = sum(counts.get(rule, 0) * took for rule, took in OTHER_S.items())
        self.refused = self.refused or "refused" in event
        self._news += [event["said"]] if "said" in event else []
        if "job" in event:
            given = event["wildcards"]
            parts = (given.get(part, "") for part in ("scenario", "run", "metric", "figure"))
            name = "/".join(filter(None, parts))
            name = event["rule"] if event["rule"] in self.chunks else name
            self._jobs[event["job"]] = event["rule"], name
        for job in event.get("started", []):
            self._first_s = self._first_s or time.monotonic()
            rule, name = self._jobs.get(job, ("", ""))
            if name:
                self.running[job] = name
        for what in ("finished", "failed"):
            if what in event:
                self._ended(event[what], what == "failed")

    def _ended(self, job: int, failed: bool) -> None:
        rule, name = self._jobs.get(job, ("", ""))
        self.running.pop(job, None)
        runs = [name] if rule == RUN_RULE else self.chunks.get(rule, [])
        if runs:
            self._ended_work |= {run: self.work.get(run, 1) for run in runs}
        elif rule in OTHER_S and self.work:
            self._others_s += OTHER_S[rule]
            self._others_left_s -= OTHER_S[rule]
        if failed and (rule, name) not in self.failed:
            self.failed.append((rule, name))
            self._news.append(f"failed: {name}")
        elif not failed:
            self.done += len(runs)
            self.others += rule in OTHER_S

    def news(self) -> list[str]:
        """Return what the user should read, one line each: what has come since the last call."""
        news, self._news = self._news, []
        return news

    @property
    def seconds_left(self) -> float | None:
        """Wall time that the other jobs will take at the pace so far [s]; None before there is one.

        Which runs have to be made only Snakemake knows; those that have not ended are taken to be
        like the mean of all that may be among them.
        """
        ended = sum(self._ended_work.values()) + self._others_s
        if not ended or self.due is None:
            return None
        open_ = [work for name, work in self.work.items() if name not in self._ended_work]
        mean = sum(open_) / len(open_) if open_ else 1
        left = (self.due - len(self._ended_work)) * mean
        left += self._others_left_s if self.work else 0
        wall_s = time.monotonic() - self._first_s
        if self.cores:
            return (wall_s + PRIOR_S / self.cores) / (ended + PRIOR_S) * left
        return wall_s / ended * left


def line(progress: Progress) -> str:
    """Return how far everything is, in words."""
    if progress.refused:
        return "waiting until another Snakemake, which is making some of the same, has ended"
    if progress.due is None:
        return f"{counted(progress.total, 'run')}: looking which of them are there"
    parts = [f"{progress.done}/{progress.due} runs"]
    if progress.failed:
        parts.append(f"{len(progress.failed)} failed")
    if progress.others_due and (progress.others or progress.done == progress.due):
        parts.append(f"{progress.others}/{progress.others_due} tables and figures")
    if left_s := progress.seconds_left:
        parts.append(f"about {duration_text(left_s)} left")
    names = list(progress.running.values())
    if names:
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        parts.append(f"now {', '.join(names[:MOST_NAMES])}{more}")
    return ", ".join(parts)


def follow(descriptor: int, progress: Progress, show: Callable[[Progress], object]) -> None:
    """Read events until their writer ends."""
    rest = b""
    while True:
        show(progress)
        ready, _, _ = select.select([descriptor], [], [], PERIOD_S)
        if not ready:
            continue
        words = os.read(descriptor, 65536)
        if not words:
            show(progress)
            return
        *lines, rest = (rest + words).split(b"\n")
        for line in lines:
            progress.tell(json.loads(line))
