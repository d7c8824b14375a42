# SPDX-License-Identifier: GPL-2.0-only
"""A sweep from the command line: what is told of its jobs, what it makes, what has failed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from processes import called, wait_for

from pyorch.cli.sweep import table_folder
from pyorch.spec import plan
from pyorch.spec.scenario import read_scenario
from pyorch.workflow.events import Progress, line
from pyorch.workflow.planfile import planned, read_plan, write_plan
from pyorch.workflow.sweep import Outcome, metrics_of

EVENTS = [
    {"jobs": {"all": 1, "metrics": 2, "simulate": 3, "total": 6}},
    {"job": 1, "rule": "simulate", "wildcards": {"scenario": "x", "run": "s1-a"}},
    {"job": 2, "rule": "simulate", "wildcards": {"scenario": "x", "run": "s2-b"}},
    {"job": 3, "rule": "metrics", "wildcards": {"scenario": "x", "metric": "fct"}},
    {"started": [1, 2]},
    {"finished": 1},
    {"failed": 2},
    {"failed": 2},
]


def test_progress_is_what_was_told():
    progress = Progress(total=5)
    assert line(progress) == "5 runs: looking which of them are there"
    for event in EVENTS[:5]:
        progress.tell(event)
    assert line(progress) == "0/3 runs, now x/s1-a, x/s2-b"
    for event in EVENTS[5:]:
        progress.tell(event)

    assert (progress.due, progress.done, progress.others_due) == (3, 1, 2)
    assert progress.failed == [("simulate", "x/s2-b")] and progress.running == {}
    # Two of three have ended, so the third takes half of the time so far.
    progress._first_s = time.monotonic() - 10
    assert progress.seconds_left == pytest.approx(5, rel=0.01)
    assert "1/3 runs, 1 failed, about 5 s left" in line(progress)


def test_the_time_left_counts_the_packets_of_what_is_left():
    # Two runs of 1 s and one of 8 have to be made, and two tables of 3 s; another run is there.
    progress = Progress(total=4, work={"x/s1-a": 1, "x/s2-b": 8, "x/s3-c": 1})
    for event in EVENTS[:6]:
        progress.tell(event)
    # What should have taken 1 s took 10, so the other 9 and 6 take 150 s.
    progress._first_s = time.monotonic() - 10
    assert progress.seconds_left == pytest.approx(150, rel=0.01)
    progress.tell({"finished": 2})
    progress._first_s = time.monotonic() - 10
    assert progress.seconds_left == pytest.approx((1 + 6) * 10 / 9, rel=0.01)
    progress.tell({"finished": 3})
    progress._first_s = time.monotonic() - 10
    assert progress.seconds_left == pytest.approx((1 + 3) * 10 / 12, rel=0.01)
    assert "1/2 tables and figures" in line(progress)


def test_the_estimate_counts_until_more_is_known():
    progress = Progress(total=1, work={"x/s1-a": 1, "x/s2-b": 8, "x/s3-c": 1}, cores=2)
    for event in EVENTS[:6]:
        progress.tell(event)
    # What should have taken 0.5 s on two cores took 10, the 60 s of before are taken to be 30.
    progress._first_s = time.monotonic() - 10
    assert progress.seconds_left == pytest.approx(15 * 40 / 61, rel=0.01)


def test_tables_of_a_changed_scenario_have_a_folder_of_their_own():
    folders = [
        table_folder("smoke", variant, case, sets)
        for variant, case, sets in (
            (None, None, []), ("a", None, []), (None, "a", []), ("a", "a", []),
            (None, None, [("seed", 1)]), (None, None, [("seed", 2)]),
        )
    ]  # fmt: skip

    assert folders[0] == "smoke" and len(set(folders)) == 6


@pytest.mark.ns3
def test_a_plan_is_read_as_it_was_written(project, tmp_path):
    runs = plan(read_scenario(project.scenario), "laptop")
    write_plan(runs, tmp_path / "deep" / "plan.jsonl")

    assert read_plan(tmp_path / "deep" / "plan.jsonl") == runs
    assert planned(tmp_path / "deep" / "plan.jsonl", runs[1].folder) == runs[1]


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("added", "without"),
    [
        ("", {"pause_trees", "recovery"}),
        ("trace: {sample: 1 us, pauses: true}\n", set()),
        (
            "failures: [{type: scheduled, links: [[0, 4]], at: 1 us}]\n",
            {"pause_trees", "recovery", "fluid", "fluid_draws", "slowest"},
        ),
    ],
)
def test_a_sweep_makes_the_metrics_that_its_runs_can_be_asked(project, added, without):
    project.scenario.write_text(project.scenario.read_text() + added)
    everything = {"fct", "fluid", "fluid_draws", "pause_trees", "recovery", "slowdown", "slowest"}

    runs = plan(read_scenario(project.scenario), "laptop")
    assert everything - set(metrics_of(runs)) == without


@pytest.mark.ns3
def test_a_sweep_of_flows_that_wait_draws_none_of_them_anew(project):
    (project.scenario.parent / "chain.cm").write_text(
        "Nodes 4\nConnections 2\nTriggers 1\n"
        "0->1 id 1 start 0 size 10 recv_done_trigger 1\n1->2 id 2 trigger 1 size 10\n"
        "trigger id 1 oneshot\n"
    )
    text = project.scenario.read_text().replace(
        "{type: permutation, message: 100 kB}", "{type: htsim_cm, file: chain.cm}"
    )
    project.scenario.write_text(text)
    assert "fluid_draws" not in metrics_of(plan(read_scenario(project.scenario), "laptop"))
    path = project.scenario.parent / "chain.cm"
    path.write_text(path.read_text().replace("trigger 1 size", "start 0 size"))
    assert "fluid_draws" in metrics_of(plan(read_scenario(project.scenario), "laptop"))


def pyorch(project, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "pyorch", *map(str, arguments)], cwd=project.folder,
        env=project.environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("metric", "said"),
    [("slowdwon", "no metrics 'slowdwon'. Found in pyorch/metrics: "),
     ("wan_control", "--metric wan_control: no controller has looked at it. Write ")],
)  # fmt: skip
def test_a_metric_that_cannot_be_asked_is_refused_before_anything_is_run(project, metric, said):
    command = [sys.executable, "-m", "pyorch", "sweep", project.scenario, "--metric", metric]
    done = subprocess.run(
        command, cwd=project.folder, env=project.environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and done.stderr.startswith(said) and done.stderr.count("\n") == 1
    assert not list((project.folder / "results").glob("*/s*"))


@pytest.mark.ns3
@pytest.mark.slow
def test_a_sweep_makes_runs_and_tables_once_and_leaves_snakemake_to_its_log(project):
    first = pyorch(project, "sweep", project.scenario, "--cores", 2)

    assert first.returncode == 0, first.stderr
    assert "tiny: 2 runs made, 0 finished before, 0 failed." in first.stdout
    assert "rule" not in first.stderr and "Snakemake" not in first.stdout
    log = (project.folder / "logs/sweep/tiny-laptop.log").read_text()
    assert "Finished jobid" in log
    table = pd.read_csv(project.folder / "results/tiny/laptop/slowdown.csv")
    assert table["seed"].tolist() == [1, 2]
    again = pyorch(project, "sweep", project.scenario, "--cores", 2)
    assert "tiny: 0 runs made, 2 finished before, 0 failed." in again.stdout
    # The workflow of the study finds the same runs and tables finished.
    assert set(project.jobs("results/tiny/laptop/slowdown.csv")) == set()


def test_what_a_metric_said_when_it_failed_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rule, log, words in [
        ("metrics", "x/smoke-1234/fct.log", "fct: flow 3 did not finish"),
        ("simulate", "x/s2-b.log", "killed"),
    ]:
        path = Path("logs", rule, log)
        path.parent.mkdir(parents=True)
        path.write_text(f"first\n{words}\n")
    progress = Progress(total=2, failed=[("metrics", "x/fct"), ("simulate", "x/s2-b")])

    assert Outcome(1, progress, Path("log"), folder="smoke-1234").failures() == [
        "x/fct: fct: flow 3 did not finish",
        "x/s2-b: killed",
    ]


@pytest.mark.ns3
@pytest.mark.slow
def test_a_run_that_fails_is_named_and_the_others_are_kept(project):
    text = project.scenario.read_text().replace("stop: 20 ms", "stop: 100 s")
    sizes = "sweep: {workload.message: [100 kB, 1 TB]}\n"
    project.scenario.write_text(text.partition("sweep:")[0] + sizes)
    process = subprocess.Popen(
        [sys.executable, "-m", "pyorch", "sweep", project.scenario, "--cores", "2", "--metric",
         "none"], cwd=project.folder, env=project.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    runs = plan(read_scenario(project.scenario), "laptop")
    long = max(runs, key=lambda run: run.spec.workload[0].params.message_bytes)
    os.kill(wait_for(lambda: called(long.id, project.folder)), signal.SIGKILL)
    out, err = process.communicate()

    assert process.returncode == 1
    assert f"tiny/{long.id}: Run {long.id} was killed by SIGKILL" in err
    assert "1 run made, 0 finished before, 1 failed." in out
