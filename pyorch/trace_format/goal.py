# SPDX-License-Identifier: GPL-2.0-only
"""GOAL of LogGOPSim and ATLAHS: a schedule of all ranks as text, or in binary form."""

from pyorch.spec.files import opened
from pyorch.training import goal, goal_binary
from pyorch.training.foreign import Asked, Trace

USES: tuple[str, ...] = ()


def read(asked: Asked) -> Trace:
    """Return the tasks of a file of either form."""
    with opened(asked.files[0]) as stream:
        form = goal_binary if goal_binary.is_binary(stream) else goal
        return form.read(stream, asked.where, asked.key)
