# SPDX-License-Identifier: GPL-2.0-only
"""Sockets between processes of one user: files in a folder that nobody else can open.

A request is one line of JSON; the answers are lines of JSON, the last of them ``{"status": n}``: an
exit status, or -n for signal n. Who hangs up ends the work that was asked for.
"""

import contextlib
import fcntl
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

#: Folders of sockets begin with this; no others are ever removed.
PREFIX = "sockets-"

_held: list[int] = []


class Nobody(ConnectionError):
    """Nobody listens there."""


class Lost(ConnectionError):
    """Who was asked has ended without an answer."""


def own_folder(parent: Path) -> Path:
    """Return a new folder for sockets, which is this process's until it ends.

    Folders of processes that were killed are removed.
    """
    import shutil
    import tempfile

    parent.mkdir(parents=True, exist_ok=True)
    for path in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # its owner lives, or it is another user's
            descriptor = _locked(path)
            shutil.rmtree(path)
            os.close(descriptor)
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent)).resolve()  # of mode 0700
        with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another one removes it
            _held.append(_locked(path))
            if path.exists():
                return path


def _locked(folder: Path) -> int:
    """Return the descriptor of a folder that this process has locked until it ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def listen(path: Path) -> socket.socket:
    """Return a socket that listens at a new file."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        with _short(path) as address:
            listener.bind(address)
        listener.listen(4096)
    except OSError:
        listener.close()
        raise
    return listener


def ask(path: Path | str, request: dict, hear: Callable[[dict], None] = lambda _: None) -> int:
    """Have a piece of work done and return its status.

    Parameters
    ----------
    path : path
        Where somebody listens.
    request : dict
        What to do.
    hear : callable
        Is given the answers before the last.

    Raises
    ------
    Nobody
        Nobody listens there.
    Lost
        It has ended without an answer.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            with _short(Path(path)) as address:
                connection.connect(address)
        except OSError as error:
            raise Nobody(error.strerror) from None
        with contextlib.suppress(ConnectionError):
            connection.sendall(json.dumps(request).encode() + b"\n")
            for line in connection.makefile("rb"):
                answer = json.loads(line)
                if "status" in answer:
                    return answer["status"]
                hear(answer)
    raise Lost("ended without an answer")


def is_ours(connection: socket.socket) -> bool:
    """Whether the process at the other end is one of this user."""
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", peer)[1] == os.geteuid()


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Give an address of a file whose path may be longer than the 107 bytes of an address."""
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
