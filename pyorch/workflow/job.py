# SPDX-License-Identifier: GPL-2.0-only
"""One job of Snakemake: everything of one run, from its line in the plan to its tables."""

import sys
from collections.abc import Callable
from pathlib import Path

from pyorch import jobs, origin
from pyorch.errors import PyorchError
from pyorch.runs.make import Simulate, failure, make
from pyorch.workflow import marks
from pyorch.workflow.planfile import planned
from pyorch.writing import make_folder


def run(
    plan: str,
    folder: str,
    log: str,
    tell: Callable[[str], object],
    simulate: Simulate | None = None,
    threads: str = "1",
) -> int:
    """Make one run; return the exit status, after saying what went wrong.

    Parameters
    ----------
    plan : str
        File of the plan.
    folder : str
        Of the run, below results/.
    log : str
        Where the messages of the simulation go, and ours if it fails.
    tell : callable
        Is given the message of a failure.
    simulate : callable, optional
        As in `pyorch.runs.make.make`.
    threads : str
        That Snakemake gives the job.
    """
    out = Path("results", folder)
    try:
        end = make(planned(plan, folder).spec, out, Path(log), simulate, int(threads))
        if end.status == 0:
            marks.put(folder)
    except PyorchError as error:
        say(f"Run {folder}: {error}", Path(log), tell)
        return 1
    if end.status and not end.stopped:
        say(failure(end, out), Path(log), tell)
    return end.exit_status


def say(message: str, log: Path, tell: Callable[[str], object]) -> None:
    """Tell a message, and write it to the end of the log of its run."""
    make_folder(log.parent)
    with log.open("a") as file:
        file.write(f"{message}\n")
    tell(message)


def main(arguments: list[str]) -> int:
    """Run in this process, with the simulation in one of its own."""
    jobs.join()
    origin.watch()
    plan, folder, log, threads = arguments
    return run(plan, folder, log, lambda text: print(text, file=sys.stderr), threads=threads)
