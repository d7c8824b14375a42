# SPDX-License-Identifier: GPL-2.0-only
"""One scenario without Snakemake: all steps for one run, then a summary on the screen."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.plugins import load
from pyorch.render import input_tables
from pyorch.runs import names
from pyorch.runs.apart import make
from pyorch.runs.choose import choose as runs_of
from pyorch.runs.choose import named
from pyorch.runs.claim import claim
from pyorch.runs.finished import NOT_THERE, is_finished, why_again
from pyorch.runs.make import failure, was_left
from pyorch.runs.remarks import remarks
from pyorch.simulate import modules
from pyorch.spec.overrides import parse_assignment
from pyorch.writing import write_bytes

if TYPE_CHECKING:
    from pyorch.runs.run import RunResult


@dataclass(frozen=True)
class Choice:
    """What the options that all commands for one scenario share leave of it."""

    scenario: Path
    sets: list[str]
    seed: int | None = None
    variant: str | None = None
    case: str | None = None
    scale: str = "laptop"
    #: Whether the engine checks attributes: that executes libraries of the folder.
    asks: bool = False

    @property
    def assignments(self) -> list[tuple[str, object]]:
        """Key paths with their values, as --set has them."""
        return [parse_assignment(text) for text in self.sets]

    @cached_property
    def runs(self) -> list[specs.Run]:
        """The runs that are left, in the order of the file."""
        return runs_of(
            self.scenario, self.scale, self.variant, self.case, self.seed, self.assignments,
            asks=self.asks,
        )  # fmt: skip

    def note(self, runs: list[specs.Run]) -> None:
        """Write down what these runs are called, and what was changed of their scenario."""
        names.note(runs, self.assignments, self.seed)


def run(choice: Choice, out: Path | None, force: bool = False, threads: int | None = None) -> int:
    """Run one point of a scenario unless it is finished; return the exit status."""
    modules.bring_up_to_date()
    chosen = choose(choice)
    folder = out or Path("results") / chosen.folder
    if out:
        claim(out)
    else:
        choice.note([chosen])
    again = why_again(chosen.spec, folder)
    if not force and not again:
        typer.echo(f"{folder} is finished; --force runs it again.", err=True)
    else:
        if was_left(folder):
            typer.echo(
                f"{folder} holds an unfinished run, as a kill leaves one; it is made anew.",
                err=True,
            )
        elif again != NOT_THERE:
            typer.echo(f"{folder} is run again{': ' if again else ''}{again}.", err=True)
        say_remarks([chosen])
        from pyorch.workflow import estimate  # a finished run does without

        if warning := estimate.of_one_long(chosen):
            typer.echo(warning, err=True)
        end = make(chosen.spec, folder, threads=threads or chosen.threads)
        if end.status < 0:
            typer.echo(failure(end, folder), err=True)
        if end.status:
            return end.exit_status
    from pyorch.runs.run import RunResult  # the tables of a result take a second to import

    result = RunResult.of(chosen, folder)
    show(result, f"{chosen.scenario} {named(chosen)}, scale {chosen.scale}: {chosen.id}")
    say_ties(result)
    return say_unfinished(result)


def say_remarks(runs: list[specs.Run]) -> None:
    """Print what files of others say and these runs do not follow."""
    for line in remarks(runs):
        typer.echo(f"note: {line}", err=True)


def run_all(choice: Choice, jobs: int) -> int:
    """Run every point that these options leave, several at a time; return the exit status."""
    from pyorch.cli.sweep import display, report
    from pyorch.runs.run import RunResult
    from pyorch.workflow.sweep import sweep

    modules.bring_up_to_date()
    chosen = choice.runs
    choice.note(chosen)
    say_remarks(chosen)
    with display() as show_progress:
        outcome = sweep(chosen, jobs, show=show_progress)
    for one in {run.id: run for run in chosen}.values():
        folder = Path("results") / one.folder
        if is_finished(one.spec, folder):
            typer.echo(f"{folder}  {named(one)}  {_in_short(RunResult(folder))}")
    return report(chosen, outcome)


def _in_short(result: "RunResult") -> str:
    """Return what came out of a run in a few words."""
    from pyorch.runs.summary import in_words

    said = in_words(result.summary)
    names = [name for name in said if name.startswith(("slowest flow", "slowdown mean"))]
    return ", ".join(f"{name}: {said[name]}" for name in names) or f"flows: {said['flows']}"


def say_ties(result: "RunResult") -> None:
    """Say, if frames found no room, that ties may have decided whose they were."""
    if result.spec.link.jitter_ps:
        return
    lost = int(result._run.columns("ports", ["dropped_buffer_frames"]).sum().iloc[0])
    if lost and "ns3::HostJitter" not in {one.type for one in result.spec.switch.programs}:
        typer.echo(
            f"{lost} frames found no room in a buffer or queue. If senders began together, the"
            " order of ports may decide who loses: switch.programs: [{type: ns3::HostJitter}]"
            " breaks such ties. See docs/limitations.md.",
            err=True,
        )


def say_unfinished(result: "RunResult") -> int:
    """Return 1, with a word, if a flow of a run did not finish."""
    from pyorch.metrics._run import remedy

    done, total = (result.outcome[f"flows_{name}"] for name in ("done", "total"))
    if done == total:
        return 0
    why = result.outcome["stop_reason"]
    what = remedy(result.spec) if why == "stop time" else "see above why"
    typer.echo(
        f"{result.folder}: {total - done} of {total} flows did not finish ({why}); {what}.",
        err=True,
    )
    return 1


def choose(choice: Choice) -> specs.Run:
    """Return the first run that these options leave, and say so if there are more."""
    found, scenario, scale = choice.runs, choice.scenario, choice.scale
    if len(found) > 1:
        typer.echo(
            f"{scenario}: this is {named(found[0])}, the first of {len(found)} runs of this choice"
            f" at scale {scale}. Choose with {'--case, ' * bool(found[0].case)}--variant, --seed"
            f" and --set; all of the scenario: pyorch sweep {scenario} --scale {scale}",
            err=True,
        )
    return found[0]


def export(format_: str, choice: Choice, out: Path) -> list[Path]:
    """Write the network, the flows or the tasks of one run for another simulator; return where.

    Raises
    ------
    SpecError
        With the scenario: what the format cannot say.
    """
    module = load("pyorch.export", format_)
    chosen, scenario = choose(choice), choice.scenario
    try:
        tables = input_tables(chosen.spec)
        contents = module.files(chosen.spec, tables)
    except SpecError as error:
        raise SpecError(f"{scenario}: {error}") from None
    start_ps = tables["flows"]["start_ps"]
    off_ps = abs(module.starts_there(start_ps) - start_ps)
    if off_ps.any():
        typer.echo(
            f"{scenario}: workload: {module.NAME} reads {(off_ps > 0).sum()} of {len(off_ps)}"
            f" starts with an error of up to {off_ps.max()} ps.",
            err=True,
        )
    for remark in getattr(module, "remarks", lambda _: [])(tables):
        typer.echo(f"{scenario}: workload: {remark}", err=True)
    claim(out, chosen.spec)
    for name, held in contents.items():
        data = held.encode() if isinstance(held, str) else held
        write_bytes(out / name, data)
    return [out / name for name in contents]


def show(result: "RunResult", title: str) -> None:
    """Print a summary table of a finished run, and what tables it has."""
    from rich.console import Console
    from rich.table import Table

    from pyorch.runs.summary import by_workload, in_words

    table = Table(title=title)
    table.add_column("quantity")
    table.add_column("value", justify="right")
    for name, value in (in_words(result.summary) | by_workload(result)).items():
        table.add_row(name, value)
    Console(width=100).print(table)
    captures = [path.name for path in sorted(result.folder.glob("host_*.pcap"))]
    files = [*(f"{name}.parquet" for name in result.tables), *captures]
    typer.echo(f"In {result.folder}: {', '.join(files)}")
