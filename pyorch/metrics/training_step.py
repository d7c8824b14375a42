# SPDX-License-Identifier: GPL-2.0-only
"""How long does a training step or trace take, how much of it do devices wait, and for what?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.metrics._steps import Step, has_steps, steps
from pyorch.spec.resolved import Spec
from pyorch.training.graph import COMPUTE
from pyorch.training.step import CONTEXT, DATA, EXPERT, PIPELINE, TENSOR

#: Columns of what is waited for, and the lanes that each stands for.
KINDS = {
    "tensor": (TENSOR,), "expert": (EXPERT,), "context": (CONTEXT,), "pipeline": (PIPELINE,),
    "data": DATA,
}  # fmt: skip


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked about training steps; nothing if it can."""
    if has_steps(spec):
        return ""
    return "no workload of this run computes. Ask for completion or slowdown instead."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per training step or trace of a run.

    Returns
    -------
    DataFrame
        ``workload``: index, from 0; ``devices``; ``step_ps``: from its start until its last task is
        over; ``compute_ps``: what a device computes, the mean; ``exposed_share``: of the step in
        which a device computes nothing, the mean [1]; of the step, by what a device waits for on
        the critical path to its next computation, or to the end: ``tensor_share``,
        ``expert_share``, ``context_share``, ``pipeline_share``, ``data_share`` for messages,
        ``other_share`` for those that a trace does not call by these names, and ``bubble_share``
        for computations of others [1].
    """
    assert len(run.flows), "flows that did not finish are an error"
    return pd.DataFrame([_row(step) for step in steps(run)])


def _row(step: Step) -> dict[str, int | float]:
    waited = step.waited()
    total_ps = step.devices * step.step_ps
    row = {
        "workload": step.workload,
        "devices": step.devices,
        "step_ps": step.step_ps,
        "compute_ps": round(step.busy_ps().mean()),
        "exposed_share": 1 - step.busy_ps().sum() / total_ps,
    }
    by_lane = waited.groupby("lane")["waited_ps"].sum()
    for kind, lanes in KINDS.items():
        row[f"{kind}_share"] = by_lane.reindex(list(lanes)).sum() / total_ps
    computes = step.tasks.loc[step.tasks["kind"] == COMPUTE, "lane"].unique()
    others = np.setdiff1d(by_lane.index, [*computes, *sum(KINDS.values(), ())])
    row["other_share"] = by_lane.reindex(others).sum() / total_ps
    return row | {"bubble_share": by_lane.reindex(computes).sum() / total_ps}
