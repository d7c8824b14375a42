# SPDX-License-Identifier: GPL-2.0-only
"""A scenario that comes with pyorch is not warned of, except of what it is about."""

import runpy
from pathlib import Path

import pytest

from pyorch import render
from pyorch import spec as specs

ROOT = Path(__file__).parents[2]
FOLDERS = ("scenarios", "docs/gallery/scenarios", "docs/papers/scenarios")
FILES = sorted(path for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.yaml"))
#: A link is slow, and its queue is as long as before, as in the source or as switches have it.
MEANT = dict.fromkeys(("failed_link", "gray", "ndp_slow_link"), "stay as many bytes there")

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_scenario_is_not_warned_of(path, tmp_path):
    runs = specs.plan(specs.read_scenario(path), "smoke")
    for run in {(run.variant, run.case): run for run in runs}.values():
        specs.write_spec(run, tmp_path / "spec.json")
        render.write_run(run.spec, tmp_path)
        fabric = runpy.run_path(str(tmp_path / "scenario.py"))["build"]()
        lines = fabric.warnings(fabric.load().Facade())
        meant = MEANT.get(path.stem, "nothing")
        assert [line for line in lines if meant not in line] == [], (run.variant, run.case)
