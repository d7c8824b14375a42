# SPDX-License-Identifier: GPL-2.0-only
"""Says how far a sweep is and how long it takes yet, by what Snakemake tells of its jobs."""

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

#: The display is brought up to date at least this often [s].
PERIOD_S = 0.5
RUN_RULE = "simulate"
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
    """How far a sweep is.

    Attributes
    ----------
    total : int
        Runs of the sweep; of these some may be finished from before.
    due : int or None
        Runs that have to be made; unknown until Snakemake has looked.
    done : int
        Of those that are due.
    tables, tables_due : int
        Metrics that are made, and that have to be.
    running : dict
        Names of what runs now by the number of its job.
    failed : list of (rule, name)
        What did not come to its end.
    work : dict
        What each run takes, by its name, in any unit; of those that may have to be made. Without
        it runs are taken to be equally long.
    estimate : str
        How long all may take, in words: from `pyorch.workflow.estimate.line`.
    refused : bool
        Another Snakemake is making some of the same; this one waits for it.
    """

    total: int
    due: int | None = None
    done: int = 0
    tables: int = 0
    tables_due: int = 0
    running: dict[int, str] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    work: dict[str, float] = field(default_factory=dict)
    estimate: str = ""
    refused: bool = False
    _news: list[str] = field(default_factory=list)
    _jobs: dict[int, tuple[str, str]] = field(default_factory=dict)
    _ended_work: dict[str, float] = field(default_factory=dict)
    _first_s: float = 0.0

    def tell(self, event: dict) -> None:
        """Take one event of `pyorch.workflow.snakemake.tell_events`, or of `say`."""
        if "jobs" in event and self.due is None:
            self.due = event["jobs"].get(RUN_RULE, 0)
            self.tables_due = event["jobs"].get("metrics", 0)
        self.refused = self.refused or "refused" in event
        self._news += [event["said"]] if "said" in event else []
        if "job" in event:
            given = event["wildcards"]
            parts = [given.get("scenario", ""), given.get("run") or given.get("metric") or ""]
            self._jobs[event["job"]] = event["rule"], "/".join(filter(None, parts))
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
        if rule == RUN_RULE:
            self._ended_work[name] = self.work.get(name, 1)
        if failed and (rule, name) not in self.failed:
            self.failed.append((rule, name))
            self._news.append(f"failed: {name}")
        elif not failed:
            self.done += rule == RUN_RULE
            self.tables += rule == "metrics"

    def news(self) -> list[str]:
        """Return what the user should read, one line each: what has come since the last call."""
        news, self._news = self._news, []
        return news

    @property
    def seconds_left(self) -> float | None:
        """Wall time that the other runs will take at the pace so far [s]; None before there is one.

        Which runs have to be made only Snakemake knows; those that have not ended are taken to be
        like the mean of all that may be among them.
        """
        if not self._ended_work or self.due is None:
            return None
        open_ = [work for name, work in self.work.items() if name not in self._ended_work]
        mean = sum(open_) / len(open_) if open_ else 1
        left = (self.due - len(self._ended_work)) * mean
        return (time.monotonic() - self._first_s) / sum(self._ended_work.values()) * left


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
