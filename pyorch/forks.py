# SPDX-License-Identifier: GPL-2.0-only
"""A process that has imported what its work needs, and forks once for each piece of work.

What takes half a second to import is imported once; still each piece has a process of its own,
which may crash, or be killed, alone. It is asked through a socket (`pyorch.sockets`) by processes
of the same user, and by no others.
"""

import contextlib
import ctypes
import json
import math
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyorch import jobs, sockets

#: The longest request [byte].
MOST_BYTES = 65536
#: From the connection to the end of its request [s].
REQUEST_S = 10.0
_PR_SET_NAME = 15
Work = Callable[[dict, Callable[[dict], None]], int]


def serve(listener: socket.socket, work: Work, before: Callable[[], None] = lambda: None) -> None:
    """Do what is asked for until standard input ends; then end what is still being done.

    Parameters
    ----------
    listener : socket
        From `pyorch.sockets.listen`.
    work : callable
        ``work(request, answer)`` in a process of its own; returns its exit status.
    before : callable
        Is called before each fork.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends it at once, as any other signal
    server = _Server(listener, work, before)
    try:
        while server.step():
            pass
    finally:
        server.end()


@dataclass(eq=False)
class _Piece:
    """One connection, and the process that works for it, once there is one.

    Attributes
    ----------
    due_s : float
        When the request has to be complete, or the process has to have ended [s, monotonic].
    descriptor : int
        Of the process.
    """

    connection: socket.socket
    due_s: float
    heard: bytes = b""
    pid: int = 0
    descriptor: int = -1
    has_hung_up: bool = False


class _Server:
    def __init__(self, listener: socket.socket, work: Work, before: Callable[[], None]):
        self._listener, self._work, self._before = listener, work, before
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(0, selectors.EVENT_READ, None)
        self._pieces: set[_Piece] = set()

    def step(self) -> bool:
        """Do what there is to do now; return whether to go on."""
        due_s = min((piece.due_s for piece in self._pieces), default=math.inf)
        patience_s = None if due_s == math.inf else max(0.0, due_s - time.monotonic())
        goes_on = True
        for key, _ in self._selector.select(patience_s):
            if key.data is None:
                goes_on = bool(os.read(0, 4096))
            else:
                key.data()
        for piece in [one for one in self._pieces if one.due_s <= time.monotonic()]:
            self._is_late(piece)
        return goes_on

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        if not sockets.is_ours(connection):
            connection.close()
            return
        piece = _Piece(connection, time.monotonic() + REQUEST_S)
        self._pieces.add(piece)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(piece))

    def _hear(self, piece: _Piece) -> None:
        if piece not in self._pieces:  # its process has ended in the same round
            return
        try:
            words = piece.connection.recv(MOST_BYTES)
        except OSError:
            words = b""
        if not words:
            self._hung_up(piece)
        elif not piece.pid:
            piece.heard += words
            if len(piece.heard) > MOST_BYTES:
                self._hung_up(piece)
            elif piece.heard.endswith(b"\n"):
                self._start(piece)

    def _hung_up(self, piece: _Piece) -> None:
        self._selector.unregister(piece.connection)
        piece.connection.close()
        piece.has_hung_up = True
        if piece.pid:
            self._terminate(piece)
        else:
            self._pieces.discard(piece)

    def _terminate(self, piece: _Piece) -> None:
        """Ask a process to end; if it does not hear that, it is made to."""
        signal.pidfd_send_signal(piece.descriptor, signal.SIGTERM)
        piece.due_s = time.monotonic() + jobs.GRACE_S

    def _is_late(self, piece: _Piece) -> None:
        if not piece.pid:
            self._hung_up(piece)
            return
        signal.pidfd_send_signal(piece.descriptor, signal.SIGKILL)
        piece.due_s = math.inf

    def _start(self, piece: _Piece) -> None:
        self._before()
        parent = os.getpid()
        piece.pid = os.fork()
        if piece.pid == 0:
            self._child(piece, parent)
        piece.due_s, piece.descriptor = math.inf, os.pidfd_open(piece.pid)
        self._selector.register(piece.descriptor, selectors.EVENT_READ, lambda: self._ended(piece))

    def _child(self, piece: _Piece, parent: int) -> None:
        """Work, and leave by the only way out that runs nothing of the parent's."""
        status = 1
        try:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            jobs.end_with(parent)
            self._selector.close()
            self._listener.close()
            for other in self._pieces - {piece}:
                other.connection.close()

            def answer(content: dict) -> None:
                piece.connection.sendall(json.dumps(content).encode() + b"\n")

            status = self._work(json.loads(piece.heard), answer)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status & 0xFF)

    def _ended(self, piece: _Piece) -> None:
        self._pieces.discard(piece)
        self._selector.unregister(piece.descriptor)
        os.close(piece.descriptor)
        _, code = os.waitpid(piece.pid, 0)
        if piece.has_hung_up:
            return
        status = os.waitstatus_to_exitcode(code)
        self._selector.unregister(piece.connection)
        with contextlib.suppress(OSError):
            piece.connection.sendall(json.dumps({"status": status}).encode() + b"\n")
        piece.connection.close()

    def end(self) -> None:
        """End all work: it is asked to, and after a while it is made to."""
        self._selector.unregister(0)
        self._selector.unregister(self._listener)
        self._listener.close()
        for piece in list(self._pieces):
            self._terminate(piece) if piece.pid else self._hung_up(piece)
        while self._pieces:
            self.step()


def set_process_title(name: str) -> None:
    """Set what this process is called in ``top`` and ``ps -o comm``; 15 letters are kept."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def redirect(log: Path) -> None:
    """Let standard output and error of this process go to a file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)
