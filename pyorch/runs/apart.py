# SPDX-License-Identifier: GPL-2.0-only
"""Makes a run in a process of its own, which knows therefore just what has made its result.

``python -m pyorch.runs.apart`` reads a request from standard input, as JSON, and leaves how it has
ended on standard output.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from pyorch import errors, jobs, origin
from pyorch.simulate import process
from pyorch.simulate.process import End
from pyorch.spec.resolved import Spec


def make(
    spec: Spec,
    folder: Path | str,
    log: Path | None = None,
    watch: Callable[[str], None] | None = None,
    threads: int = 1,
) -> End:
    """Make everything of one run; return how its simulation has ended.

    Parameters
    ----------
    spec, folder, log, threads
        As in `pyorch.runs.make.make`.
    watch : callable, optional
        Is given the last line of the log now and then, while the run goes on.

    Raises
    ------
    PyorchError
        A step before or after the simulation cannot be done.
    """
    request = {"folder": str(folder), "log": log and str(log), "threads": threads}
    started = process.start(
        [sys.executable, "-P", "-m", "pyorch.runs.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {jobs.PARENT: str(os.getpid())},  # no run outlives who waits for it
    )
    assert started.stdin is not None and started.stdout is not None
    with started.stdout as answer:
        with started.stdin as asked:
            asked.write(json.dumps(request | {"spec": spec.plain()}).encode())
        tell = partial(process.tell, log, watch) if log and watch else None
        status = process.wait(started, tell)
        words = answer.read()
    if status < 0 or not words:
        stopped = -status in (signal.SIGINT, signal.SIGTERM)
        return End(128 - status if stopped else status or 1, 0.0)
    said = json.loads(words)
    if "error" in said:
        raise getattr(errors, said["error"])(said["message"])
    return End(**said)


def main() -> int:
    """Answer one request; an error of ours is part of the answer."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the run and its plug-ins print is no answer
    origin.watch()
    jobs.join()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        from pyorch.runs.make import make as make_here

        request = json.load(sys.stdin)
        spec, log = Spec.model_validate(request["spec"]), request["log"]
        end = make_here(spec, request["folder"], log and Path(log), threads=request["threads"])
        said = asdict(end)
    except errors.PyorchError as error:
        said = {"error": type(error).__name__, "message": str(error)}
    except KeyboardInterrupt:
        said = asdict(End(130, 0.0))
    answer.write(json.dumps(said))
    answer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
