# SPDX-License-Identifier: GPL-2.0-only
"""The process that makes the runs of a Snakemake on one machine, each in a fork of its own.

It has imported what every run needs, and keeps a second one that has loaded the engine
(`pyorch.simulate.server`): two, because Apache-licensed pyarrow and the GPL-2.0-only engine never
meet in a process. It is started by the first job. Either is started again when it was killed; both
end with the Snakemake that listens for the jobs.
"""

import atexit
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pyorch import built, forks, jobs, origin, plugins, sockets
from pyorch.runs.finished import STEPS
from pyorch.simulate import sanitizers
from pyorch.simulate.process import End, ended, how
from pyorch.workflow import events
from pyorch.workflow.client import AGAIN, WORKER
from pyorch.writing import make_folder

#: So often in turn a worker may end before it has taken a job.
MOST_FAILURES = 3


class EngineLost(Exception):
    """The process that simulates has ended; the run may be made again."""


def offer(parent: Path | str = ".snakemake/pyorch") -> None:
    """Listen for jobs in this process; the first of them starts the worker.

    Parameters
    ----------
    parent : path
        Gets a folder with the sockets.
    """
    os.environ.pop(WORKER, None)
    try:
        folder = sockets.own_folder(Path(parent))
        listener = sockets.listen(folder / "worker")
    except OSError as error:
        events.say(
            f"{parent}: no socket can be made there ({os.strerror(error.errno or 0)})."
            " Each run is made in a process of its own: the same results, more CPU time."
        )
        return
    os.environ[WORKER] = str(folder / "worker")
    atexit.register(_withdraw, folder)
    threading.Thread(target=_supervise, args=(listener,), daemon=True).start()


def _withdraw(folder: Path) -> None:
    stop()
    shutil.rmtree(folder, ignore_errors=True)


def _supervise(listener: socket.socket) -> None:
    """Start a worker for the jobs that ask, and another one when it has ended.

    The socket stays open here, so who asks meanwhile is heard by the next one.
    """
    n_failures = 0
    with listener:  # closed, it tells who asks to make its run itself
        while n_failures < MOST_FAILURES:
            select.select([listener], [], [])
            status = _start("pyorch.workflow.worker", listener, listening=events.listening).wait()
            if _stopping:
                return
            still_asked, _, _ = select.select([listener], [], [], 0)
            n_failures = n_failures + 1 if still_asked else 0
            another = "another" if n_failures < MOST_FAILURES else "no other"
            events.say(
                f"The process that makes the runs {how(status)}; {another} one is started."
                " Its runs start again."
            )


#: The processes that this one has started; their standard input ends when this one does.
_started: list[subprocess.Popen] = []
_stopping: list[bool] = []


def _start(
    module: str,
    listener: socket.socket,
    environment: Mapping[str, str] = os.environ,
    listening: list[int] | tuple[()] = (),
) -> subprocess.Popen:
    """Start a server in a session of its own: Ctrl-C comes to it through those who wait."""
    # A process that forks should have one thread; what it does has no use for more.
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    given = {**environment, **single, jobs.PARENT: str(os.getpid())}
    if listening:
        given[events.EVENTS] = str(*listening)
    _started.append(
        subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(listener.fileno())],
            env=given,
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno(), *listening],
            start_new_session=True,
        )
    )
    return _started[-1]


def stop() -> None:
    """End the servers that this process has started, and wait until they have."""
    _stopping.append(True)
    for process in _started:
        if process.stdin is not None:
            process.stdin.close()
    for process in _started:
        process.wait()


class Engines:
    """The server that simulates; started anew when it has ended or the libraries have changed.

    Parameters
    ----------
    folder : path
        For its sockets.
    """

    def __init__(self, folder: Path):
        self._folder, self._path, self._libraries = folder, folder, {}

    def ready(self) -> None:
        """Start the server unless it is there."""
        libraries = built.here().module_libraries()
        found = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in libraries}
        status = _started[-1].poll() if _started else 0
        if status is None and found == self._libraries:
            return
        if status:
            events.say(
                f"The process that simulates {how(status)}; another one is started."
                " Its runs start again."
            )
        self._path = self._folder / f"engine-{os.getpid()}-{len(_started)}"
        with sockets.listen(self._path) as listener:
            _start("pyorch.simulate.server", listener, sanitizers.environment())
            self._libraries = found

    def simulate(self, script: Path, out: Path, log: Path | None, threads: int = 1) -> End:
        """Have a script simulated; see `pyorch.simulate.process.run`.

        Raises
        ------
        EngineLost
            The server, not the simulation, has ended.
        """
        started = time.monotonic()
        log = log or out / "simulate.log"
        make_folder(log.parent)
        request = {"script": str(script), "out": str(out), "log": str(log), "threads": threads}
        try:
            status = sockets.ask(self._path, request)
        except ConnectionError as error:
            raise EngineLost(str(error)) from None
        return ended(status, started, out, log)


def main() -> None:
    """Serve the socket whose descriptor is the first argument."""
    jobs.belong()
    events.listen()
    origin.watch()
    from pyorch.render import script
    from pyorch.workflow import job

    for kind in ("topology", "workload", "allocation", "failure"):
        plugins.discover(f"pyorch.{kind}")
    origin.digests(origin.files([*STEPS, *plugins.loaded]))  # known in each fork from now on
    script.compile_templates()
    engines = Engines(Path(os.environ[WORKER]).parent)

    def work(request: dict, answer: Callable[[dict], None]) -> int:
        def tell(text: str) -> None:
            answer({"tell": text})

        plugins.loaded.clear()  # those that this run needs are loaded, and noted, again
        try:
            return job.run(**request, tell=tell, simulate=engines.simulate)
        except EngineLost:
            return AGAIN

    try:
        forks.serve(socket.socket(fileno=int(sys.argv[1])), work, engines.ready)
    finally:
        stop()


if __name__ == "__main__":
    main()
