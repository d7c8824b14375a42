# SPDX-License-Identifier: GPL-2.0-only
"""Requests to a model and who answers them: batches, what they compute and what they send."""

from pyorch.serving.batching import DECODE, PREFILL, TRANSFER, Batch, Scheduler
from pyorch.serving.costs import Costs, Pool
from pyorch.serving.routing import Routing
from pyorch.serving.work import Service, Work, work_of

__all__ = [
    "DECODE", "PREFILL", "TRANSFER", "Batch", "Costs", "Pool", "Routing", "Scheduler", "Service",
    "Work", "work_of",
]  # fmt: skip
