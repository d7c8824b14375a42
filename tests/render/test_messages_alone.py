# SPDX-License-Identifier: GPL-2.0-only
"""Who asks how large a run is gets its messages without the rest, and no graph is made twice."""

from pathlib import Path

import numpy as np
import pytest

from pyorch import render
from pyorch import spec as specs
from pyorch.workload import training

ROOT = Path(__file__).parents[2]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"


def runs(name):
    path = ROOT / "scenarios" / f"{name}.yaml"
    return specs.plan(specs.read_scenario(path), "smoke", typeids_file=TYPEIDS)


@pytest.mark.parametrize("name", ["rail", "jobs", "training_step", "transports", "wan_te", "goal"])
def test_messages_alone_are_those_of_the_run(name):
    for run in runs(name)[:3]:
        alone, whole = render.message_tables(run.spec), render.input_tables(run.spec)
        assert list(alone["flows"]) == list(whole["flows"])
        for column, values in alone["flows"].items():
            assert np.array_equal(values, whole["flows"][column]), column


def test_a_step_is_put_together_once_for_all_runs_of_it_and_their_sizes(monkeypatch):
    for cached in (training._graph, training._messages, training._check_graph):
        cached.cache_clear()
    built = []
    monkeypatch.setattr(
        training.step,
        "build",
        lambda plan, build=training.step.build: built.append(plan) or build(plan),
    )
    planned = runs("training_step")
    plans = {training.plan_of(load.params) for run in planned for load in run.spec.workload}
    training._graph.cache_clear()  # others have taken its place
    for run in planned:
        render.message_tables(run.spec)

    assert len(planned) > len(plans) and set(built) == plans and len(built) == len(plans)
