# SPDX-License-Identifier: GPL-2.0-only
"""pyorch from Python: the same names, checks and cache as the command line.

    import pyorch

    one = pyorch.run("scenarios/incast.yaml", scale="smoke", seed=3, set={"link.rate": "400 Gb/s"})
    one.summary, one.flows, one.ports
    many = pyorch.sweep("scenarios/incast.yaml", scale="smoke")
    many.table, many.metric("slowdown")
    pyorch.load("results/incast/s3-0123456789")
    pyorch.results()

Simulations run in processes of their own; this one never loads ns-3.
"""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.calls import checked
from pyorch.errors import SimulationError, SpecError
from pyorch.runs import names
from pyorch.runs.apart import make
from pyorch.runs.choose import Scenario, choose, named
from pyorch.runs.claim import claim
from pyorch.runs.finished import is_finished
from pyorch.runs.make import failure
from pyorch.runs.remarks import remarks
from pyorch.runs.run import RunResult, Runs
from pyorch.simulate import modules
from pyorch.spec.limits import MOST_THREADS

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    from pyorch.spec import Run

__all__ = ["load", "results", "run", "sweep"]


@checked
def run(
    scenario: Scenario,
    *,
    scale: str = "laptop",
    variant: str | None = None,
    case: str | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002, the word of the command line
    out: Path | str | None = None,
    results: Path | str = "results",
    force: bool = False,
    threads: int | None = None,
    progress: bool = True,
) -> RunResult:
    """Run one point of a scenario, unless that has been done; return its result.

    Parameters
    ----------
    scenario : path or mapping
        A YAML file, or what would stand in it.
    scale : str
        ``smoke``, ``laptop`` or ``paper``.
    variant, case : str, optional
        Name of a variant and of a case; the first, with a warning, if there are several.
    seed : int, optional
        Instead of the first one of the scenario.
    set : mapping, optional
        Key path to value: ``{"link.rate": "400 Gb/s"}``.
    out : path, optional
        Folder of the run; ``<results>/<scenario>/<run>`` by default.
    results : path
        Folder of the results.
    force : bool
        Run it again although it is finished.
    threads : int, optional
        Of the simulation, instead of those of the scenario; they change no result.
    progress : bool
        Show how far it is, on a terminal or in a notebook.

    Returns
    -------
    RunResult
        Its tables are read when they are asked for.

    Raises
    ------
    SpecError
        Something in the scenario cannot be used.
    SimulationError
        The simulation did not come to its end.

    Examples
    --------
    >>> import pyorch
    >>> few = {"workload.senders": 4}
    >>> one = pyorch.run("scenarios/incast.yaml", scale="smoke", seed=1, set=few)
    >>> one.summary["flows"], one.summary["stop_reason"]
    (4, 'all flows done')
    """
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise SpecError(f"pyorch.run: threads: {threads} is none of 1 to {MOST_THREADS}.")
    modules.bring_up_to_date()
    runs = choose(scenario, scale, variant, case, seed, set or {}, asks=True)
    chosen = runs[0]
    if len(runs) > 1:
        warnings.warn(
            f"{len(runs)} runs at scale {scale}; this is {named(chosen)}."
            " Choose with variant, case, seed and set, or take pyorch.sweep for all.",
            stacklevel=3,
        )
    folder = Path(out) if out else Path(results) / chosen.folder
    if out:
        claim(folder)
    else:
        names.note([chosen], set or {}, seed, results)
    if force or not is_finished(chosen.spec, folder):
        _make(chosen, folder, threads, progress)
    return RunResult.of(chosen, folder)


@checked
def sweep(
    scenario: Scenario,
    *,
    scale: str = "laptop",
    variant: str | None = None,
    case: str | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    cores: int | None = None,
    executor: "Executor | None" = None,
    progress: bool = True,
) -> Runs:
    """Run every point of a scenario that is not finished yet, side by side; return all of them.

    As ``pyorch sweep`` does, through Snakemake, in ``results/`` of this folder; or through an
    executor, maybe on other machines.

    Parameters
    ----------
    scenario : path or mapping
        A YAML file, or what would stand in it.
    scale, variant, case, set
        As in `run`; without `variant` or `case` all of them.
    cores : int, optional
        How many runs at a time; all cores by default.
    executor : concurrent.futures.Executor, optional
        Makes the runs in place of Snakemake: a ``ProcessPoolExecutor``, that of Dask's client, or
        one of your own. It is given runs as bytes and gives back their files as bytes, so its
        machines share no file system with this one. They need this pyorch, with its modules.
    progress : bool
        Show what runs, how many are done and how long the others take, on a terminal or in a
        notebook.

    Returns
    -------
    Runs
        In the order of the scenario, each once.

    Raises
    ------
    SpecError
        Something in the scenario cannot be used; nothing has been run then.
    SimulationError
        A run did not come to its end; the others are finished and are kept.

    Examples
    --------
    >>> many = pyorch.sweep("scenarios/incast.yaml", scale="smoke")
    >>> len(many)  # 3 numbers of senders, 3 seeds
    9
    >>> many.table.groupby("workload.senders")["slowest_fct_ps"].max().is_monotonic_increasing
    True
    """
    from pyorch.workflow import display, elsewhere
    from pyorch.workflow import sweep as workflow

    if cores is not None and cores < 1:
        raise SpecError(f"pyorch.sweep: cores: {cores} is no number of cores. Give 1 or more.")
    if cores is not None and executor is not None:
        raise SpecError("pyorch.sweep: cores: an executor has cores of its own. Give one of both.")
    modules.bring_up_to_date()
    runs = choose(scenario, scale, variant, case, None, set or {}, asks=True)
    names.note(runs, set or {})
    for line in remarks(runs):
        warnings.warn(line, stacklevel=3)
    unique = {one.id: one for one in runs}
    with display.of_runs(progress) as show:
        if executor is None:
            workflow.make_all(list(unique.values()), cores, show)
        else:
            elsewhere.make_all(list(unique.values()), executor, show)
    return Runs([RunResult.of(one, Path("results") / one.folder) for one in unique.values()])


@checked
def load(folder: Path | str, results: Path | str = "results") -> RunResult:
    """Return a finished run from its folder, or from its name in the folder of the results.

    Parameters
    ----------
    folder : path
        Folder, ``scenario/run``, name of the run, or the start of that if no other begins so.
    results : path
        Folder of the results.

    Returns
    -------
    RunResult
        Its tables are read when they are asked for.

    Raises
    ------
    TraceError
        No run is called so, or several are.

    Examples
    --------
    >>> [name, *_] = pyorch.results(columns=["run"])["run"]
    >>> pyorch.load(name).id == pyorch.load(f"results/incast/{name}").id == name
    True
    """
    from pyorch.runs.catalog import find

    return RunResult(find(folder, results))


@checked
def results(
    folder: Path | str = "results",
    scenario: str | None = None,
    *,
    where: Mapping[str, object] | None = None,
    columns: Sequence[str] | None = None,
) -> "pd.DataFrame":
    """Return what is there, one row per run.

    Parameters
    ----------
    folder : path
        Folder of the results.
    scenario : str, optional
        Only the runs of this one.
    where : mapping, optional
        Only the runs whose column, parameter or number of the summary has this value, or one of
        several: ``{"variant": "ndp", "seed": [1, 2], "link.rate": "400 Gb/s"}``.
    columns : sequence of str, optional
        These columns, parameters and numbers of the summary.

    Returns
    -------
    DataFrame, n_runs rows
        With `columns` just these, a parameter by its full name: ``link.rate_bps`` for
        ``link.rate``. Without: which run it is, its state, size and cost, and the parameters in
        which the runs of a scenario differ; see `pyorch.runs.catalog.catalog`.

    Raises
    ------
    TraceError
        There is no such folder.
    SpecError
        No run has a column of that name.

    Examples
    --------
    >>> chosen = {"workload.senders": [4, 8], "seed": 1}
    >>> pyorch.results(scenario="incast", where=chosen, columns=["workload.senders", "flows_done"])
       workload.senders  flows_done
    0                 4           4
    1                 8           8
    """
    from pyorch.runs.catalog import catalog

    return catalog(folder, scenario, where, columns)


def _make(chosen: "Run", folder: Path, threads: int | None, progress: bool) -> None:
    """Make one run; its messages go to its log, the last of them into the error."""
    from pyorch.workflow import display, estimate

    for line in remarks([chosen]):
        warnings.warn(line, stacklevel=4)
    if warning := estimate.of_one_long(chosen):
        warnings.warn(warning, stacklevel=4)
    log = Path("logs", "simulate", f"{chosen.folder}.log")
    with display.one_line(progress) as show:
        end = make(chosen.spec, folder, log, show, threads or chosen.threads)
    if end.stopped:
        raise KeyboardInterrupt
    if end.status:
        raise SimulationError(failure(end, folder))
