# SPDX-License-Identifier: GPL-2.0-only
"""The workflow runs what has to be run, no more, and survives failures and kill -9."""

import inspect
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import called, go_on_when_told_to_end, is_zombie, pause, wait_for
from snakemake.cli import get_argument_parser
from snakemake.scheduling.job_scheduler import JobScheduler

from pyorch.workflow import resources, snakemake
from pyorch.workflow import runs as plans

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.ns3  # the names of runs hold the attributes of the built modules


def test_a_fresh_project_runs_each_step_once_per_run(project):
    assert project.jobs() == {
        "all": 1, "figure": 1, "metrics": 1, "simulate": 2,
        "reproduction": 1, "benchmarks": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_only_what_has_changed_is_run_again(project):
    done = project.snakemake("--cores", "2", "all")
    assert done.returncode == 0, done.stdout
    assert (project.folder / "figures/laptop/tiny.pdf").stat().st_size > 1000
    # Before the first job: two runs of 0.5 s and more, a table, a figure and two reports.
    begin = done.stdout.index("pyorch: tiny: 0 of 2 runs are finished; an estimate for the other 2")
    assert "and 4 tables and figures: 9 s on 2 cores (" in done.stdout[begin:].partition("\n")[0]
    assert begin < done.stdout.index("Simulating tiny s1-")
    assert project.jobs() == {}  # nothing to be done

    project.scenario.write_text("# a comment\n" + project.scenario.read_text())
    assert project.jobs() == {}

    library = project.folder / "build" / "lib" / "libspray.so"
    library.write_bytes(library.read_bytes() + b"another transport")
    (project.folder / "build" / "lib" / "libroce.so").touch()  # built again, the same bytes
    assert project.jobs() == {}

    text = project.scenario.read_text()
    project.scenario.write_text(text.replace("[1, 2]", "[1, 2, 3]"))
    assert project.jobs() == {
        "all": 1, "figure": 1, "metrics": 1, "simulate": 1, "benchmarks": 1,
    }  # fmt: skip

    library = project.folder / "build" / "lib" / "libroce.so"
    library.write_bytes(library.read_bytes() + b"changed")
    assert project.jobs()["simulate"] == 3


def test_a_new_scenario_and_a_new_figure_are_found_without_an_edit(project):
    text = project.scenario.read_text().replace("tiny", "other").replace("[1, 2]", "[7]")
    (project.folder / "scenarios" / "other.yaml").write_text(text)
    plot = (project.folder / "plots" / "tiny.py").read_text()
    (project.folder / "plots" / "other.py").write_text(plot.replace("tiny/", "other/"))

    jobs = project.jobs()

    assert (jobs["figure"], jobs["simulate"]) == (2, 3)


@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_a_dry_run_ends_with_the_estimate(project, quiet):
    done = project.snakemake("-n", *quiet, "--cores", "2", "all")

    last = done.stdout.rstrip().splitlines()[-1]
    assert last.startswith("pyorch: tiny: 0 of 2 runs are finished; an estimate for the other 2")
    assert done.stdout.count("an estimate for") == 1


def test_64_cores_are_bounded_by_the_memory_of_the_machine(project):
    done = project.snakemake("-n", "--cores", "64", "all")

    assert done.returncode == 0
    assert resources.available_mb() > 1000
    # 300 MB at least for each run: 64 of them fit into less than 20 GB.
    workflow = plans.read("smoke", project.folder / "scenarios", project.folder / "plots")
    assert {workflow.memory_mb("tiny", run) for run in workflow.runs["tiny"]} == {300}


def test_runs_that_record_more_are_given_room_for_it(project):
    # By hand: 4 messages of 250 packets of 4096 B; 8 links and so 16 ports.
    def given(trace):
        text = project.scenario.read_text().replace("100 kB", "1024 kB")
        project.scenario.write_text(text.partition("trace:")[0] + f"trace: {trace}\n")
        folder = project.folder
        workflow = plans.read("smoke", folder / "scenarios", folder / "plots")
        run = min(workflow.runs["tiny"])
        names = ("memory_mb", "logs_mb", "disk_mb")
        rows = resources.size_of(workflow.spec("tiny", run)).log_rows
        return rows, *(getattr(workflow, name)("tiny", run) for name in names)

    assert given("{}") == (0, 300, 0, 1000)
    assert given("{arrivals: true, pauses: true}")[0] == 1000 + 100
    # 20 ms: 20001 samples of 16 ports, or the 4 of a leaf, and 4 flows; 160 B and twice 72 B each.
    rows = 20 * 20_001
    assert given("{sample: 1 us}") == (rows, 300 + 64, 64, 1000 + 57)
    assert given("{sample: 1 us, nodes: [4]}")[0] == (4 + 4) * 20_001
    # Two flows of host 1, 1 MB each and 16 B for each packet; raw columns of 20 KB.
    assert given("{pcap: [1]}") == (0, 300, 0, 1000 + 4)


def test_the_dry_run_plans_hundreds_of_runs(project):
    seeds = list(range(1, 301))
    project.scenario.write_text(project.scenario.read_text().replace("[1, 2]", str(seeds)))

    assert project.jobs()["simulate"] == 300


def test_finished_jobs_do_not_add_up_to_timers(monkeypatch):
    started = []

    class Timer:
        def __init__(self, delay_s, function):
            self.function = function

        def start(self):
            started.append(self)

    class Scheduler:
        def __init__(self):
            self._open_jobs = threading.Semaphore(0)

        def _schedule_reevalutation(self, delay):
            raise AssertionError("this one is replaced")

    monkeypatch.setattr(threading, "Timer", Timer)
    snakemake.keep_one_timer(Scheduler)
    scheduler = Scheduler()
    for rounds in (1, 2):  # a timer that has fired is followed by another
        for _ in range(5):
            scheduler._schedule_reevalutation(1)
        assert len(started) == rounds
        assert not scheduler._open_jobs.acquire(blocking=False)
        started[-1].function()
        assert scheduler._open_jobs.acquire(blocking=False)
    theirs = inspect.signature(JobScheduler._schedule_reevalutation)
    assert list(theirs.parameters) == ["self", "delay"]


def test_a_wrong_scenario_is_one_message_and_none_of_its_runs_is_made(project):
    project.scenario.write_text(project.scenario.read_text().replace("800 Gb/s", "800"))
    done = project.snakemake("--cores", "2", "all")

    assert done.returncode == 1
    assert "scenarios/tiny.yaml:4: link.rate: '800' has no unit" in done.stdout
    assert "Traceback" not in done.stdout
    assert not list((project.folder / "results").rglob("scenario.py"))


def test_an_unknown_scale_is_answered_with_the_known_ones(project):
    done = project.snakemake("-n", "all", "--cores", "1", "--config", "scale=huge")

    assert done.returncode == 1
    assert "scale 'huge': there are smoke, laptop, paper." in done.stdout


def test_a_figure_that_needs_an_unknown_metric_is_named(project):
    plot = project.folder / "plots" / "tiny.py"
    plot.write_text(plot.read_text().replace("tiny/fct", "tiny/fcd"))
    done = project.snakemake("-n", "--cores", "1", "all")

    assert "plots/tiny.py: NEEDS: no metric 'fcd'. There are" in done.stdout


#: Messages of 100 kB take no time; with 2 GB a run is there for seconds, so that it can be killed.
TWO_SIZES = """sweep: {workload.message: [100 kB, 2 GB]}
"""


@pytest.fixture
def two_sizes(project):
    """A project with a short run and a long one, and their names."""
    text = project.scenario.read_text().replace("stop: 20 ms", "stop: 200 ms")
    project.scenario.write_text(text.partition("sweep:")[0] + TWO_SIZES)
    runs = plans.read("laptop", project.folder / "scenarios", "none").runs["tiny"].values()
    short, long = sorted(runs, key=lambda run: run.spec.workload[0].params.message_bytes)
    return project, short.id, long.id


def start(project, *arguments):
    """Start Snakemake, with its words in the file ``said``."""
    with (project.folder / "said").open("w") as said:
        return subprocess.Popen(
            project.command("--cores", "2", *arguments), cwd=project.folder,
            env=project.environment, start_new_session=True, stdout=said, stderr=said,
        )  # fmt: skip


@pytest.mark.slow
def test_one_failed_run_is_named_and_leaves_the_others_alone(two_sizes):
    project, short, long = two_sizes
    process = start(project, "all")
    os.kill(wait_for(lambda: called(long, project.folder)), signal.SIGKILL)
    process.wait()
    said = (project.folder / "said").read_text()

    assert process.returncode == 1
    assert f"Run {long} was killed by SIGKILL" in said
    assert f"Alone: pyorch simulate results/tiny/{long}/scenario.py" in said
    assert (project.folder / "results" / "tiny" / short / "flows.parquet").exists()
    assert not (project.folder / "results" / "tiny" / long / "flows.parquet").exists()


@pytest.mark.slow
@pytest.mark.parametrize("with_its_jobs", [True, False])
def test_after_kill_9_the_next_start_works_and_keeps_what_is_finished(two_sizes, with_its_jobs):
    project, short, long = two_sizes
    done, killed = (project.folder / "results" / "tiny" / run for run in (short, long))
    process = start(project, "all")
    simulation = wait_for(lambda: called(long, project.folder))
    pause(simulation)  # two seconds of work, which may end before Snakemake says what is finished
    assert not (killed / "raw.npz").exists()
    wait_for((done / "summary.parquet").exists)
    wait_for(lambda: "Finished jobid:" in (project.folder / "said").read_text())
    finished = {path: path.stat().st_mtime_ns for path in done.iterdir()}
    (os.killpg if with_its_jobs else os.kill)(process.pid, signal.SIGKILL)
    process.wait()
    assert list((project.folder / ".snakemake" / "locks").glob("*.lock"))
    go_on_when_told_to_end(simulation)
    wait_for(lambda: is_zombie(simulation))
    assert not (killed / "raw.npz").exists()

    again = project.snakemake("--cores", "2", "all")

    assert again.returncode == 0, again.stdout
    assert "Removed the lock of a Snakemake that was killed" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in finished} == finished, "nothing was run again"
    assert not list(project.folder.rglob("*.tmp"))
    # Differential: the same run that nobody has killed.
    before = (killed / "raw.npz").read_bytes()
    alone = project.snakemake("--cores", "1", "--force", f"results/tiny/{killed.name}/raw.npz")
    assert alone.returncode == 0 and (killed / "raw.npz").read_bytes() == before


def test_a_broken_file_stops_only_what_needs_it(project):
    (project.folder / "scenarios" / "bad.yaml").write_text("name: bad\nlink: {rate: 1 Gb/s}\n")
    (project.folder / "plots" / "mine.py").write_text('"""Mine."""\nNEEDS = {"x": nothing}\n')
    needs_bad = (project.folder / "plots" / "tiny.py").read_text().replace("tiny/", "bad/")
    (project.folder / "plots" / "of_bad.py").write_text(needs_bad)

    for target in ("figures/laptop/tiny.png", "results/tiny/laptop/fct.csv"):
        done = project.snakemake("-n", "--cores", "1", target)
        assert done.returncode == 0, done.stdout
        assert "plots/mine.py: NEEDS must be a literal dict of text. What needs" in done.stdout
        assert "scenarios/bad.yaml:" in done.stdout
    done = project.snakemake("--cores", "2", "all")

    assert done.returncode == 1 and "Traceback" not in done.stdout
    made = {path.stem for path in (project.folder / "figures" / "laptop").glob("*.png")}
    assert made == {"tiny"} and (project.folder / "results" / "benchmarks_laptop.csv").exists()
    said = {path.stem: path.read_text() for path in (project.folder / "logs/figure").rglob("*.log")}
    assert said["mine"] == "plots/mine.py: NEEDS must be a literal dict of text.\n"
    assert said["of_bad"].startswith("scenarios/bad.yaml:") and said["of_bad"].count("\n") == 1
    assert all(why in done.stdout for why in (said["mine"], said["of_bad"]))


def test_no_job_plans_the_runs_again(project, monkeypatch):
    found = plans.read("laptop", project.folder / "scenarios", project.folder / "plots")
    found.write_plan(project.folder / "plan")

    def never(*_):
        raise AssertionError("planned again")

    monkeypatch.setattr(plans.specs, "plan", never)
    again = plans.read("laptop", plots=project.folder / "plots", plan=project.folder / "plan")
    assert again.runs == found.runs and again.points == found.points


QUIET = [
    ["-n"], ["-n", "--executor", "local"], ["--list-rules"], ["--summary"], ["--unlock"],
    ["--dag"], ["--report", "report.html"], ["--touch"],
]  # fmt: skip


@pytest.mark.parametrize("options", QUIET, ids=" ".join)
def test_what_runs_no_job_builds_nothing_and_removes_no_lock(project, options):
    assert {"reporter", "report_after_run", *snakemake.OTHER_MODES} <= _options_of_snakemake()
    # A module that does not compile: if it is built, Snakemake says so and ends.
    (project.folder / "ns3-modules" / "broken" / "model").mkdir(parents=True)
    (project.folder / "ns3-modules" / "broken" / "model" / "x.cc").write_text("#error built\n")
    locks = project.folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").write_text("results/nobody")
    before = sorted(path.stat().st_mtime_ns for path in (project.folder / "build").rglob("*.so"))

    project.snakemake("--cores", "1", "all", *options)

    after = sorted(path.stat().st_mtime_ns for path in (project.folder / "build").rglob("*.so"))
    assert after == before
    # Snakemake itself removes all locks with these two.
    assert locks.exists() or options[0] in ("--unlock", "--touch")
    assert not (project.folder / ".snakemake" / "pyorch.lock").exists()


def _options_of_snakemake():
    return {action.dest for action in get_argument_parser()._actions}


def test_a_file_name_is_never_a_command(project):
    text = project.scenario.read_text().replace("seed: [1, 2]", "seed: [1]")
    project.scenario.unlink()
    for index, name in enumerate(("a b", "q'uote", "x$(touch PWNED)", "y&z", "(1)")):
        other = text.replace("name: tiny", f"name: n{index}")
        (project.folder / "scenarios" / f"{name}.yaml").write_text(other)
    plan = plans.read("laptop", project.folder / "scenarios", "none")
    targets = [f"results/{n}/{run}/spec.json" for n, runs in plan.runs.items() for run in runs]
    (project.folder / "plots" / "tiny.py").unlink()

    done = project.snakemake("--cores", "2", *targets)

    assert done.returncode == 0, done.stdout
    assert len(targets) == 5 and not list(project.folder.rglob("PWNED"))


EDITS = {
    "metrics/fct.py": {"metrics"}, "metrics/_run.py": {"metrics"}, "theory/fct.py": {"metrics"},
    "metrics/fluid.py": set(), "theory/ecmp.py": {"reproduction"},
    "topology/fat_tree.py": set(),
    "simulate/fabric.py": {"simulate", "metrics"}, "writing.py": {"simulate", "metrics"},
    "units.py": {"simulate", "metrics"}, "traces/columns.py": {"simulate", "metrics"},
    "topology/leaf_spine.py": {"simulate", "metrics"}, "topology/_clos.py": set(),
    "figures/save.py": {"figure"},
    "report/benchmarks.py": {"benchmarks"}, "cli/app.py": set(), "views/slowdown.py": set(),
}  # fmt: skip


@pytest.mark.slow
def test_an_edit_of_any_module_runs_again_what_it_decides(project):
    (project.folder / "pyorch").unlink()
    shutil.copytree(ROOT / "pyorch", project.folder / "pyorch",
                    ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
    project.python_path = project.folder
    assert project.snakemake("--cores", "2", "all").returncode == 0
    assert project.jobs() == {}
    for name, expected in EDITS.items():
        path = project.folder / "pyorch" / name
        before = path.read_bytes()
        path.write_bytes(before + b"\n# edited\n")
        jobs = project.jobs().keys()
        assert expected <= jobs and bool(expected) == bool(jobs), name
        assert ("simulate" in jobs) == ("simulate" in expected), name
        path.write_bytes(before)


@pytest.mark.parametrize(("executor", "here"), [(None, True), ("local", True), ("slurm", False)])
def test_runs_of_another_machine_are_left_to_it(executor, here):
    # Called as Snakemake calls what reads a Snakefile.
    def args_to_api(args):
        return snakemake.runs_here()

    assert args_to_api(SimpleNamespace(executor=executor)) is here
