# SPDX-License-Identifier: GPL-2.0-only
"""A process that has loaded the engine once and simulates one script after another, each in a fork.

``python -m pyorch.simulate.server DESCRIPTOR`` with a listening socket (`pyorch.forks`); it ends
with the process that has started it, or when its standard input does. A request is ``{"script":
..., "out": ..., "log": ..., "threads": ...}``.
"""

import contextlib
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from pyorch import forks, jobs, origin
from pyorch.simulate import loader, provenance, run


def simulate(request: dict, _answer: Callable[[dict], None]) -> int:
    """Run a script as its own command line would; return the exit status."""
    out = Path(request["out"])
    forks.set_process_title(out.parent.name if out.name.startswith(".") else out.name)
    forks.redirect(Path(request["log"]))
    return run.run_script(request["script"], request["out"], request["threads"])


def warm_up() -> None:
    """Load what all runs need, and let cppyy compile its calls of the facade before the forks."""
    namespace = loader.facade_of([])
    provenance.made_by()
    # What a facade without a network refuses has been compiled all the same.
    facade = namespace.Facade()
    calls = {
        "Option": ("seed", 1), "Tables": (), "Rows": ("flows",), "Columns": ("flows",),
        "Events": (), "NowPs": (), "FlowsDone": (), "FlowsTotal": (), "DataPackets": (),
        "TasksTotal": (), "TasksDone": (),
    }  # fmt: skip
    for name, arguments in calls.items():
        with contextlib.suppress(Exception):
            getattr(facade, name)(*arguments)


def main() -> None:
    """Serve the socket whose descriptor is the first argument."""
    jobs.belong()
    os.environ.pop(jobs.OWNER, None)  # no simulation need look for it: each ends with this process
    origin.watch()
    listener = socket.socket(fileno=int(sys.argv[1]))
    warm_up()
    forks.serve(listener, simulate)


if __name__ == "__main__":
    main()
