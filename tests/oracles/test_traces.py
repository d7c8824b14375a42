# SPDX-License-Identifier: GPL-2.0-only
"""A training step that is exported, imported and run takes the times that it took."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from test_training import scenario
from typer.testing import CliRunner

import pyorch
from pyorch.cli.app import app
from pyorch.metrics import RunTables, training_step
from pyorch.theory import preset

pytestmark = pytest.mark.ns3

#: 24 s h^2 + 8 s^2 h = 4.62029e16 FLOP for a layer of h = 240 000, s = 32 000, on 8 devices of 40
#: PFLOPS: 144 384 us. 96 times smaller a half of the forward pass takes 752 us, so that neither ns
#: nor us round it.
CHANGES = {
    "hidden: 244224": "hidden: 240000", "tensor: 18": "tensor: 8",
    "memory: 192 GB, compute: 20 PFLOPS": "memory: 1 TB, compute: 40 PFLOPS",
}  # fmt: skip
ENDS = ["node", "start_ps", "end_ps"]


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    """Return a folder with the scenario of a step and both exports of it, and its run."""
    folder = tmp_path_factory.mktemp("traces")
    text = Path(preset.__file__).with_name("presets").joinpath("dense-100t.yaml").read_text()
    for old, new in CHANGES.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "exact.yaml").write_text(text)
    whole = scenario(preset=str(folder / "exact.yaml"), divide=96, chunks=4)
    (folder / "step.yaml").write_text(yaml.safe_dump(whole))
    for format_ in ("goal", "chakra"):
        done = CliRunner().invoke(
            app, ["export", format_, str(folder / "step.yaml"), "--out", str(folder / "out")]
        )
        assert done.exit_code == 0 and "rounded" not in done.output, done.output
    return folder, whole, pyorch.run(whole, results=folder)


def times(run, kind):
    """Return node, start and end of the tasks of a kind, sorted."""
    table = run.table("tasks")
    return table[table["kind"] == kind].sort_values(ENDS)[ENDS].to_numpy(dtype=np.int64)


@pytest.mark.parametrize("engine", ["packets", "fluid"])
@pytest.mark.parametrize(
    "format_, name", [("goal", "tasks.goal"), ("goal", "tasks.bin"), ("chakra", "tasks.0.et")]
)
def test_an_exported_step_takes_the_same_times_again(step, format_, name, engine):
    folder, whole, original = step
    if engine == "fluid":
        original = pyorch.run(whole | {"engine": engine}, results=folder)
    load = {"type": "trace", "format": format_, "file": str(folder / "out" / name)}
    again = pyorch.run(whole | {"workload": load, "engine": engine}, results=folder)

    for kind in (0, 1):  # computations and messages
        assert np.array_equal(times(original, kind), times(again, kind))
    rows = [training_step.measure(RunTables(run.spec, run.folder)).iloc[0]
            for run in (original, again)]  # fmt: skip
    for name in ("devices", "step_ps", "compute_ps", "exposed_share"):
        assert rows[0][name] == rows[1][name]
    # A trace does not say what its messages are for: all waiting is for others.
    waits = [f"{kind}_share" for kind in ("tensor", "pipeline", "data", "other", "bubble")]
    assert rows[1]["other_share"] == pytest.approx(rows[0][waits].sum())


def test_computations_that_are_rounded_are_said(step, tmp_path):
    folder = step[0]
    done = CliRunner().invoke(
        app,
        ["export", "goal", str(folder / "step.yaml"), "--set", "workload.divide=97", "--out",
         str(tmp_path)],
    )  # fmt: skip
    # 144 384 000 000 ps / 97 / 2 is no whole ns.
    assert "GOAL has computations in whole ns: " in done.output and "are rounded" in done.output


def test_the_published_times_of_loggopsim(tmp_path):
    # Oracle: the output in LogGOPSim's README. Each hop is o + L + (s-1) G + o = 11638 ns: host 0
    # ends after three, 1 after two and the o of its own message, 2 and 3 after one and o, all
    # others at o.
    published_ns = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]
    for variant in ("packets", "fluid"):
        run = pyorch.run("scenarios/goal.yaml", variant=variant, results=tmp_path)
        computed = run.table("tasks").query("kind == 0").groupby("node")["end_ps"].max()
        assert (computed // 1000).tolist() == published_ns and (computed % 1000 == 0).all()
