# SPDX-License-Identifier: GPL-2.0-only
"""What the shell of a job starts: asks the worker for a run, or makes it itself if there is none.

``python -m pyorch.workflow.client PLAN SCENARIO/RUN LOG THREADS``. It imports next to nothing,
because it is started once for each run.
"""

import os
import signal
import sys
import time

from pyorch import sockets

#: Environment of a job: the file at which the worker listens.
WORKER = "PYORCH_WORKER"
#: Exit status of a run whose process that simulates has ended.
AGAIN = 75
#: A run that loses who makes it is begun so often, with so long between [s].
ATTEMPTS, PAUSE_S = 3, 0.3


def main() -> int:
    """Return the exit status of the run."""
    arguments = sys.argv[1:]
    request = dict(zip(("plan", "folder", "log", "threads"), arguments, strict=True))
    try:
        if address := os.environ.get(WORKER):
            return asked(address, request)
    except KeyboardInterrupt:
        return 130
    except sockets.Nobody as error:
        print(f"No worker ({error}): this run is made without it.", file=sys.stderr)
    from pyorch.workflow import job

    return job.main(arguments)


def asked(address: str, request: dict[str, str]) -> int:
    """Have the worker make the run; return its exit status."""
    for _ in range(ATTEMPTS):
        try:
            status = sockets.ask(address, request, lambda said: _tell(said["tell"]))
        except sockets.Nobody:
            _end_with_owner()
            raise
        except sockets.Lost:
            status = AGAIN
        if status < 0:
            from pyorch.simulate.process import how

            return _failed(request, f"the process that makes it {how(status)}. Start again.")
        if status != AGAIN:
            return status
        _end_with_owner()
        time.sleep(PAUSE_S)
    return _failed(request, f"the processes that make it have ended {ATTEMPTS} times; see above.")


def _end_with_owner() -> None:
    """Leave without a word if the Snakemake that wants the run has ended."""
    from pyorch import jobs

    if jobs.owner_is_gone():
        sys.exit(128 + signal.SIGTERM)


def _failed(request: dict[str, str], why: str) -> int:
    """Say why a run has failed, also in its log; return the exit status."""
    from pathlib import Path

    from pyorch.workflow.job import say

    say(f"Run {request['folder']}: {why}", Path(request["log"]), _tell)
    return 1


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
