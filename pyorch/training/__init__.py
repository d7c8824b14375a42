# SPDX-License-Identifier: GPL-2.0-only
"""Tasks of devices and what they wait for: from a model to the graph of one training step."""

from pyorch.training.builder import Builder
from pyorch.training.graph import BARRIER, COMPUTE, MESSAGE, TaskGraph, check
from pyorch.training.tables import dependencies, flows, tasks

__all__ = [
    "BARRIER", "COMPUTE", "MESSAGE", "Builder", "TaskGraph", "check", "dependencies", "flows",
    "tasks",
]  # fmt: skip
