# SPDX-License-Identifier: GPL-2.0-only
"""A folder that an option names is filled if it is new, empty or a run's, and else left alone."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyorch
from pyorch.cli.init import init
from pyorch.errors import OutputError
from pyorch.runs.claim import claim
from pyorch.spec import read_spec

SCENARIO = """\
name: small
topology: {type: star, hosts: 3}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 10 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
#: Each would be deleted or replaced by some command that fills a folder.
PRECIOUS = (
    "manifest.json", "summary.parquet", "flows.parquet", "raw.npz", "scenario.py", "tables.npz",
    "spec.json", "provenance.json", "network.json", "topology.txt", ".precious.tmp", "notes.txt",
)  # fmt: skip
pytestmark = pytest.mark.ns3


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def theirs(tmp_path):
    """A folder of a web project, say."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in PRECIOUS:
        (folder / name).write_text('{"name": "precious"}')
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "small.yaml").write_text(SCENARIO)
    assert call("run", folder / "small.yaml", "--out", folder / "run").returncode == 0
    return folder / "run"


def call(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "pyorch", *map(str, arguments)], capture_output=True, text=True
    )


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "command", ["run", "run --force", "export", "render", "simulate", "traces"]
)
def test_a_folder_of_others_is_refused_and_left_as_it_was(command, scenario, theirs, made):
    before = content(theirs)
    word, *options = command.split()
    given = {
        "run": [scenario], "export": ["hpcc", scenario], "render": [made / "spec.json"],
        "simulate": [made / "scenario.py"], "traces": [made],
    }  # fmt: skip
    done = call(word, *given[word], *options, "--out", theirs)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        f"{theirs}: is neither empty nor the folder of a run (no spec.json of pyorch), so nothing"
        " was written there. Name a new folder: --out FOLDER\n"
    )
    assert content(theirs) == before


def test_python_refuses_it_as_well(scenario, theirs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = content(theirs)
    with pytest.raises(OutputError, match=f"^{re.escape(str(theirs))}: is neither empty nor"):
        pyorch.run(scenario, out=theirs)
    assert content(theirs) == before


@pytest.mark.parametrize("command", ["run", "export", "render", "simulate", "traces"])
def test_a_new_folder_becomes_a_run_s_and_is_filled_again(command, scenario, made, tmp_path):
    given = {
        "run": [scenario], "export": ["hpcc", scenario], "render": [made / "spec.json"],
        "simulate": [made / "scenario.py"], "traces": [made],
    }  # fmt: skip
    for _ in range(2):
        done = call(command, *given[command], "--out", tmp_path / "new")
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "new/spec.json").read_text())["name"] == "small"


def test_a_step_without_out_works_in_the_folder_of_the_run(made, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(made / "spec.json", folder)
    for word, given in (("render", "spec.json"), ("simulate", "scenario.py"), ("traces", ".")):
        done = call(word, folder / given)
        assert done.returncode == 0, done.stderr
    assert content(folder)["flows.parquet"] == content(made)["flows.parquet"]


def test_results_of_another_run_are_no_place_to_export_to(scenario, made):
    before = content(made)
    done = call("export", "hpcc", scenario, "--seed", 2, "--out", made)
    assert done.returncode == 1 and "holds the result of another run, so nothing" in done.stderr
    assert content(made) == before
    claim(made, read_spec(made / "spec.json"))
    assert content(made) == before


def test_what_is_no_folder_is_said_when_it_is_filled(scenario, tmp_path):
    (tmp_path / "file").write_text("precious")
    done = call("run", scenario, "--out", tmp_path / "file")
    assert done.returncode == 1
    assert re.fullmatch(r".*/file: cannot be written \(File exists\)\. .*\n", done.stderr)


@pytest.mark.parametrize("name", ["notes.txt", "plots", "Snakefile", ".gitignore"])
def test_a_study_is_not_made_where_something_is(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(OutputError, match=re.escape(f"{tmp_path / name}: is there already, and")):
        init(tmp_path)
    assert content(tmp_path) == {name: b"precious"}


def test_a_study_does_not_write_through_a_link_that_leads_nowhere(tmp_path):
    os.symlink(tmp_path / "elsewhere", tmp_path / "study")
    with pytest.raises(OutputError, match="study: is there already"):
        init(tmp_path / "study")
    assert not (tmp_path / "elsewhere").exists()


def test_a_study_may_be_made_in_a_new_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    assert Path(tmp_path / "Snakefile") in init(tmp_path)
