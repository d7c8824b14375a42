# SPDX-License-Identifier: GPL-2.0-only
"""Takes the resolved spec of a run, writes its folder: every step, each with its file on disk."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyorch import render, traces
from pyorch import spec as specs
from pyorch.runs.finished import is_finished, seal
from pyorch.simulate import process
from pyorch.simulate.process import End
from pyorch.traces import manifest
from pyorch.writing import make_folder

#: Every finished run has them.
FILES = (
    "spec.json", "scenario.py", "tables.npz", "raw.npz", "provenance.json", manifest.FILE,
    *(f"{table}.parquet" for table in traces.ALWAYS),
)  # fmt: skip
#: Of these a folder is cleared before its run begins, so what stands in it is of one run.
RESULTS = (manifest.FILE, "raw.npz", "provenance.json")
#: Below the folder of a finished run: there it is made again, and takes its place when it is whole.
AGAIN = ".again"
Simulate = Callable[..., End]


def make(
    spec: specs.Spec,
    folder: Path | str,
    log: Path | None = None,
    simulate: Simulate | None = None,
    threads: int = 1,
) -> End:
    """Make everything of one run; return how its simulation has ended.

    The same as the commands ``spec``, ``render``, ``simulate`` and ``traces`` one after another,
    and a record of what has made the result. If somebody else is making it now, that is waited for
    and used. A result that is there is replaced by a complete one only.

    For a process that makes this one run: what it has loaded before counts as what made the run.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    folder : path
        Folder of the run; made if it is not there.
    log : path, optional
        Where the messages of the simulation go; to our standard error by default.
    simulate : callable, optional
        ``(script, out, log, threads=) -> End``; a process of its own by default.
    threads : int
        Of the simulation.

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
        place = folder / AGAIN if manifest.looks_whole(folder) else folder
        make_folder(place)
        clear(place)
        specs.write_resolved(spec, place / "spec.json")
        render.write_run(spec, place)
        end = (simulate or process.run)(place / "scenario.py", place, log, threads=threads)
        if end.status == 0:
            traces.convert(place)
            seal(spec, place)
            if place != folder:
                take(folder, place)
    return end


def was_left(folder: Path) -> bool:
    """Return whether a folder holds a run that ended before it was whole; nobody makes it now."""
    if manifest.looks_whole(folder) or not (folder / "scenario.py").exists():
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def failure(end: End, folder: Path) -> str:
    """Return how a run has failed, its last words, and how to run it alone."""
    place = folder / AGAIN if (folder / AGAIN).exists() else folder
    return end.message(place / "scenario.py", place, folder.resolve().name)


def clear(folder: Path) -> None:
    """Remove what an earlier run has left in a folder, its manifest first."""
    for name in [*RESULTS, *(f"{table}.parquet" for table in traces.CONTRACTS)]:
        (folder / name).unlink(missing_ok=True)
    for path in [*folder.glob("host_*.pcap"), *folder.glob(AGAIN)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def take(folder: Path, place: Path) -> None:
    """Let the result of a folder be the one in a place below it; its manifest comes last."""
    new = set(manifest.read(place)["files"])
    old = set(manifest.read(folder)["files"]) if manifest.looks_whole(folder) else set()
    (folder / manifest.FILE).unlink(missing_ok=True)
    for name in old - new:
        (folder / name).unlink(missing_ok=True)
    for name in [*sorted(new), manifest.FILE]:
        (place / name).replace(folder / name)
    shutil.rmtree(place)


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
