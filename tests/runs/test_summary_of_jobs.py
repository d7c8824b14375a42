# SPDX-License-Identifier: GPL-2.0-only
"""What a run prints of several workloads."""

from types import SimpleNamespace

import pandas as pd
import pytest

import pyorch
from pyorch.metrics.training_step import refusal
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


@pytest.mark.ns3
def test_a_collective_beside_a_step_is_no_step(tmp_path):
    # A collective has a graph of messages, but it computes nothing.
    ring = {"type": "collective", "algorithm": "ring", "operation": "all_reduce", "ranks": 4,
            "bytes": "400 kB"}  # fmt: skip
    step = {"type": "training", "preset": "llama3-70b", "stages": 1, "peers": 2, "tensor": 4,
            "divide": 400}  # fmt: skip
    scenario = {
        "name": "both", "link": {"rate": "400 Gb/s", "delay": "500 ns"},
        "topology": {"type": "rails", "devices": 4, "rail": {"type": "star", "hosts": 4},
                     "scale_up": {"rate": "2880 Gb/s", "delay": "100 ns"}},
        "switch": {"buffer": "64 MB"}, "transport": {"type": "ns3::RoceTransport"},
        "stop": "100 ms", "workload": [step, ring], "jobs": {"type": "aligned", "hosts": [8, 4]},
    }  # fmt: skip
    run = pyorch.run(scenario, results=tmp_path)

    assert run.metric("training_step")["workload"].tolist() == [0]
    assert any("step" in words for words in by_workload(run))
    ring_alone = {key: value for key, value in scenario.items() if key != "jobs"}
    alone = pyorch.run(ring_alone | {"name": "ring", "workload": ring}, results=tmp_path)
    assert "no workload of this run computes" in refusal(alone.spec)
