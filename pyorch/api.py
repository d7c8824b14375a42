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

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.errors import OutputError, SimulationError, SpecError, quoted
from pyorch.runs import names
from pyorch.runs.apart import make
from pyorch.runs.choose import Scenario, choose, named
from pyorch.runs.claim import claim
from pyorch.runs.finished import is_finished
from pyorch.runs.make import failure
from pyorch.runs.run import RunResult, Runs
from pyorch.simulate import modules
from pyorch.spec.limits import MOST_THREADS

if TYPE_CHECKING:
    import pandas as pd

    from pyorch.spec import Run

__all__ = ["load", "results", "run", "sweep"]

_PATHS = (str, os.PathLike)
#: What an argument of this annotation may be, and in words.
_KINDS = {
    Scenario: ((*_PATHS, Mapping), "a path or a mapping"),
    Path | str: (_PATHS, "a path"),
    Path | str | None: ((*_PATHS, type(None)), "a path or None"),
    str: ((str,), "text"),
    str | None: ((str, type(None)), "text or None"),
    int | None: ((int, type(None)), "a whole number or None"),
    Mapping[str, object] | None: ((Mapping, type(None)), "a mapping of key paths or None"),
    bool: ((bool,), "True or False"),
}  # fmt: skip


def _checked(function: Callable) -> Callable:
    """Return a function that says in one line which argument it cannot use."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise SpecError(f"pyorch.{function.__name__}: {error}.") from None
        for name, value in given.items():
            kinds, words = _KINDS[signature.parameters[name].annotation]
            if problem := _problem(value, kinds):
                raise SpecError(
                    f"pyorch.{function.__name__}: {name}: {quoted(value)} {problem}. Give {words}."
                )
        try:
            return function(*args, **kwargs)
        except OSError as error:
            if error.filename is None:
                raise
            raise OutputError(f"{error.filename}: {error.strerror}. Name another one.") from None

    return call


def _problem(value: object, kinds: tuple[type, ...]) -> str:
    """Return why a value is not of these kinds; nothing if it is."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        return f"is a {type(value).__name__}"
    if isinstance(value, _PATHS) and (not os.fspath(value) or "\0" in str(os.fspath(value))):
        return "is empty" if not os.fspath(value) else "has a NUL in it"
    if isinstance(value, Mapping):
        others = [key for key in value if not isinstance(key, str)]
        return f"has a key that is no text, {quoted(others[0])}" if others else ""
    return ""


@_checked
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

    Raises
    ------
    SpecError
        Something in the scenario cannot be used.
    SimulationError
        The simulation did not come to its end.
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
        _make(chosen, folder, threads)
    return RunResult.of(chosen, folder)


@_checked
def sweep(
    scenario: Scenario,
    *,
    scale: str = "laptop",
    variant: str | None = None,
    case: str | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    cores: int | None = None,
) -> Runs:
    """Run every point of a scenario that is not finished yet, side by side; return all of them.

    As ``pyorch sweep`` does, through Snakemake, in ``results/`` of this folder.

    Parameters
    ----------
    scenario : path or mapping
        A YAML file, or what would stand in it.
    scale, variant, case, set
        As in `run`; without `variant` or `case` all of them.
    cores : int, optional
        How many runs at a time; all cores by default.

    Raises
    ------
    SpecError
        Something in the scenario cannot be used; nothing has been run then.
    SimulationError
        A run did not come to its end; the others are finished and are kept.
    """
    from pyorch.workflow import sweep as workflow

    if cores is not None and cores < 1:
        raise SpecError(f"pyorch.sweep: cores: {cores} is no number of cores. Give 1 or more.")
    modules.bring_up_to_date()
    runs = choose(scenario, scale, variant, case, None, set or {}, asks=True)
    names.note(runs, set or {})
    unique = {one.id: one for one in runs}
    workflow.make_all(list(unique.values()), cores)
    return Runs([RunResult.of(one, Path("results") / one.folder) for one in unique.values()])


@_checked
def load(folder: Path | str, results: Path | str = "results") -> RunResult:
    """Return a finished run from its folder, or from its name in the folder of the results."""
    from pyorch.runs.catalog import find

    return RunResult(find(folder, results))


@_checked
def results(folder: Path | str = "results", scenario: str | None = None) -> "pd.DataFrame":
    """Return what is there, one row per run; see `pyorch.runs.catalog.catalog`."""
    from pyorch.runs.catalog import catalog

    return catalog(folder, scenario)


def _make(chosen: "Run", folder: Path, threads: int | None) -> None:
    """Make one run; its messages go to its log, the last of them into the error."""
    log = Path("logs", "simulate", f"{chosen.folder}.log")
    with _one_line() as show:
        end = make(chosen.spec, folder, log, show, threads or chosen.threads)
    if end.stopped:
        raise KeyboardInterrupt
    if end.status:
        raise SimulationError(failure(end, folder))


@contextmanager
def _one_line() -> Iterator[Callable[[str], None]]:
    """Give a function that shows how far a run is, in one line on standard error."""
    shown = []

    def show(line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
        shown.append(line)

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
