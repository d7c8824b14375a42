# SPDX-License-Identifier: GPL-2.0-only
"""A study in which every program says that it runs: those that do are those of the page."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml

from pyorch.built import ENGINE, INSTALLED
from pyorch.cli.app import app
from pyorch.cli.init import init

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "what_runs.md").read_text()
#: What pyorch imports, by every way that there is; each would be found first in this folder.
IMPORTED = ("yaml", "numpy", "pandas", "pydantic", "typer", "rich", "jinja2", "pyarrow", "json",
            "matplotlib", "networkx", "scipy", "cppyy", "snakemake", "sitecustomize")  # fmt: skip
SAY = "import os; open(os.environ['CANARY'], 'a').write('{}\\n')"
SCENARIO = """\
name: incast
topology: {type: star, hosts: 3}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 10 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
ONE = "scenarios/incast.yaml"
COMMANDS = {
    "spec": [ONE], "list": ["transports"], "topology": [ONE], "export": ["hpcc", ONE, "--out", "o"],
    "render": ["{run}/spec.json", "--out", "r"], "traces": ["{run}"], "results": [], "prune": [],
    "metrics": ["fct", ONE, "--out", "fct.csv"], "show": ["{run}"], "compare": ["{run}", "{run}"],
    "plot": ["fct", "{run}"], "look": ["{run}", "--out", "l.json"],
    "benchmarks": ["--out", "b.csv"], "theory": ["presets"],
    "design": ["llama3-8b"], "schema": [], "package": ["results"],
}  # fmt: skip

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study that somebody has sent, with the result of its run."""
    folder = tmp_path_factory.mktemp("sent")
    init(folder)
    (folder / ONE).write_text(SCENARIO)
    for plot in (folder / "plots").glob("*.py"):
        plot.unlink()
    assert run(folder, "pyorch", "run", ONE) == set()
    for script in folder.glob("results/*/*/scenario.py"):
        script.write_text(SAY.format("scenario.py"))
    for name in IMPORTED:
        (folder / f"{name}.py").write_text(f"{SAY.format('import')}\nraise ImportError('canary')")
    with (folder / "Snakefile").open("a") as file:
        file.write(f"\n{SAY.format('Snakefile')}\n")
    profile = folder / "profiles" / "default" / "config.yaml"
    settings = yaml.safe_load(profile.read_text())
    code = "open(__import__('os').environ['CANARY'], 'a').write('profiles') * 0 + 300"
    settings["default-resources"]["mem_mb"] = code
    profile.write_text(yaml.safe_dump(settings))
    (folder / "plots" / "canary.py").write_text(f'"""Mine."""\nNEEDS = {{}}\n{SAY.format("plots")}')
    return folder


def run(folder, *command, status=0):
    """Return what of a folder says that it ran."""
    canary = folder / "canary.txt"
    canary.write_text("")
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True,
        env=os.environ | {
            "CANARY": str(canary), "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return set(canary.read_text().split())


def test_the_page_has_every_command_and_says_that_looking_executes_nothing():
    row = next(line for line in PAGE.splitlines() if "| nothing" in line)
    assert {*re.findall(r"`([a-z]+)`", row)} == {"pyorch", "verify", *COMMANDS}
    known = {name for line in PAGE.splitlines() if line.startswith("|")
             for name in re.findall(r"`(?:pyorch )?([a-z]+)`", line)}  # fmt: skip
    app.add_typer(typer.Typer(), name="theory")
    writes_only = {"new", "init", "attributes"}  # they write programs and read none
    commands = {(c.name or c.callback.__name__) for c in app.registered_commands}
    assert commands - writes_only <= known


@pytest.mark.parametrize("way", [["pyorch"], [sys.executable, "-m", "pyorch"]], ids=len)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_looks_at_a_study_executes_nothing_of_it(study, name, way):
    (folder,) = study.glob("results/incast/s*")
    words = [word.format(run=folder) for word in COMMANDS[name]]
    assert run(study, *way, name, *words) == set()


def test_verify_executes_nothing_of_the_script_that_was_changed(study):
    assert run(study, "pyorch", "verify", status=1) == set()


def test_a_run_executes_no_script_that_was_handed_on(study, tmp_path):
    folder = shutil.copytree(study, tmp_path / "sent")
    assert run(folder, "pyorch", "run", ONE, "--force") == set()
    assert run(folder, "pyorch", "run", ONE, "--seed", "2") == set()
    assert run(folder, "pyorch", "sweep", ONE, "--cores", "1", "--set", "seed=3") == set()


def test_simulate_executes_the_script_that_it_is_given(study, tmp_path):
    script = tmp_path / "scenario.py"
    script.write_text(SAY.format("scenario.py"))
    assert run(study, "pyorch", "simulate", script, status=1) == {"scenario.py"}


def test_snakemake_executes_the_snakefile_profiles_and_plots(study, tmp_path):
    ignore = shutil.ignore_patterns(*(f"{name}.py" for name in IMPORTED))
    folder = shutil.copytree(study, tmp_path / "sent", ignore=ignore)
    assert run(folder, "snakemake", "-n") == {"Snakefile", "profiles"}
    drawn = "figures/laptop/canary.csv"
    said = run(folder, "snakemake", "--cores", "1", "--keep-going", drawn, status=1)
    assert said >= {"Snakefile", "plots"}


def test_a_build_executes_cmake_of_the_modules(study, tmp_path):
    folder = shutil.copytree(study, tmp_path / "sent")
    (folder / "ns3-modules" / "canary").mkdir()
    text = "file(APPEND $ENV{CANARY} ns3-modules)\nmessage(FATAL_ERROR enough)\n"
    (folder / "ns3-modules" / "canary" / "CMakeLists.txt").write_text(text)
    for name in ("spec", "topology", "export"):
        assert run(folder, "pyorch", name, *COMMANDS[name], status=1) == set()  # it is not built
    for command in (["pyorch", "run", ONE], [sys.executable, "-P", "-m", "pyorch.simulate.build"]):
        assert run(folder, *command, status=1) == {"ns3-modules"}


def test_what_looks_at_a_study_loads_no_library_that_came_with_it(study, tmp_path):
    folder = shutil.copytree(study, tmp_path / "sent")
    (folder / "ns3-modules" / "canary").mkdir()
    (folder / "ns3-modules" / "canary" / "CMakeLists.txt").touch()
    (folder / "build" / "lib").mkdir(parents=True)
    shutil.copy(INSTALLED / "typeids.json", folder / "build")
    source = tmp_path / "canary.cc"
    source.write_text(
        "#include <cstdlib>\n#include <fstream>\n__attribute__((constructor)) static void Say() {"
        ' std::ofstream(std::getenv("CANARY"), std::ios::app) << "library\\n"; }\n'
    )
    planted = folder / "build" / "lib" / ENGINE
    subprocess.run(["c++", "-shared", "-fPIC", source, "-o", planted], check=True)
    for library in INSTALLED.glob("lib/*.so"):
        if library.name != planted.name:
            shutil.copy(planted, planted.with_name(library.name))
    load = f"import ctypes; ctypes.CDLL({str(planted)!r})"
    assert run(folder, sys.executable, "-P", "-c", load) == {"library"}
    for name in ("spec", "topology", "export"):
        assert run(folder, "pyorch", name, *COMMANDS[name]) == set()


def test_a_plot_executes_itself(study):
    assert "plots" in run(study, sys.executable, "plots/canary.py")
