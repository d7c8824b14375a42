# SPDX-License-Identifier: GPL-2.0-only
"""A study is a folder anywhere: one command makes it, its Snakefile runs it, with own modules."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from pyorch.cli.init import init
from pyorch.errors import OutputError

ROOT = Path(__file__).parents[2]


def call(folder, *arguments, status=0):
    """Run a program of Python in a study and return what it said."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)], cwd=folder, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    return done.stdout


@pytest.fixture
def study(tmp_path):
    """A study in a folder whose name needs quotes."""
    folder = tmp_path / "my study (1)"
    init(folder)
    return folder


def test_a_study_is_small_and_is_never_written_over(study):
    names = {str(path.relative_to(study)) for path in study.rglob("*") if path.is_file()}

    assert {"Snakefile", ".gitignore", "scenarios/incast.yaml"} <= names
    rules = (study / "Snakefile").read_text().splitlines()
    assert len([line for line in rules if line and not line.startswith("#")]) <= 8
    (study / "Snakefile").write_text("mine")
    (study / "README.md").unlink()
    with pytest.raises(OutputError, match="is there already, and nothing was written."):
        init(study)
    assert (study / "Snakefile").read_text() == "mine" and not (study / "README.md").exists()


@pytest.mark.ns3
def test_editors_find_the_schema_of_its_scenarios(study):
    # As the language server does: the path in the first line is relative to the scenario.
    call(study, "pyorch", "new", "scenario", "mine")
    for path in (study / "scenarios").iterdir():
        first, _, rest = path.read_text().partition("\n")
        assert first.startswith("# yaml-language-server: $schema=")
        made = json.loads((path.parent / first.partition("=")[2]).read_text())
        is_valid = jsonschema_rs.validator_for(made).is_valid
        scenario = yaml.safe_load(rest)
        assert is_valid(scenario) and not is_valid(scenario | {"stopp": "1 ms"})
    # Another process has other orders of sets.
    call(study, "pyorch", "schema", "--out", "again.json")
    again = (study / "again.json").read_text()
    assert again == (study / "scenario.schema.json").read_text()


@pytest.mark.ns3
def test_its_workflow_knows_its_own_scenarios_and_no_others(study):
    said = call(study, "snakemake", "-n", "--cores", "2", "--config", "scale=smoke")

    jobs = dict(line.split() for line in said.splitlines() if len(line.split()) == 2)
    assert (jobs["simulate"], jobs["figure"], jobs["metrics"]) == ("9", "1", "1")


@pytest.mark.ns3
@pytest.mark.slow
def test_a_study_makes_its_figure(study):
    text = (study / "scenarios" / "incast.yaml").read_text()
    text = text.replace("[4, 8, 16]", "[4]").replace("[1, 2, 3]", "[1]")
    (study / "scenarios" / "incast.yaml").write_text(text)
    call(study, "snakemake", "--cores", "2", "--config", "scale=smoke")

    figures = {path.name for path in (study / "figures" / "smoke").iterdir()}
    suffixes = ("pdf", "svg", "png", "csv", "txt", "provenance.csv")
    assert figures == {f"slowest_by_senders.{suffix}" for suffix in suffixes}
    table = study / "figures" / "smoke" / "slowest_by_senders.provenance.csv"
    made = [row.split(",")[:6] for row in table.read_text().splitlines()[1:]]
    runs = {path.parent.name for path in (study / "results").glob("incast/*/provenance.json")}
    assert {row[5] for row in made} == runs and len(made) == len(runs) > 0
    assert not (study / "build").exists()


@pytest.mark.ns3
@pytest.mark.slow
def test_a_new_plug_in_is_written_into_the_study_and_works_there(study):
    before = sorted((ROOT / "ns3-modules").iterdir())
    for kind, name in (("transport", "drum"), ("queue", "oboe"), ("scenario", "drum")):
        said = call(study, "pyorch", "new", kind, name)
        assert said.startswith(("ns3-modules/", "scenarios/"))
    call(study, "pyorch", "new", "figure", "drum")
    taken = call(study, "pyorch", "new", "queue", "roce", status=1)
    assert taken.startswith("queue 'roce': pyorch has a module of this name.")
    assert sorted((ROOT / "ns3-modules").iterdir()) == before

    call(study, "pyorch.simulate.build", "test-runner")
    for suite in ("drum-transport", "oboe-queue"):
        command = [study / "build/bin/test-runner", f"--suite={suite}", "--verbose"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stdout.startswith(f"PASS {suite}"), done.stdout + done.stderr
    own = "transport.type=ns3::DrumTransport", "switch.queue={type: ns3::OboeQueue}"
    run = ("run", "scenarios/drum.yaml", "--scale", "smoke", "--set", own[0], "--set", own[1])
    call(study, "pyorch", *run, "--out", "own")
    assert "libdrum.so" in (study / "own" / "provenance.json").read_text()


@pytest.mark.ns3
@pytest.mark.slow
def test_a_module_of_its_own_is_built_beside_the_installed_ones(study):
    module = study / "ns3-modules" / "mine"
    (module / "model").mkdir(parents=True)
    for name in ("drop-tail.h", "drop-tail.cc"):
        source = next((ROOT / "ns3-modules").rglob(name)).read_text()
        own = source.replace("DropTail", "MineTail").replace("drop-tail", "mine-tail")
        own = own.replace("DROP_TAIL", "MINE_TAIL")
        own = re.sub(r'#include "(?!ns3/|mine)', '#include "ns3/', own)
        (module / "model" / name.replace("drop", "mine")).write_text(own)
    (module / "CMakeLists.txt").write_text(
        "build_lib(LIBNAME mine SOURCE_FILES model/mine-tail.cc HEADER_FILES model/mine-tail.h"
        " LIBRARIES_TO_LINK ${libcontract})\n"
    )
    call(study, "pyorch.simulate.build")
    run = ("run", "scenarios/incast.yaml", "--scale", "smoke")
    call(study, "pyorch", *run, "--set", "switch.queue.type=ns3::MineTail", "--out", "own")
    call(study, "pyorch", *run, "--out", "theirs")

    libraries = {path.name: path for path in (study / "build" / "lib").iterdir()}
    assert not libraries["libmine.so"].is_symlink() and libraries["libcontract.so"].is_symlink()
    assert "libmine.so" in (study / "own" / "provenance.json").read_text()
    # The same queue by another name gives the same result.
    for table in ("flows", "ports"):
        own, theirs = (study / name / f"{table}.parquet" for name in ("own", "theirs"))
        assert own.read_bytes() == theirs.read_bytes()
