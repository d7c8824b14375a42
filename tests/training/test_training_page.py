# SPDX-License-Identifier: GPL-2.0-only
"""The messages of the steps whose time and memory docs/training.md gives."""

import re
from pathlib import Path

import pytest

from pyorch import render, spec

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "docs" / "gallery" / "scenarios" / "deepseek_v3.yaml"
PAGE = (ROOT / "docs" / "training.md").read_text().partition("### Time and memory of a step")[2]
ROWS = [
    [int(cell.replace(",", "")) for cell in row]
    for row in re.findall(r"^\| (\d+) \| (\d+), (\d+) \| ([\d,]+) \|", PAGE, re.M)
]


def test_the_page_has_steps_of_up_to_2048_gpus():
    assert [gpus for gpus, *_ in ROWS] == [64, 128, 256, 512, 1024, 2048]
    assert all(gpus == 8 * stages * peers for gpus, stages, peers, _ in ROWS)


@pytest.mark.parametrize(("gpus", "stages", "peers", "messages"), ROWS[:3])
def test_a_step_has_so_many_messages(gpus, stages, peers, messages):
    sets = {
        "sweep": {}, "workload.schedule": "steady", "workload.micro_batches": 1,
        "workload.stages": stages, "workload.peers": peers,
        "topology.rail.leaves": stages * peers // 4,
    }  # fmt: skip
    (run,) = spec.plan(spec.read_scenario(SCENARIO), sets=sets.items(), variant="sprayed")
    assert len(render.input_tables(run.spec)["flows"]["src"]) == messages
