# SPDX-License-Identifier: GPL-2.0-only
"""What does the first device do when in a training step, and when does it compute nothing?"""

import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.metrics._steps import spans_of, steps
from pyorch.metrics.training_step import refusal

__all__ = ["measure", "refusal"]

DEVICE = 0
EXPOSED = "exposed"


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per time in which device 0 is busy with one thing, and in which it waits.

    Returns
    -------
    DataFrame
        ``workload``: index, from 0; ``lane``: ``compute``, that of the messages it sends or
        receives, or ``exposed``: it computes nothing; ``start_ps``, ``end_ps`` from the start of
        the step on. No two rows of a lane overlap.
    """
    assert len(run.flows), "flows that did not finish are an error"
    return pd.concat(
        [_spans(step).assign(workload=step.workload) for step in steps(run)], ignore_index=True
    )[["workload", "lane", "start_ps", "end_ps"]]


def _spans(step) -> pd.DataFrame:
    idle = [(EXPOSED, i.start_ps, i.end_ps) for i in step.idle() if i.device == DEVICE]
    waits = pd.DataFrame(idle, columns=["lane", "start_ps", "end_ps"])
    return pd.concat([spans_of(step, DEVICE), waits], ignore_index=True)
