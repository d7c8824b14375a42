# SPDX-License-Identifier: GPL-2.0-only
"""Runs on other machines: how they are dealt out, what comes back, what a kill leaves."""

import asyncio
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from processes import called, wait_for

import pyorch
from pyorch.errors import OutputError, SimulationError, SpecError
from pyorch.runs.make import FILES
from pyorch.spec import plan
from pyorch.spec.scenario import parse_scenario, read_scenario
from pyorch.workflow import chunks, elsewhere, parcel, slurm, snakemake
from pyorch.workflow.estimate import Sweep
from pyorch.workflow.events import Progress
from pyorch.workflow.planfile import read_plan

ROOT = Path(__file__).parents[2]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
#: 4 hosts, each sends 1000 packets of 1000 B: next to nothing beside 0.5 s for the start.
TEXT = """\
name: tiny
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB}
transport: {type: ns3::RoceTransport, attributes: {MtuBytes: 1000}}
stop: 200 s
sweep: {seed: [1, 2, 3, 4, 5]}
"""
FLOWS = "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 1000\n1->3 id 2 start 0 size 20000\n"


def runs_of(text):
    return plan(parse_scenario(text, "hand.yaml"), typeids_file=TYPEIDS)


def workflow_of(runs):
    by_scenario = {}
    for run in runs:
        by_scenario.setdefault(run.scenario, {})[run.id] = run
    return SimpleNamespace(runs=by_scenario)


def test_a_chunk_has_the_runs_that_fill_its_time():
    # By hand: each run takes 0.5 s and 6 to 10 ms for 4 messages of 1000 packets and four links,
    # so 1.1 s hold two.
    runs = runs_of(TEXT)
    other = runs_of(TEXT.replace("tiny", "other").replace("[1, 2, 3, 4, 5]", "[1]"))
    dealt = chunks.deal(workflow_of(runs + other), {runs[3].folder}, minutes=1.1 / 60)

    assert [[run.seed for run in chunk.runs] for chunk in dealt] == [[4], [1, 2], [3, 5], [1]]
    assert [chunk.is_due for chunk in dealt] == [False, True, True, True]
    assert dealt[0].inputs == [] and dealt[1].inputs == [str(dealt[1].plan)]
    assert len({chunk.name for chunk in dealt}) == 4
    assert all(chunk.name.startswith("simulate_") for chunk in dealt)
    assert set(dealt[1].folders) == {runs[0].folder, runs[1].folder}
    assert len(dealt[1].outputs) == 2 * (1 + len(FILES))


def test_finished_runs_are_dealt_out_too():
    # Snakemake asks every output of a rule for every file, so its time grows with the square of
    # the runs of a rule.
    seeds = list(range(1, 2 * chunks.FINISHED_RUNS + 4))
    runs = runs_of(TEXT.replace("[1, 2, 3, 4, 5]", str(seeds)))
    dealt = chunks.deal(workflow_of(runs), {run.folder for run in runs[:-1]})
    assert [len(chunk.runs) for chunk in dealt] == [chunks.FINISHED_RUNS] * 2 + [2, 1]
    assert [chunk.is_due for chunk in dealt] == [False, False, False, True]
    assert [run.seed for chunk in dealt for run in chunk.runs] == seeds


def test_a_chunk_asks_for_the_most_memory_and_for_the_time_of_all():
    # 4 x 2.5 million packets of 1000 B at 30 us are 300 s; two runs with ten seconds each for the
    # start, and five minutes.
    big = runs_of(TEXT.replace("1 MB", "2500 MB").replace("[1, 2, 3, 4, 5]", "[1, 2]"))
    (chunk,) = chunks.deal(workflow_of(big), set(), minutes=60)
    assert chunk.runtime_min == 5 + 11  # 620 s
    assert chunk.memory_mb == 300 + chunks.BESIDE_MB and chunk.threads == 1


def test_runs_with_other_threads_are_another_job():
    several = TEXT + (
        "variants:\n  a: {label: a}\n  b: {label: b, engine.threads: 2, workload.message: 2 MB}\n"
    )
    dealt = chunks.deal(workflow_of(runs_of(several)), set(), minutes=60)
    assert sorted((chunk.threads, len(chunk.runs)) for chunk in dealt) == [(1, 5), (2, 5)]


def test_what_a_job_reads_is_declared(tmp_path):
    (tmp_path / "flows.cm").write_text(FLOWS)
    text = TEXT.replace("{type: permutation, message: 1 MB}", "{type: htsim_cm, file: flows.cm}")
    (tmp_path / "hand.yaml").write_text(text)
    runs = plan(read_scenario(tmp_path / "hand.yaml"), typeids_file=TYPEIDS)
    (chunk,) = chunks.deal(workflow_of(runs), set())
    assert chunk.inputs == [str(chunk.plan), str(tmp_path / "flows.cm")]


def test_the_job_of_a_chunk_reads_its_piece_of_the_plan_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dealt = chunks.deal(workflow_of(runs_of(TEXT)), set(), minutes=1.1 / 60)
    chunks.write(dealt)
    assert [run.seed for run in read_plan(chunks.plan_of(dealt[1].name))] == [3, 4]
    chunks.remove_old()
    assert not dealt[1].plan.exists()


@pytest.mark.parametrize("given", ["abc", "0", "-1", "nan", "inf", ""])
def test_a_time_of_chunks_that_is_none_is_refused(given):
    with pytest.raises(SpecError, match=f"--config chunk={given}: is no number of minutes"):
        chunks.minutes_of(given)
    assert chunks.minutes_of("2.5") == chunks.minutes_of(2.5) == 2.5


def test_progress_counts_the_runs_of_a_chunk():
    progress = Progress(total=3, chunks={"simulate_x_1": ["x/s1-a", "x/s2-b"]})
    progress.tell({"jobs": {"simulate_x_1": 1, "metrics": 1}})
    progress.tell({"job": 1, "rule": "simulate_x_1", "wildcards": {}})
    progress.tell({"started": [1]})
    assert progress.due == 2 and list(progress.running.values()) == ["simulate_x_1"]
    progress.tell({"finished": 1})
    assert progress.done == 2 and not progress.running


class FakeJob:
    """As Snakemake's job: has a rule, cleans up."""

    def __init__(self, rule, did):
        self.rule, self.did = SimpleNamespace(name=rule), did

    async def cleanup(self, _skip):
        self.did.append("cleanup")

    async def remove_existing_output(self):
        self.did.append("remove")


class FakePersistence:
    """As Snakemake's records: has a method of that name too."""

    def rule(self, _path):
        raise AssertionError

    def started(self, job, external_jobid=None):
        job.did.append("started")

    async def finished(self, job):
        job.did.append("finished")


def test_snakemake_neither_removes_nor_notes_the_runs_of_a_chunk():
    snakemake.leave_alone(chunks.is_one, FakeJob, FakePersistence)
    for rule, expected in (
        ("simulate_x_0123456789", []),
        ("simulate", ["cleanup", "remove", "started", "finished"]),
    ):
        job = FakeJob(rule, [])
        asyncio.run(job.cleanup([]))
        asyncio.run(job.remove_existing_output())
        FakePersistence().started(job, external_jobid="3")
        asyncio.run(FakePersistence().finished(job))
        assert job.did == expected


def test_a_message_names_few_of_a_thousand_files():
    record = SimpleNamespace(output=[f"{n}" for n in range(1000)], input=["a"])
    assert snakemake._few_files(record)
    assert record.input == ["a"] and record.output[-1] == "and 988 more"
    assert len(record.output) == 13


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """Have Slurm's commands, each with an exit status; no others are there."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(**statuses):
        for name, status in statuses.items():
            path = tmp_path / name
            path.write_text(f"#!/bin/sh\necho 'accounting is off.' >&2\nexit {status}\n")
            path.chmod(0o755)

    return make


def test_a_queue_that_answers_is_used(queue):
    queue(sbatch=0, scancel=0, squeue=0)
    slurm.check(folder=Path("/home/a/study"))
    queue(sacct=0)
    slurm.check("sacct", folder=Path("/home/a/study"))


@pytest.mark.parametrize("name", ["a b", "a(1", "a[1]", "a'b", "a;b"])
def test_a_folder_that_the_shell_of_a_job_would_cut_is_refused(queue, name):
    queue(sbatch=0, scancel=0, squeue=0)
    with pytest.raises(OutputError, match="Slurm's jobs need a path of letters, digits"):
        slurm.check(folder=Path("/home") / name)


def test_commands_that_are_missing_are_named(queue):
    with pytest.raises(OutputError, match="Slurm: no sbatch, scancel, squeue on this machine"):
        slurm.check(folder=Path("/home"))


def test_a_cluster_without_accounts_is_told_which_option_it_needs(queue):
    queue(sbatch=0, scancel=0, squeue=0, sacct=1)
    with pytest.raises(OutputError) as refused:
        slurm.check(folder=Path("/home"))
    assert str(refused.value) == (
        "Slurm: sacct, which asks for the state of jobs, fails: accounting is off."
        " Add --slurm-status-command squeue."
    )
    queue(squeue=1)
    with pytest.raises(OutputError, match="accounting is off. Ask who runs the cluster."):
        slurm.check(folder=Path("/home"))


def write_study(folder, text, **files):
    """A study with this scenario, whose modules are those of the clone."""
    for name in ("scenarios", "plots", "ns3-modules"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "pyorch" / "study" / "Snakefile", folder)
    (folder / "scenarios" / "tiny.yaml").write_text(text)
    for name, content in files.items():
        (folder / name.replace("__", "/")).write_text(content)
    return folder


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study in which this process works."""
    folder = write_study(tmp_path / "study", TEXT.replace("1 MB", "20 kB"))
    monkeypatch.chdir(folder)
    return folder


def digests(folder):
    """Return the digests of the files that decide, and are, the results of all runs."""
    paths = sorted(folder.glob("results/*/s*/*"))
    kept = [p for p in paths if p.suffix in (".parquet", ".npz", ".py") or p.name == "spec.json"]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in kept
    }


class Here(Executor):
    """Works at once, in this process."""

    def submit(self, function, /, *args, **named):
        future = Future()
        try:
            future.set_result(function(*args, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.mark.ns3
@pytest.mark.slow
def test_an_executor_makes_the_bytes_of_a_local_sweep(study, monkeypatch):
    monkeypatch.setattr(elsewhere, "PIECE_S", 1.1)  # three pieces
    (study / "data.cm").write_text(FLOWS)
    path = study / "scenarios" / "tiny.yaml"
    text = path.read_text().replace(
        "{type: permutation, message: 20 kB}", "{type: htsim_cm, file: ../data.cm}"
    )
    path.write_text(text)
    local = pyorch.sweep(path, progress=False)
    table = local.metric("slowdown")
    expected = digests(study)
    assert len(local) == 5 and len(expected) > 5 * 8

    with ProcessPoolExecutor(2) as pool:
        for executor in (pool, Here()):
            shutil.rmtree("results")
            many = pyorch.sweep(path, executor=executor, progress=False)
            assert digests(study) == expected
            assert many.metric("slowdown").equals(table)
    # What is there is not made again, nor is anything asked of an executor.
    pyorch.sweep(path, executor=None, progress=False)
    pyorch.sweep(path, executor=ProcessPoolExecutor(1), progress=False)


@pytest.mark.ns3
@pytest.mark.slow
def test_a_study_with_a_plugin_travels_with_it(study):
    (study / "workload").mkdir()
    plugin = (ROOT / "pyorch" / "workload" / "permutation.py").read_text()
    (study / "workload" / "mine.py").write_text(plugin)
    path = study / "scenarios" / "tiny.yaml"
    text = path.read_text().replace("permutation", "mine").replace("[1, 2, 3, 4, 5]", "[1]")
    path.write_text(text)
    (run,) = pyorch.sweep(path, executor=Here(), progress=False)
    assert run.provenance["code_sha256"]["./workload/mine.py"]
    assert not pyorch.sweep(path, progress=False)[0].folder.samefile(study)  # it is finished


def run_called(name):
    """Return the process of this name that simulates, wherever it works; 0 if there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == name:
                return int(process.name)
        except OSError:
            continue
    return 0


@pytest.mark.ns3
@pytest.mark.slow
def test_a_run_that_fails_elsewhere_is_named_and_the_others_are_kept(study):
    path = study / "scenarios" / "tiny.yaml"
    sizes = "sweep: {workload.message: [20 kB, 987 GB]}\n"
    path.write_text(path.read_text().partition("sweep:")[0] + sizes)
    short, long = sorted(
        plan(read_scenario(path)), key=lambda run: run.spec.workload[0].params.message_bytes
    )
    with ThreadPoolExecutor(1) as outer, ThreadPoolExecutor(2) as pool:
        swept = outer.submit(pyorch.sweep, path, executor=pool, progress=False)
        wait_for(lambda: Path("results", short.folder, "manifest.json").exists(), 120)
        os.kill(wait_for(lambda: run_called(long.id), 120), signal.SIGKILL)
        with pytest.raises(SimulationError) as failed:
            swept.result()
    assert str(failed.value).startswith(f"1 failed\n{long.folder}: Run {long.id} was killed by")
    assert not Path("results", long.folder, "manifest.json").exists()


def test_what_an_executor_raises_is_why_its_runs_are_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parcel, "work", lambda _: 1 / 0)
    runs = runs_of(TEXT)
    with pytest.raises(SimulationError) as failed:
        elsewhere.make_all(runs, Here())
    assert str(failed.value).splitlines() == [
        "5 failed", *(f"{run.folder}: it did not come back: division by zero" for run in runs)
    ]  # fmt: skip


def test_cores_and_an_executor_are_not_given_together():
    with pytest.raises(SpecError, match="cores: an executor has cores of its own"):
        pyorch.sweep("x.yaml", cores=2, executor=Here())


def plugins_there(*names):
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)}")


GENERIC = "snakemake_executor_plugin_cluster_generic"
STORAGE = "snakemake_storage_plugin_fs"


def write_script(path, text):
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


def run_on_cluster(folder, *arguments):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--executor", "cluster-generic", "--jobs", "2",
         "--workflow-profile", "none", "--keep-going", "--show-failed-logs", *map(str, arguments)],
        cwd=folder, env=os.environ | {"PATH": path}, text=True, timeout=300,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


@pytest.mark.ns3
@pytest.mark.long
@plugins_there(GENERIC)
def test_a_chunk_that_is_killed_goes_on_with_its_other_runs(study):
    submit = write_script(
        study / "submit", 'setsid sh "$1" > /dev/null 2>&1 < /dev/null &\necho $!\n'
    )
    path = study / "scenarios" / "tiny.yaml"
    sizes = "sweep: {workload.message: [20 kB, 30 kB, 986 GB, 40 kB]}\n"
    path.write_text(path.read_text().partition("sweep:")[0] + sizes)
    runs = plan(read_scenario(path))
    runs.sort(key=lambda run: run.spec.workload[0].params.message_bytes)
    long = runs.pop()
    tables = [f"results/{run.folder}/flows.parquet" for run in [*runs, long]]
    on_cluster = ["--cluster-generic-submit-cmd", submit, "--config", "chunk=1000"]
    with ThreadPoolExecutor(1) as pool:
        process = pool.submit(run_on_cluster, study, *tables, *on_cluster)
        # One chunk holds all four, and the long run is its third.
        pid = wait_for(lambda: called(long.id, study), 120)
        its = os.stat(f"results/{runs[0].folder}/manifest.json").st_mtime_ns
        os.kill(pid, signal.SIGKILL)
        done = process.result()
    assert done.returncode == 1 and f"Run {long.id} was killed by SIGKILL" in done.stdout
    assert done.stdout.count("Error in rule simulate_tiny_") == 1
    assert len(list(study.glob("results/tiny/*/manifest.json"))) == 3
    # Snakemake asked for finished ones has nothing to do, here and on the cluster.
    for others in (on_cluster, ["--executor", "local"]):
        again = run_on_cluster(study, *tables[:3], *others)
        assert "Nothing to be done" in again.stdout, again.stdout
    assert os.stat(f"results/{runs[0].folder}/manifest.json").st_mtime_ns == its
    made = {name: sha for name, sha in digests(study).items() if long.id not in name}
    shutil.rmtree("results")
    shutil.rmtree(".snakemake")
    assert run_on_cluster(study, *tables[:3], "--executor", "local").returncode == 0
    assert digests(study) == made


@pytest.mark.ns3
@pytest.mark.long
@plugins_there(GENERIC, STORAGE)
@pytest.mark.skipif(shutil.which("rsync") is None, reason="the storage needs rsync")
def test_machines_that_share_no_files_make_the_same_bytes(study, tmp_path):
    path = study / "scenarios" / "tiny.yaml"
    path.write_text(path.read_text().replace("[1, 2, 3, 4, 5]", f"{list(range(1, 21))}"))
    (tmp_path / "nodes").mkdir()
    (tmp_path / "store").mkdir()
    # Another machine: an empty folder, and of the environment only where programs are.
    submit = write_script(
        tmp_path / "submit",
        f'n=$(mktemp -d {tmp_path}/nodes/XXXXXX)\ncp "$1" $n/job.sh\nmkdir $n/home\n'
        'cd $n/home\nsetsid env -i PATH="$PATH" HOME=$n TMPDIR=$n sh -c "sh ../job.sh > ../out 2>&1'
        ' && echo success > ../state || echo failed > ../state" > /dev/null 2>&1 < /dev/null &\n'
        "echo $n\n",
    )
    status = write_script(tmp_path / "status", 'cat "$1/state" 2> /dev/null || echo running\n')
    done = run_on_cluster(
        study, "results/tiny/laptop/fct.csv", "--cluster-generic-submit-cmd", submit,
        "--cluster-generic-status-cmd", status, "--config", "chunk=0.1", "--shared-fs-usage",
        "none", "--job-deploy-sources", "--default-storage-provider", "fs",
        "--default-storage-prefix", tmp_path / "store",
    )  # fmt: skip
    outs = [out.read_text() for out in tmp_path.glob("nodes/*/out")]
    assert done.returncode == 0, "\n".join([done.stdout, *outs])
    assert len(outs) == 2  # of 20 runs of half a second; the metric is made here
    assert not [path for path in (tmp_path / "store").rglob("travels/*/*") if path.is_file()]
    made, table = digests(study), Path("results/tiny/laptop/fct.csv").read_bytes()
    assert len({name.split("/")[2] for name in made}) == 20
    shutil.rmtree("results")
    shutil.rmtree(".snakemake")
    here = run_on_cluster(study, "results/tiny/laptop/fct.csv", "--executor", "local")
    assert here.returncode == 0, here.stdout
    assert digests(study) == made and Path("results/tiny/laptop/fct.csv").read_bytes() == table


def test_machines_that_share_nothing_need_a_storage(tmp_path):
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(path_modifier=SimpleNamespace(apply_default_storage=str)),
        is_local=bool, storage_settings=SimpleNamespace(default_storage_provider=None),
    )  # fmt: skip
    with pytest.raises(OutputError, match="Add --default-storage-provider and"):
        snakemake.keep_here(workflow, "remote", "travels")


def test_only_what_travels_lies_in_the_storage():
    modifier = SimpleNamespace(apply_default_storage=lambda path: f"s3://{path}")
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(path_modifier=modifier), is_local=bool, local_exec=False,
        storage_settings=SimpleNamespace(default_storage_provider="s3"),
    )  # fmt: skip
    snakemake.keep_here(workflow, parcel.RULE, parcel.FOLDER)
    assert modifier.apply_default_storage(parcel.goes(3, "x")) == "s3://travels/3/x.goes"
    assert modifier.apply_default_storage("results/x") == "results/x"
    names = {"metrics": True, "simulate_x_1": True, parcel.RULE: False}
    assert {name: workflow.is_local(SimpleNamespace(name=name)) for name in names} == names


def test_one_run_that_is_longer_than_a_chunk_is_a_chunk():
    pieces = list(chunks.cut(Sweep([], runs_of(TEXT)), 0.1))
    assert [len(piece) for piece in pieces] == [1] * 5
