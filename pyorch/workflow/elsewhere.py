# SPDX-License-Identifier: GPL-2.0-only
"""Makes the missing runs of a sweep through an executor: of Python, Dask, Ray, or of one's own."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait

from pyorch import spec as specs
from pyorch.errors import SimulationError
from pyorch.workflow import chunks, estimate, parcel
from pyorch.workflow.events import PERIOD_S, RUN_RULE, Progress

#: Estimated CPU of the runs that an executor is given at a time [s]. They start two processes,
#: which takes two.
PIECE_S = 15.0


def make_all(
    runs: Sequence[specs.Run],
    executor: Executor,
    show: Callable[[Progress], object] = lambda _: None,
) -> None:
    """Make runs that are not finished; they come back as bytes, so no file system is shared.

    Parameters
    ----------
    runs : sequence of Run
        Of one scenario, at one scale.
    executor : Executor
        Is given `pyorch.workflow.parcel.work` and a parcel, for several runs at a time.
    show : callable
        Is given the progress whenever it has changed, and now and then.

    Raises
    ------
    SimulationError
        Some did not come to their end; names them. The others are finished and are kept.
    """
    found = estimate.look(runs)
    its = estimate.costs(found)
    progress = Progress(
        len(runs),
        work={name: cost.cpu_s for name, cost in its.items()},
        estimate=estimate.line(found, its, None),
    )
    numbers = {run.folder: number for number, run in enumerate(found.missing)}
    progress.tell({"jobs": {RUN_RULE: len(numbers)}})
    for run in found.missing:
        wildcards = {"scenario": run.scenario, "run": run.id}
        progress.tell({"job": numbers[run.folder], "rule": RUN_RULE, "wildcards": wildcards})
    progress.tell({"started": []})
    show(progress)
    futures: dict[Future, list[specs.Run]] = {}
    failed: dict[str, str] = {}
    try:
        for piece in chunks.cut(found, PIECE_S):
            futures[executor.submit(parcel.work, parcel.pack(piece))] = piece
        waiting = set(futures)
        while waiting:
            ended, waiting = wait(waiting, PERIOD_S, FIRST_COMPLETED)
            for future in ended:
                failures = _come_back(future, futures[future])
                failed |= failures
                _tell(progress, futures[future], failures, numbers)
            show(progress)
    finally:
        for future in futures:
            future.cancel()
    if failed:
        lines = (f"{folder}: {words}" for folder, words in failed.items())
        raise SimulationError("\n".join([f"{len(failed)} failed", *lines]))


def _come_back(future: Future, runs: list[specs.Run]) -> dict[str, str]:
    """Put what a piece of work has made into results/; return why which runs are missing."""
    try:
        return parcel.unpack(future.result(), runs)
    except (Exception, CancelledError) as error:  # whatever an executor may raise
        said = str(error).partition("\n")[0] or type(error).__name__
        return dict.fromkeys((run.folder for run in runs), f"it did not come back: {said}")


def _tell(
    progress: Progress,
    runs: list[specs.Run],
    failed: Mapping[str, str],
    numbers: Mapping[str, int],
) -> None:
    for run in runs:
        what = "failed" if run.folder in failed else "finished"
        progress.tell({what: numbers[run.folder]})
