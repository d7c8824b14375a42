# SPDX-License-Identifier: GPL-2.0-only
"""Plug-ins in Python live in a study, and in packages of others, beside pyorch's own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import built, origin, plugins, trust
from pyorch.cli.init import init
from pyorch.errors import PluginError
from pyorch.scaffold import KINDS, write
from pyorch.scaffold.kinds import File

ROOT = Path(__file__).parents[2]
OF_PYTHON = [
    name
    for name, kind in KINDS.items()
    if isinstance(kind, File) and kind.path.startswith("pyorch/")
]
SCENARIO = """\
name: own
topology: {type: my_topology, hosts: 8}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload:
  - {type: my_workload, message: 100 kB}
  - {type: collective, algorithm: my_collective, operation: scatter, ranks: 8, bytes: 80 kB}
transport: {type: ns3::RoceTransport}
failures: [{type: my_failure, row: 0, start: 1 us, lasts: 1 us}]
jobs: {type: my_allocation, hosts: [8, 8]}
stop: 10 ms
"""
STAR = ROOT / "pyorch" / "topology" / "star.py"


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Go to a new study, made by a user with a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    init(tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    yield tmp_path / "study"
    for name in [name for name in sys.modules if re.match(r"pyorch\.\w+\.(my_|others)", name)]:
        del sys.modules[name]


def call(*arguments, **variables):
    """Run a command of pyorch in this folder; return its status and what it said."""
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", *arguments], text=True, timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | variables,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.ns3
@pytest.mark.slow
def test_every_kind_is_written_and_used_in_a_study_and_nothing_of_pyorch_changes(study):
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "pyorch").rglob("*.py")}
    for kind in OF_PYTHON:
        (path,) = write(kind, f"my_{kind}")
        assert path.is_relative_to(study)
    scenario = study / "scenarios" / "own.yaml"
    scenario.write_text(
        SCENARIO.replace("hosts: [8, 8]", "hosts: [4, 4]").replace("ranks: 8", "ranks: 4")
    )

    status, said = call("sweep", str(scenario), "--metric", "my_metric")
    assert status == 0, said
    assert "goodput_bps" in (study / "results/own/laptop/my_metric.csv").read_text()
    (made,) = (study / "results" / "own").glob("s1-*/provenance.json")
    used = json.loads(made.read_text())["code_sha256"]
    assert {name for name in used if not name.startswith("pyorch/")} == {
        f"./{kind}/my_{kind}.py" for kind in ("topology", "workload", "collective", "failure")
    }
    assert {path: path.stat().st_mtime_ns for path in before} == before

    # Nobody names this one, so it disturbs nobody.
    (study / "topology" / "broken.py").write_text("raise RuntimeError('broken')")
    status, said = call("sweep", str(scenario), "--metric", "none", "--set", "seed=2")
    assert status == 0 and "1 run made" in said and "ended with status" not in said, said

    # A plug-in that is edited outdates the runs that it has made.
    file = study / "topology" / "my_topology.py"
    file.write_text(file.read_text() + "\n")
    status, said = call("run", str(scenario))
    assert status == 0 and "./topology/my_topology.py has changed" in said


@pytest.mark.ns3
def test_commands_that_read_execute_nothing_of_a_study_in_which_nothing_was_run(study, tmp_path):
    write("topology", "my_topology")
    file = study / "topology" / "my_topology.py"
    file.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n{file.read_text()}")
    scenario = study / "scenarios" / "own.yaml"
    scenario.write_text(re.sub(r"(?m)^(failures|jobs).*\n|^  - \{type: coll.*\n", "", SCENARIO)
                        .replace("my_workload", "all_to_all"))  # fmt: skip
    stranger = {"XDG_CONFIG_HOME": str(tmp_path / "other")}

    status, said = call("spec", str(scenario), **stranger)
    assert status == 1 and "topology 'my_topology', topology/my_topology.py, is Python of" in said
    assert call("list", "topologies", **stranger)[0] == 0
    assert not (tmp_path / "executed").exists()
    status, said = call("spec", str(scenario), **{**stranger, trust.VARIABLE: "1"})
    assert status == 0 and (tmp_path / "executed").exists(), said


def test_two_of_one_name_are_refused_with_both_places(study):
    (study / "topology").mkdir()
    (study / "topology" / "star.py").write_text(STAR.read_text())
    message = "called topology 'star': pyorch/topology/star.py and topology/star.py. Rename one"
    with pytest.raises(PluginError, match=re.escape(message)):
        plugins.names("pyorch.topology")


def test_another_study_has_other_plug_ins_of_the_same_name(study, tmp_path, monkeypatch):
    sides = []
    for name in ("one", "two"):
        init(tmp_path / name)
        monkeypatch.chdir(tmp_path / name)
        (path,) = write("topology", "my_topology")
        path.write_text(f"{path.read_text()}\nSIDES = {name!r}\n")
        sides.append(plugins.load("pyorch.topology", "my_topology").SIDES)
    assert sides == ["one", "two"]


def test_a_package_of_others_brings_plug_ins_by_entry_points(study, tmp_path, monkeypatch):
    site = tmp_path / "site"
    info = site / "rings-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rings\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pyorch.topology]\nothers_star = rings.star\n")
    (site / "rings").mkdir()
    (site / "rings" / "__init__.py").touch()
    (site / "rings" / "star.py").write_text(STAR.read_text())
    monkeypatch.syspath_prepend(site)
    built._entry_points.cache_clear()
    try:
        assert "others_star" in plugins.names("pyorch.topology")
        module = plugins.load("pyorch.topology", "others_star")
        assert module.__name__ == "rings.star"
        (path,) = [
            path
            for path in origin.files(["pyorch.topology.others_star"])
            if path.is_relative_to(site)
        ]
        monkeypatch.setattr(origin, "_began_ns", path.stat().st_ctime_ns)
        recorded = origin.digests([path])
        assert recorded == {"pyorch.topology.others_star": origin.digest_of(STAR)}
        assert origin.current(recorded) == ""
        path.write_text("")
        assert origin.current(recorded) == "pyorch.topology.others_star"
    finally:
        built._entry_points.cache_clear()
