# SPDX-License-Identifier: GPL-2.0-only
"""The profiles say what Snakemake understands, and a run asks for the time that it may need."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

from pyorch.workflow import runs

PROFILES = sorted((Path(__file__).parents[2] / "profiles").glob("*/config.yaml"))
OPTIONS = {option.lstrip("-") for option in get_argument_parser()._option_string_actions}


def test_every_place_has_its_profile():
    places = ["ci", "cluster", "default", "kubernetes", "slurm"]
    assert [path.parent.name for path in PROFILES] == places


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.parent.name)
def test_every_key_is_an_option_of_snakemake(path):
    settings = yaml.safe_load(path.read_text())
    of_plugin = settings.get("executor", "none") + "-"  # known only where the plug-in is installed

    assert {key for key in settings if not key.startswith(of_plugin)} - OPTIONS == set()


def test_a_study_begins_with_the_profiles_of_the_repository():
    root = Path(__file__).parents[2]
    for name in ("default", "slurm"):
        ours = (root / "profiles" / name / "config.yaml").read_text()
        assert (root / "pyorch/study/profiles" / name / "config.yaml").read_text() == ours
    sweep = (root / "pyorch/workflow/profile/config.yaml").read_text()
    assert sweep == (root / "profiles/default/config.yaml").read_text()


def plan(project, name, *arguments):
    """Return what a dry run with a profile says, without plug-ins that are not installed."""
    settings = yaml.safe_load((Path("profiles") / name / "config.yaml").read_text())
    executor = settings.get("executor", "local")
    plugin = f"snakemake_executor_plugin_{executor.replace('-', '_')}"
    if executor != "local" and importlib.util.find_spec(plugin) is None:
        settings = {k: v for k, v in settings.items() if not k.startswith((executor, "executor"))}
        arguments = (*arguments, "--cores", "2")
    folder = project.folder / "profile"
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    done = project.snakemake("-n", "--workflow-profile", folder, *arguments)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.ns3
@pytest.mark.parametrize("name", ["ci", "cluster", "slurm"])
def test_a_profile_plans_the_whole_workflow(project, name):
    said = plan(project, name, "all")

    # Two runs are two jobs here, and one chunk elsewhere.
    assert re.search(r"^simulate +2$|^simulate_tiny_[0-9a-f]+ +1$", said, re.MULTILINE)
    other = said.partition("rule all:")[2].partition("\nJob stats")[0]
    assert f"mem_mb={300 if name == 'ci' else 600}" in other
    assert ("runtime=30" in other) == (name != "ci")
    assert ("benchmarks_smoke.csv" in said) == (name == "ci")


@pytest.mark.ns3
def test_a_run_may_take_ten_times_what_its_packets_took_here(project):
    # By hand: 4 messages of 2.048 GB in packets of 4096 B are 2 million packets; 30 us each are
    # one minute, beside five for the start.
    text = project.scenario.read_text()
    project.scenario.write_text(text.replace("100 kB", "2048 MB"))
    workflow = runs.read("laptop", project.folder / "scenarios", project.folder / "plots")

    assert {workflow.runtime_min("tiny", run) for run in workflow.runs["tiny"]} == {6}
