# SPDX-License-Identifier: GPL-2.0-only
"""GOAL of LogGOPSim and ATLAHS: a schedule of all ranks as text, or in binary form."""

from pyorch.spec.files import content, text
from pyorch.training import goal, goal_binary
from pyorch.training.foreign import Asked, Trace

USES: tuple[str, ...] = ()


def read(asked: Asked) -> Trace:
    """Return the tasks of a file of either form."""
    if goal_binary.is_binary(data := content(asked.files[0])):
        return Trace(goal_binary.read(data, asked.where, asked.key), ())
    return Trace(goal.read(text(asked.files[0], asked.key), asked.where, asked.key), ())
