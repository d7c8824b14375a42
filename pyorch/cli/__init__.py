# SPDX-License-Identifier: GPL-2.0-only
"""The command line: `app` has the commands, the other modules do what they say."""

import os

# numpy has no work here for a thread on each core, each of which takes 40 MiB of address space.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pyorch.cli.app import main  # noqa: E402

__all__ = ["main"]
