# SPDX-License-Identifier: GPL-2.0-only
"""Workloads of SimAI and AICB: a row for each layer, which all ranks follow."""

from pyorch.spec.files import text
from pyorch.training import simai
from pyorch.training.foreign import Asked, Trace

USES = ("algorithms", "gpus", "step_delay")


def read(asked: Asked) -> Trace:
    """Return the tasks of a file."""
    rows = text(asked.files[0], asked.key)
    return simai.read(rows, asked.algorithm, asked.gpus, asked.where, asked.key, asked.step_ps)
