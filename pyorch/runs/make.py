# SPDX-License-Identifier: GPL-2.0-only
"""Takes the resolved spec of a run, leaves its folder: every step, each with its file on disk."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyorch import render, traces
from pyorch import spec as specs
from pyorch.runs.finished import is_finished
from pyorch.simulate import process
from pyorch.simulate.process import End
from pyorch.writing import make_folder

#: Of these a folder is cleared before its run begins, so what stands in it is of one run.
RESULTS = ("raw.npz", "manifest.json", "provenance.json")
Simulate = Callable[..., End]


def make(
    spec: dict,
    folder: Path | str,
    log: Path | None = None,
    simulate: Simulate | None = None,
    threads: int = 1,
) -> End:
    """Make everything of one run; return how its simulation has ended.

    The same as the commands ``spec``, ``render``, ``simulate`` and ``traces`` one after another.
    If somebody else is making it now, that is waited for and used.

    Parameters
    ----------
    spec : dict
        Resolved spec.
    folder : path
        Folder of the run; made if it is not there.
    log : path, optional
        Where the messages of the simulation go; to our standard error by default.
    simulate : callable, optional
        ``(script, out, log, threads=) -> End``; a process of its own by default.
    threads : int
        For a run of several domains.

    Raises
    ------
    PyorchError
        A step before or after the simulation cannot be done.
    """
    folder = Path(folder)
    make_folder(folder)
    with alone(folder) as waited:
        if waited and is_finished(spec, folder):
            return End(0, 0.0)
        clear(folder)
        specs.write_resolved(spec, folder / "spec.json")
        render.write_run(spec, folder)
        end = (simulate or process.run)(folder / "scenario.py", folder, log, threads=threads)
        if end.status == 0:
            traces.convert(folder)
    return end


def clear(folder: Path) -> None:
    """Remove what an earlier run has left in a folder, its tables first."""
    for name in [*(f"{table}.parquet" for table in traces.CONTRACTS), *RESULTS]:
        (folder / name).unlink(missing_ok=True)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Let whoever makes the same run at the same time wait; give whether this one had to.

    The kernel lets go of what died.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            waited = False
        except BlockingIOError:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            waited = True
        yield waited
    finally:
        os.close(descriptor)
