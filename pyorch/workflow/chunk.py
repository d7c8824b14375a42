# SPDX-License-Identifier: GPL-2.0-only
"""The job of a chunk: makes the runs of a piece of the plan, one after the other.

``python -m pyorch.workflow.chunk PLAN``. A run that fails is named, and the others are made.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from pyorch import built, jobs, sockets
from pyorch.errors import PyorchError
from pyorch.runs.finished import is_finished
from pyorch.simulate import build_study
from pyorch.workflow import client, marks, worker
from pyorch.workflow.planfile import read_plan


def make(plan: Path | str) -> int:
    """Make the runs of a plan that are not finished; return the status of the last that failed."""
    status = 0
    # On the disk of this machine: a shared file system may have no sockets.
    worker.offer(tempfile.gettempdir())
    for run in read_plan(plan):
        if is_finished(run.spec, Path("results", run.folder)):
            marks.put(run.folder)  # this job was begun before
            continue
        log = f"logs/simulate/{run.folder}.log"
        status = _made(str(plan), run.folder, log, str(run.threads)) or status
    return status


def _made(plan: str, folder: str, log: str, threads: str) -> int:
    """Have a run made by the worker, or by a process of its own; return its exit status."""
    if address := os.environ.get(client.WORKER):
        request = {"plan": plan, "folder": folder, "log": log, "threads": threads}
        with suppress(sockets.Nobody):
            return client.asked(address, request)
    command = [sys.executable, "-P", "-m", "pyorch.workflow.client", plan, folder, log, threads]
    return subprocess.run(command).returncode


def main() -> int:
    """Return the exit status; what a user can cause is one message."""
    jobs.join()
    try:
        if built.here().study:
            build_study.link_installed()  # to those of this machine
        return make(sys.argv[1])
    except PyorchError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
