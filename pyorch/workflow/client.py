# SPDX-License-Identifier: GPL-2.0-only
"""What the shell of a job starts: asks the worker for a run, or makes it itself if there is none.

``python -m pyorch.workflow.client PLAN SCENARIO/RUN LOG THREADS``. It imports next to nothing,
because it is started once for each run.
"""

import os
import sys

from pyorch import forks

#: Environment of a job: where the worker listens.
WORKER = "PYORCH_WORKER"


def main() -> int:
    """Return the exit status of the run."""
    arguments = sys.argv[1:]
    address = os.environ.get(WORKER)
    if address:
        request = dict(zip(("plan", "folder", "log", "threads"), arguments, strict=True))
        try:
            status = forks.ask(address, request, lambda said: print(said["tell"], file=sys.stderr))
            return status if status >= 0 else 128 - status
        except KeyboardInterrupt:
            return 130
        except OSError as error:
            print(f"The worker {error}; this run is made without it.", file=sys.stderr)
    from pyorch.workflow import job

    return job.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
