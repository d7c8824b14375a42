# SPDX-License-Identifier: GPL-2.0-only
"""A sweep on the screen: one display of how far it is, then what failed and what was made."""

import hashlib
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from pyorch import spec as specs
from pyorch.errors import PluginError, counted
from pyorch.simulate import modules
from pyorch.workflow import sweep as workflow
from pyorch.workflow.display import is_watched, of_runs
from pyorch.workflow.events import Progress, line

if TYPE_CHECKING:
    from pyorch.cli.run import Choice

#: Between two lines where there is no terminal [s].
PLAIN_INTERVAL_S = 10.0


def sweep(choice: "Choice", cores: int | None, metrics: list[str] | None) -> int:
    """Make every run and metric of a scenario; return the exit status."""
    modules.bring_up_to_date()
    from pyorch.cli.run import say_remarks

    runs = choice.runs
    choice.note(runs)
    say_remarks(runs)
    names = workflow.metrics_of(runs) if metrics is None else [m for m in metrics if m != "none"]
    for name in names:
        if refusal := workflow.refusal_of(name, runs):
            raise PluginError(f"--metric {name}: {refusal}")
    folder = table_folder(choice.scale, choice.variant, choice.case, choice.assignments)
    with display() as show:
        outcome = workflow.sweep(runs, cores, names, folder, show)
    return report(runs, outcome)


def table_folder(
    scale: str, variant: str | None, case: str | None, assignments: list[tuple[str, object]]
) -> str:
    """Return the folder of the tables: those of a changed scenario never replace its own."""
    if variant is None and case is None and not assignments:
        return scale
    only = [variant] if case is None else [variant, case]
    text = json.dumps([*only, assignments], sort_keys=True)
    return f"{scale}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def report(runs: list[specs.Run], outcome: workflow.Outcome) -> int:
    """Say what failed and where the tables are; return the exit status."""
    progress = outcome.progress
    failures = outcome.failures()
    for failure in failures:
        typer.echo(failure, err=True)
    if outcome.stop or outcome.status and not failures:
        typer.echo(outcome.end(), err=True)
    counts = [f"{counted(progress.done, 'run')} made"]
    if progress.due is not None:
        counts.append(f"{len({run.id for run in runs}) - progress.due} finished before")
    counts.append(f"{sum(rule == 'simulate' for rule, _ in progress.failed)} failed")
    typer.echo(f"{runs[0].scenario}: {', '.join(counts)}. Log: {outcome.log}")
    for path in outcome.tables:
        typer.echo(path)
    return outcome.exit_status


def display() -> AbstractContextManager[Callable[[Progress], None]]:
    """Give a function that shows a progress: a bar on a terminal, now and then a line elsewhere."""
    return of_runs() if is_watched() else nullcontext(_plain())


def _plain() -> Callable[[Progress], None]:
    import time

    said: dict[str, Any] = {"when": time.monotonic(), "refused": False, "estimate": ""}

    def show(progress: Progress) -> None:
        if progress.estimate != said["estimate"]:
            said["estimate"] = progress.estimate
            print(progress.estimate, file=sys.stderr, flush=True)
        for news in progress.news():
            print(news, file=sys.stderr, flush=True)
        waits = progress.refused and not said["refused"]
        said["refused"] = progress.refused
        if waits or time.monotonic() - said["when"] >= PLAIN_INTERVAL_S:
            said["when"] = time.monotonic()
            print(line(progress), file=sys.stderr, flush=True)

    return show
