# SPDX-License-Identifier: GPL-2.0-only
"""What a run prints of several workloads."""

from types import SimpleNamespace

import pandas as pd

from pyorch.runs.summary import by_workload


def test_each_step_has_its_own_shares():
    flows = pd.DataFrame({"flow": [0, 1], "start_ps": 0, "receiver_end_ps": [10**6, 2 * 10**6]})
    steps = pd.DataFrame({
        "workload": [0, 1], "step_ps": [4 * 10**6, 2 * 10**6],
        "exposed_share": [0.5, 0.25], "bubble_share": [0.125, 0.0],
    })  # fmt: skip
    tables = SimpleNamespace(table=lambda name: flows, ids_of=lambda index: [index])
    run = SimpleNamespace(
        _run=tables, tables=["flows", "tasks"], metric=lambda name: steps,
        spec=SimpleNamespace(workload=[SimpleNamespace(type="training")] * 2),
    )  # fmt: skip
    words = by_workload(run)

    assert words["step of workload 0"] == "4 us" and words["step of workload 1"] == "2 us"
    assert words["  workload 0: devices wait for messages"] == "37.5 % of the step"
    assert words["  workload 1: devices wait for messages"] == "25.0 % of the step"
    assert words["  workload 0: for other stages (bubble)"] == "12.5 % of the step"
