# SPDX-License-Identifier: GPL-2.0-only
"""The command line: `app` has the commands, the other modules do what they say."""

import os

# numpy has no work here for a thread on each core, each of which takes 40 MiB of address space.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line; Ctrl-C ends it with its status also while it still imports."""
    try:
        from pyorch.cli import app

        app.main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
