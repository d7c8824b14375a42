# SPDX-License-Identifier: GPL-2.0-only
"""Writes files that are there whole or not at all."""

import contextlib
import errno
import fcntl
import glob
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pyorch.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT)
#: What a file system, or a kernel, without files that have no name says.
_NO_NAMELESS = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)
#: Names of temporary files end so; nothing else is ever removed.
_OURS = ".pyorch.tmp"


def write_atomically(path: Path | str, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file without a name, then let it take the place of `path`.

    Who dies while it writes leaves nothing. Where the file system has no such files (NFS, FUSE),
    the file is called ``.NAME.PID.pyorch.tmp`` until it is whole, and what the dead have left of
    that name goes when NAME is written again.

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
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_OURS}")
    try:
        _sweep(path)
        with _nameless(path.parent) or _locked(temporary) as file:
            write(file)
            file.flush()
            if os.fstat(file.fileno()).st_nlink == 0:
                _name(file, temporary)  # no system call replaces one file by one without a name
            temporary.replace(path)
    except OSError as error:
        raise OutputError(_sentence(path, error)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _nameless(folder: Path) -> BinaryIO | None:
    """Return a new file that has no name yet, or None where there are none."""
    try:
        file = open(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")  # noqa: SIM115
    except OSError as error:
        if error.errno in _NO_NAMELESS:
            return None
        raise
    if not os.path.exists(_link_to(file)):
        file.close()  # without /proc it could never get a name
        return None
    return file


def _name(file: BinaryIO, path: Path) -> None:
    """Give a file without a name one, locked, so that nobody sweeps it."""
    fcntl.flock(file, fcntl.LOCK_EX)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        # With a folder Python calls linkat, which follows /proc to the file; link does not.
        os.link(_link_to(file), path.name, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _link_to(file: BinaryIO) -> str:
    return f"/proc/self/fd/{file.fileno()}"


def _sweep(path: Path) -> None:
    """Remove what processes that were killed while they wrote this very file have left."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{_OURS}"):
        if left.name.removesuffix(_OURS).rpartition(".")[2].isdecimal():
            with contextlib.suppress(OSError), left.open("rb") as file:  # or it is being written
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


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
    write_bytes(path, text.encode())


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write bytes, whole or not at all."""
    write_atomically(path, lambda file: file.write(content))


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
