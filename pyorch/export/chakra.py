# SPDX-License-Identifier: GPL-2.0-only
"""tasks.<rank>.et of ASTRA-sim: messages and tasks of a run as Chakra execution traces.

A rank is a host, in the order of their ids. Nothing of the network is written, and operations of
whole groups are written as their messages.
"""

import numpy as np

from pyorch.export._refusals import Tables
from pyorch.export.goal import later, rounded, task_graph
from pyorch.spec.resolved import Spec
from pyorch.training import chakra

NAME = "Chakra"
PS_PER_US = 10**6


def files(spec: Spec, tables: Tables) -> dict[str, bytes]:
    """Return the bytes of the file of each rank.

    Raises
    ------
    SpecError
        Starts that differ, or what waits with a delay.
    """
    written = chakra.write(task_graph(tables, NAME))
    return {f"tasks.{rank}.et": data for rank, data in enumerate(written)}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return the starts [ps]: they are all the same, and a trace begins at 0."""
    return start_ps


def remarks(tables: Tables) -> list[str]:
    """Return what the files do not say exactly."""
    return [*later(tables, NAME), *rounded(tables, NAME, PS_PER_US, "us")]
