# SPDX-License-Identifier: GPL-2.0-only
"""The process that makes the runs of a Snakemake on one machine, each in a fork of its own.

It has imported what every run needs, and keeps a second one that has loaded the engine
(`pyorch.simulate.server`): two, because Apache-licensed pyarrow and the GPL-2.0-only engine never
meet in a process. It is started by the first job, and ends with the Snakemake that listens for it.
"""

import atexit
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyorch import forks, jobs
from pyorch.simulate import places
from pyorch.simulate.process import End, last_line
from pyorch.workflow.client import WORKER
from pyorch.writing import make_folder


def offer() -> None:
    """Listen for jobs in this process; the first of them starts the worker."""
    listener = forks.listen()
    os.environ[WORKER] = forks.address_of(listener)
    atexit.register(stop)
    threading.Thread(target=_start_when_asked, args=(listener,), daemon=True).start()


def _start_when_asked(listener: socket.socket) -> None:
    select.select([listener], [], [])
    _started.append(_start("pyorch.workflow.worker", listener))
    listener.close()  # now it is the worker's alone: a worker that ends is noticed


#: The processes that this one has started; their standard input ends when this one does.
_started: list[subprocess.Popen] = []


def _start(module: str, listener: socket.socket) -> subprocess.Popen:
    """Start a server in a session of its own: Ctrl-C comes to it through those who wait."""
    # A process that forks should have one thread; what it does has no use for more.
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-m", module, str(listener.fileno())],
        env=os.environ | single,
        stdin=subprocess.PIPE,
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )


def stop() -> None:
    """End the servers that this process has started, and wait until they have."""
    for process in _started:
        process.stdin.close()
    for process in _started:
        process.wait()


class Engines:
    """The server that simulates; started anew when it has ended or the libraries have changed."""

    def __init__(self):
        self._address, self._libraries = "", {}

    def ready(self) -> None:
        """Start the server unless it is there."""
        found = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in places.module_libraries()}
        if _started and _started[-1].poll() is None and found == self._libraries:
            return
        with forks.listen() as listener:
            self._address, self._libraries = forks.address_of(listener), found
            _started.append(_start("pyorch.simulate.server", listener))

    def simulate(self, script: Path, out: Path, log: Path | None, threads: int = 1) -> End:
        """Have a script simulated; see `pyorch.simulate.process.run`."""
        started = time.monotonic()
        log = log or out / "simulate.log"
        make_folder(log.parent)
        request = {"script": str(script), "out": str(out), "log": str(log), "threads": threads}
        status = forks.ask(self._address, request)
        return End(status, time.monotonic() - started, last_line(log))


def main() -> None:
    """Serve the socket whose descriptor is the first argument."""
    jobs.hold()
    from pyorch import plugins
    from pyorch.workflow import job

    for kind in ("topology", "workload", "failure"):
        plugins.discover(f"pyorch.{kind}")
    engines = Engines()

    def work(request: dict, answer: Callable[[dict], None]) -> int:
        def tell(text: str) -> None:
            answer({"tell": text})

        return job.run(**request, tell=tell, simulate=engines.simulate)

    try:
        forks.serve(socket.socket(fileno=int(sys.argv[1])), work, engines.ready)
    finally:
        stop()


if __name__ == "__main__":
    main()
