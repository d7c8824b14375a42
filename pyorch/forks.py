# SPDX-License-Identifier: GPL-2.0-only
"""A process that has imported what its work needs, and forks once for each piece of work.

What takes half a second to import is imported once; still each piece has a process of its own,
which may crash, or be killed, alone. A request is one line of JSON on a Unix socket; the answers
are lines of JSON, the last of them ``{"status": n}``: an exit status, or -n for signal n. Who hangs
up ends the work that was asked for.
"""

import contextlib
import ctypes
import json
import os
import secrets
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

#: From the request to end to the end, for what does not hear it [s].
GRACE_S = 10.0
_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
Work = Callable[[dict, Callable[[dict], None]], int]


def listen() -> socket.socket:
    """Return a socket that listens at an address of its own; no file stands for it."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"\0pyorch-{os.getuid()}-{os.getpid()}-{secrets.token_hex(8)}")
    listener.listen(4096)
    return listener


def address_of(listener: socket.socket) -> str:
    """Return the address of a listener as text, for an environment or a command line."""
    return listener.getsockname().decode()[1:]


def ask(address: str, request: dict, hear: Callable[[dict], None] = lambda _: None) -> int:
    """Have a piece of work done and return its status.

    Parameters
    ----------
    address : str
        From `address_of`.
    request : dict
        What to do.
    hear : callable
        Is given the answers before the last.

    Raises
    ------
    OSError
        Nobody listens there, or it has ended without an answer.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{address}")
        connection.sendall(json.dumps(request).encode() + b"\n")
        for line in connection.makefile("rb"):
            answer = json.loads(line)
            if "status" in answer:
                return answer["status"]
            hear(answer)
    raise ConnectionError("ended without an answer")


def serve(listener: socket.socket, work: Work, before: Callable[[], None] = lambda: None) -> None:
    """Do what is asked for until standard input ends; then end what is still being done.

    Parameters
    ----------
    listener : socket
        From `listen`.
    work : callable
        ``work(request, answer)`` in a process of its own; returns its exit status.
    before : callable
        Is called before each fork.
    """
    server = _Server(listener, work, before)
    try:
        while server.step():
            pass
    finally:
        server.end()


@dataclass
class _Piece:
    """One connection: the process that works for it, once there is one."""

    connection: socket.socket
    heard: bytes = b""
    pid: int = 0
    gone: bool = field(default=False)


class _Server:
    def __init__(self, listener: socket.socket, work: Work, before: Callable[[], None]):
        self._listener, self._work, self._before = listener, work, before
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._selector.register(0, selectors.EVENT_READ, None)
        self._pieces: dict[int, _Piece] = {}

    def step(self) -> bool:
        """Do what there is to do now; return whether to go on."""
        for key, _ in self._selector.select():
            if key.data is None:
                return bool(os.read(0, 4096))
            key.data()
        return True

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        piece = _Piece(connection)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._hear(piece))

    def _hear(self, piece: _Piece) -> None:
        try:
            words = piece.connection.recv(65536)
        except OSError:
            words = b""
        piece.heard += words
        if not words:
            self._hung_up(piece)
        elif piece.heard.endswith(b"\n") and not piece.pid:
            self._start(piece)

    def _hung_up(self, piece: _Piece) -> None:
        self._selector.unregister(piece.connection)
        piece.gone = True
        if piece.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(piece.pid, signal.SIGTERM)
        else:
            piece.connection.close()

    def _start(self, piece: _Piece) -> None:
        self._before()
        parent = os.getpid()
        piece.pid = os.fork()
        if piece.pid == 0:
            self._child(piece, parent)
        descriptor = os.pidfd_open(piece.pid)
        self._pieces[descriptor] = piece
        self._selector.register(descriptor, selectors.EVENT_READ, lambda: self._ended(descriptor))

    def _child(self, piece: _Piece, parent: int) -> None:
        """Work, and leave by the only way out that runs nothing of the parent's."""
        status = 1
        try:
            end_with_parent(parent)
            self._selector.close()
            self._listener.close()
            for other in self._pieces.values():
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

    def _ended(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        os.close(descriptor)
        piece = self._pieces.pop(descriptor)
        _, code = os.waitpid(piece.pid, 0)
        status = os.waitstatus_to_exitcode(code)
        if not piece.gone:
            self._selector.unregister(piece.connection)
            with contextlib.suppress(OSError):
                piece.connection.sendall(json.dumps({"status": status}).encode() + b"\n")
        piece.connection.close()

    def end(self) -> None:
        """End all work: it is asked to, and after a while it is made to."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            for piece in self._pieces.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(piece.pid, number)
            end_s = time.monotonic() + GRACE_S
            while self._pieces and time.monotonic() < end_s:
                for key, _ in self._selector.select(0.1):
                    if key.fd in self._pieces:
                        self._ended(key.fd)
        self._listener.close()


def end_with_parent(parent: int) -> None:
    """Have the kernel send SIGTERM to this process when the one that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if os.getppid() != parent:  # it has ended before we said so
        sys.exit(128 + signal.SIGTERM)


def call_oneself(name: str) -> None:
    """Set what this process is called in ``top`` and ``ps -o comm``; 15 letters are kept."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def redirect(log: Path) -> None:
    """Let standard output and error of this process go to a file."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    os.close(descriptor)
