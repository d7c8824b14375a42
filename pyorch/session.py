# SPDX-License-Identifier: GPL-2.0-only
"""A simulated network that a program drives: it sends, waits, and decides what it sends next.

The engine runs in the process of the program, which is why nothing else of pyorch is loaded there:
no pandas and no pyarrow. Another process makes the network of the scenario.
"""

import csv
import ctypes
import heapq
import json
import subprocess
import sys
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from operator import index
from pathlib import Path

import numpy as np

from pyorch import errors
from pyorch.calls import checked
from pyorch.errors import SimulationError, quoted
from pyorch.reading import read_bytes
from pyorch.simulate import loader
from pyorch.writing import write_text

FOREVER_PS = 2**63 - 1
_FAILED = -2
_LIBRARY = "library "  # a line of a session file
#: Of a file of `Session.save`: ten million messages [byte].
_MOST_BYTES = 10**9
#: Columns of the file of `Session.save`. `passed_ps`: everything before had happened when the
#: message was sent.
COLUMNS = ("passed_ps", "start_ps", "src", "dst", "bytes", "transport")
_WHOLE = ctypes.c_int64
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "PyorchOpen": (ctypes.c_void_p, [ctypes.c_char_p]),
    "PyorchError": (ctypes.c_char_p, []),
    "PyorchSend": (_WHOLE, [ctypes.c_void_p, *[_WHOLE] * 5]),
    "PyorchAdvance": (_WHOLE, [ctypes.c_void_p, _WHOLE]),
    "PyorchNowPs": (_WHOLE, [ctypes.c_void_p]),
    "PyorchFinish": (_WHOLE, [ctypes.c_void_p]),
    "PyorchColumns": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "PyorchRows": (_WHOLE, [ctypes.c_void_p, ctypes.c_char_p]),
    "PyorchValues": (ctypes.POINTER(_WHOLE), [ctypes.c_void_p, *[ctypes.c_char_p] * 2]),
    "PyorchClose": (None, [ctypes.c_void_p]),
}


class Session:
    """A network on which a program sends messages while simulated time passes as it says.

    Hosts are node ids, as ``pyorch topology --hosts`` shows them. A function that is called when a
    message arrives, or at a time, may send messages, which start in that moment or later. There is
    one session at a time in a process. At its end, `close` it, or use it in ``with``.

    Parameters
    ----------
    scenario : path or mapping
        A YAML file, or its content. Its workload is ``session``, which sends nothing by itself,
        alone or beside others, which are background. Skipping, captures and controllers are
        refused.
    scale, variant, case, seed, set
        As in `pyorch.run`. They have to leave one run.

    Raises
    ------
    SpecError, SimulationError
        The network cannot be built, or another session is open.

    Examples
    --------
    Host 0 sends to host 5, which answers as soon as the message is there. The other examples have
    this `network` too.

    >>> import pyorch
    >>> network = {
    ...     "name": "session", "workload": {"type": "session"}, "stop": "1 s",
    ...     "topology": {"type": "star", "hosts": 8}, "switch": {"buffer": "16 MB"},
    ...     "link": {"rate": "400 Gb/s", "delay": "500 ns"},
    ...     "transport": {"type": "ns3::RoceTransport"},
    ... }
    >>> with pyorch.Session(network) as session:
    ...     asked = session.send(0, 5, 1_000_000)
    ...     session.on_delivered(lambda message: session.send(5, 0, 1_000), asked)
    ...     session.advance(), session.advance(), session.advance()
    (0, 1, None)
    """

    @checked
    def __init__(
        self,
        scenario: Path | str | Mapping[str, object],
        *,
        scale: str = "laptop",
        variant: str | None = None,
        case: str | None = None,
        seed: int | None = None,
        set: Mapping[str, object] | None = None,  # noqa: A002, the word of the command line
    ):
        self._handle = None
        text = _made(
            {
                "scenario": scenario if isinstance(scenario, Mapping) else str(scenario),
                "scale": scale, "variant": variant, "case": case, "seed": seed, "sets": set or {},
            }
        )  # fmt: skip
        loader.load_libraries(_libraries(text))
        self._engine = _engine()
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            self._handle = self._engine.PyorchOpen(file.name.encode())
        if self._handle is None:
            message = self._engine.PyorchError().decode(errors="replace")
            raise SimulationError(message.removeprefix(f"{file.name}: "))
        self._send, self._advance = self._engine.PyorchSend, self._engine.PyorchAdvance
        self._now_ps = 0
        self._passed_ps = 0  # everything before has happened
        self._sent: list[tuple[int, ...]] = []
        self._everyone: list[Callable[[int], object]] = []
        self._then: dict[int, list[Callable[[int], object]]] = {}
        self._timers: list[tuple[int, int, Callable[[], object]]] = []
        self._order = count()
        #: By source, destination and tag: messages that nobody has received, or who waits.
        self._label: dict[int, tuple[int, int, int]] = {}
        self._here: dict[tuple[int, int, int], deque[int]] = {}
        self._waiting: dict[tuple[int, int, int], deque[Callable[[int], object]]] = {}
        self._flows: dict[str, np.ndarray] | None = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the network; nothing else can be asked of it.

        Returns
        -------
        None

        Examples
        --------
        >>> session = pyorch.Session(network)
        >>> session.close()
        """
        if self._handle is not None:
            self._engine.PyorchClose(self._handle)
            self._handle = None

    @property
    def now_ps(self) -> int:
        """Simulated time [ps]."""
        return self._now_ps

    def send(
        self, src: int, dst: int, size_bytes: int, *,
        tag: int | None = None, start_ps: int | None = None, transport: int = 0,
    ) -> int:  # fmt: skip
        """Send a message; return its id, which is ``flow`` in the table of flows.

        Parameters
        ----------
        src, dst : int
            Node ids of two hosts.
        size_bytes : int
            Payload, at least 1 [byte].
        tag : int, optional
            By which `recv` asks for it; without one it is not received.
        start_ps : int, optional
            When it starts; now by default [ps].
        transport : int
            Number of the transport of the scenario, if it has several.

        Returns
        -------
        int
            0 for the first message, then one more each; other workloads have the first ids.

        Raises
        ------
        SimulationError
            There is no such host, the message is too large, or the start is over.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     session.send(0, 5, 1_000_000), session.send(1, 5, 4096, start_ps=2_000_000)
        (0, 1)
        """
        start_ps = self._now_ps if start_ps is None else _whole("start_ps", start_ps)
        if start_ps < self._now_ps:
            raise SimulationError(f"Session.send: {start_ps} ps is over, it is {self._now_ps} ps.")
        message = self._transmit(src, dst, size_bytes, start_ps, transport)
        if tag is not None:
            self._label[message] = src, dst, tag
        return message

    def _transmit(self, src: int, dst: int, size_bytes: int, start_ps: int, transport: int) -> int:
        """Send a message, and note it for `save`."""
        try:
            fits = 0 <= src | dst | size_bytes | transport <= FOREVER_PS  # one test for all of them
        except TypeError:
            fits = False
        if not fits:
            given = {"src": src, "dst": dst, "size_bytes": size_bytes, "transport": transport}
            for name, value in given.items():
                _whole(name, value)
        message = self._send(self._opened(), src, dst, size_bytes, start_ps, transport)
        if message < 0:
            raise self._failure("send")
        self._sent.append((self._passed_ps, start_ps, src, dst, size_bytes, transport))
        return message

    def recv(self, src: int, dst: int, tag: int, then: Callable[[int], object]) -> None:
        """Call a function with the id of the next message of a sender, receiver and tag.

        Messages of one sender, receiver and tag are received in the order of their arrival, each
        once. A message that has arrived before is received at once. Nothing holds a sender back
        whose receiver does not wait for it.

        Parameters
        ----------
        src, dst, tag : int
            As in `send`.
        then : callable
            Is given the id.

        Returns
        -------
        None

        Raises
        ------
        SimulationError
            The session is closed.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     session.recv(0, 5, 1, lambda message: print("here", message))
        ...     session.advance() is None, session.send(0, 5, 4096, tag=1), session.advance()
        here 0
        (True, 0, 0)
        """
        self._opened()
        _callable("recv", then)
        label = src, dst, tag
        if here := self._here.get(label):
            then(here.popleft())
        else:
            self._waiting.setdefault(label, deque()).append(then)

    def on_delivered(self, then: Callable[[int], object], message: int | None = None) -> None:
        """Call a function with the id of a message as it arrives, or of every message.

        Parameters
        ----------
        then : callable
            Is given the id.
        message : int, optional
            Only this one, which has not arrived yet.

        Returns
        -------
        None

        Raises
        ------
        SimulationError
            The session is closed.

        Examples
        --------
        >>> arrived = []
        >>> with pyorch.Session(network) as session:
        ...     session.on_delivered(arrived.append)
        ...     sent = [session.send(host, 5, 4096) for host in (0, 1)]
        ...     session.run()
        >>> arrived
        [0, 1]
        """
        self._opened()
        _callable("on_delivered", then)
        if message is None:
            self._everyone.append(then)
        else:
            self._then.setdefault(message, []).append(then)

    def at(self, time_ps: int, then: Callable[[], object]) -> None:
        """Call a function at a time, before anything else of this time happens.

        Parameters
        ----------
        time_ps : int
            Now or later [ps].
        then : callable
            Is given nothing.

        Returns
        -------
        None

        Raises
        ------
        SimulationError
            The time is over.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     session.at(3_000, lambda: print(session.now_ps))
        ...     session.run()
        3000
        """
        _callable("at", then)
        if _whole("time_ps", time_ps) < self._now_ps:
            raise SimulationError(f"Session.at: {time_ps} ps is over, it is {self._now_ps} ps.")
        heapq.heappush(self._timers, (time_ps, next(self._order), then))

    def advance(self, until_ps: int = FOREVER_PS) -> int | None:
        """Let time pass until a message arrives; return its id.

        Functions whose time or message has come are called. Several messages that arrive at one
        time are several calls, in the order of their ids.

        Parameters
        ----------
        until_ps : int
            If no message arrives before, this becomes the time [ps].

        Returns
        -------
        int or None
            None: no message has arrived.

        Raises
        ------
        SimulationError
            The engine has failed, or the session is closed.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     first = session.send(0, 5, 1_000)
        ...     session.advance(5), session.now_ps, session.advance(), session.now_ps > 1_000_000
        (None, 5, 0, True)
        """
        until_ps = _whole("until_ps", until_ps)
        while True:
            due_ps = min(self._timers[0][0], until_ps) if self._timers else until_ps
            message = self._advance(self._opened(), due_ps)
            self._now_ps = self._engine.PyorchNowPs(self._handle)
            is_reached = message < 0 and due_ps != FOREVER_PS
            passed_ps = self._now_ps if is_reached else self._now_ps + 1
            self._passed_ps = max(self._passed_ps, passed_ps)
            if message >= 0:
                self._arrived(message)
                return message
            if message == _FAILED:
                raise self._failure("advance")
            if not self._timers or self._timers[0][0] > self._now_ps:
                return None
            heapq.heappop(self._timers)[2]()

    def run(self, until_ps: int = FOREVER_PS) -> None:
        """Let time pass until nothing is left to happen, or until a time.

        Parameters
        ----------
        until_ps : int
            As in `advance`.

        Returns
        -------
        None

        Raises
        ------
        SimulationError
            As in `advance`.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     session.run(1_000)
        ...     session.now_ps
        1000
        """
        while self.advance(until_ps) is not None:
            pass

    def flows(self) -> dict[str, np.ndarray]:
        """End the run; return the table of its messages, background included, by column.

        Returns
        -------
        dict of ndarray of int64
            ``flow``, ``src``, ``dst``, ``bytes``, ``start_ps``, ``receiver_end_ps`` and the other
            columns of ``flows.parquet``; -1 where a message has not arrived.

        Raises
        ------
        SimulationError
            The session is closed.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     size_bytes = session.send(0, 5, 1_000)
        ...     session.run()
        ...     (session.flows()["receiver_end_ps"] == session.now_ps).tolist()
        [False]
        """
        if self._flows is None:
            if self._engine.PyorchFinish(self._opened()) == _FAILED:
                raise self._failure("flows")
            names = self._engine.PyorchColumns(self._handle, b"flows").decode().split(",")
            self._flows = {name: self._column("flows", name) for name in names}
        return self._flows

    def save(self, path: Path | str) -> None:
        """Write what was sent as CSV, for `replay`.

        Parameters
        ----------
        path : path
            Of the file: ``start_ps``, ``src``, ``dst``, ``bytes``, ``transport``, and
            ``passed_ps``, before which everything had happened when the message was sent.

        Returns
        -------
        None

        Raises
        ------
        OutputError
            It cannot be written.

        Examples
        --------
        >>> with pyorch.Session(network) as session:
        ...     message = session.send(0, 5, 1_000)
        ...     session.save("sent.csv")
        >>> print(open("sent.csv").read())
        passed_ps,start_ps,src,dst,bytes,transport
        0,0,0,5,1000,0
        <BLANKLINE>
        """
        rows = [",".join(COLUMNS), *(",".join(map(str, map(int, row))) for row in self._sent)]
        write_text(Path(path), "".join(f"{row}\n" for row in rows))

    def replay(self, path: Path | str) -> None:
        """Send what `save` has written, each message when it was sent.

        The run is the same, bit for bit, if the scenario is.

        Parameters
        ----------
        path : path
            Of the file.

        Returns
        -------
        None

        Raises
        ------
        SimulationError
            The file is no such file, or time has passed already.

        Examples
        --------
        >>> ends_ps = []
        >>> for again in (False, True):
        ...     with pyorch.Session(network) as session:
        ...         session.replay("sent.csv") if again else session.send(0, 5, 1_000)
        ...         session.save("sent.csv")
        ...         session.run()
        ...         ends_ps.append(session.now_ps)
        0
        >>> ends_ps[0] == ends_ps[1]
        True
        """
        text = read_bytes(path, _MOST_BYTES, SimulationError).decode(errors="replace")
        rows = csv.DictReader(text.splitlines())
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise SimulationError(f"{path}: line 1: the columns are not {', '.join(COLUMNS)}.")
        for row in self._rows(rows, path):
            passed_ps, start_ps, src, dst, size_bytes, transport = row
            try:
                self.run(passed_ps)
                self._transmit(src, dst, size_bytes, start_ps, transport)
            except SimulationError as error:
                raise SimulationError(f"{path}: line {rows.line_num}: {error}") from None

    @staticmethod
    def _rows(rows: "csv.DictReader[str]", path: Path | str) -> Iterator[list[int]]:
        """Yield the rows of a file of `save`, as numbers in the order of `COLUMNS`."""
        try:
            for row in rows:
                numbers = [_whole(name, int(row.pop(name))) for name in COLUMNS]
                if row:
                    raise ValueError
                yield numbers
        except (TypeError, ValueError, csv.Error, SimulationError):
            raise SimulationError(
                f"{path}: line {rows.line_num}: a row is {len(COLUMNS)} whole numbers, 0 or more."
            ) from None

    def _opened(self) -> int:
        if self._handle is None:
            raise SimulationError("Session: it is closed. Open another one.")
        return self._handle

    def _failure(self, what: str) -> SimulationError:
        return SimulationError(f"Session.{what}: {self._engine.PyorchError().decode()}.")

    def _arrived(self, message: int) -> None:
        for then in self._everyone:
            then(message)
        for then in self._then.pop(message, ()):
            then(message)
        label = self._label.pop(message, None)
        if label is None:
            return
        if waiting := self._waiting.get(label):
            waiting.popleft()(message)
        else:
            self._here.setdefault(label, deque()).append(message)

    def _column(self, table: str, name: str) -> np.ndarray:
        rows = self._engine.PyorchRows(self._handle, table.encode())
        values = self._engine.PyorchValues(self._handle, table.encode(), name.encode())
        return np.ctypeslib.as_array(values, (rows,)).copy() if rows else np.zeros(0, np.int64)


def _callable(what: str, then: object) -> None:
    """Refuse what is no function."""
    if not callable(then):
        raise SimulationError(f"Session.{what}: {quoted(then)} is no function that can be called.")


def _whole(name: str, value: int) -> int:
    """Return a value of the engine; refuse what is no whole number of 63 bits."""
    try:
        whole = index(value)
    except TypeError:
        whole = -1
    if not 0 <= whole <= FOREVER_PS:
        raise SimulationError(f"Session: {name}: {value} is no whole number from 0 to 2^63 - 1.")
    return whole


def _libraries(text: str) -> list[str]:
    """Return the libraries that a session file names."""
    lines = text.splitlines()
    return [line.removeprefix(_LIBRARY) for line in lines if line.startswith(_LIBRARY)]


@lru_cache(maxsize=1)
def _engine() -> ctypes.CDLL:
    """Return the functions of the engine, with their types."""
    engine = loader.engine()
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(engine, name)
        function.restype, function.argtypes = result, arguments
    return engine


def _made(request: dict) -> str:
    """Return the text of a session file, which another process makes."""
    command = [sys.executable, "-P", "-m", "pyorch.runs.session_file"]
    done = subprocess.run(
        command, input=json.dumps(request), stdout=subprocess.PIPE, text=True, check=False
    )
    if not done.stdout:
        raise SimulationError(f"the process that makes the network ended with {done.returncode}.")
    said = json.loads(done.stdout)
    if "error" in said:
        raise getattr(errors, said["error"])(said["message"])
    for remark in said["remarks"]:
        warnings.warn(remark, stacklevel=5)
    return said["text"]
