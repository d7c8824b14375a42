# SPDX-License-Identifier: GPL-2.0-only
"""Takes what is to be written, leaves a file that is there whole or not at all."""

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pyorch.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_atomically(path: Path | str, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then give it its name.

    Parameters
    ----------
    path : path
        Its folder exists already; what it held is replaced only by a complete file.
    write : callable
        Is given the open file.

    Raises
    ------
    OutputError
        The disk is full, or the file cannot be written for another reason of the system.
    """
    path = Path(path)
    sweep(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with _locked(temporary) as file:
            write(file)
            file.flush()
            temporary.replace(path)
    except OSError as error:
        raise OutputError(_sentence(path, error)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def sweep(folder: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote to a folder."""
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError), path.open("rb") as file:  # or it is being written
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _locked(path: Path) -> BinaryIO:
    """Return a new file that this process has locked: the kernel lets go when it dies."""
    while True:
        file = path.open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # it was swept before it was locked


def write_text(path: Path | str, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_atomically(path, lambda file: file.write(text.encode()))


def make_folder(path: Path | str) -> None:
    """Make a folder and those above it, if they are not there.

    Raises
    ------
    OutputError
        It cannot be made.
    """
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(_sentence(Path(path), error)) from None


def expect_room(folder: Path, n_bytes: int) -> None:
    """Raise OutputError if a folder has no room for what will be written at the end.

    Parameters
    ----------
    folder : Path
        Is there already.
    n_bytes : int
        The least that will be written [byte].
    """
    free = shutil.disk_usage(folder).free
    if free < n_bytes:
        raise OutputError(
            f"{folder}: the result needs at least {_mb(n_bytes)}, but the disk has {_mb(free)}"
            " left. Nothing was run. Free some space and start again."
        )


def _sentence(path: Path, error: OSError) -> str:
    """Return which file could not be written, why, and what to do."""
    why = os.strerror(error.errno) if error.errno else str(error)
    advice = "Free some space" if error.errno in _FULL else "Make it possible"
    return f"{path}: cannot be written ({why}). {advice} and start again; what is finished is kept."


def _mb(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
