# SPDX-License-Identifier: GPL-2.0-only
"""The workflow on a real Slurm of one node: make test-slurm.

It starts daemons and writes /etc/slurm/slurm.conf, so it runs only where it is asked for.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("cluster", Path(__file__).with_name("cluster.py"))
cluster = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cluster)

ASKED = "PYORCH_TEST_SLURM" in os.environ
WHY_NOT = "asked for by make test-slurm" if not ASKED else cluster.lacking()
if not WHY_NOT and importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
    WHY_NOT = "no plug-in: pip install -e .[slurm]"
pytestmark = [pytest.mark.ns3, pytest.mark.slow, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

SCENARIO = """\
name: tiny
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 100 kB}
transport: {type: ns3::RoceTransport}
stop: 200 s
"""
#: What the profile leaves to a site, for a cluster without accounts.
SITE = [
    "--slurm-no-account", "--slurm-status-command", "squeue",
    "--slurm-init-seconds-before-status-checks", "3", "--latency-wait", "5", "--default-resources",
    "slurm_partition=main", "mem_mb=600", "runtime=30",
]  # fmt: skip
#: Until a started job is seen to run [s]; Snakemake starts anew in each.
PATIENCE_S = 180


@pytest.fixture(scope="module", autouse=True)
def running_cluster():
    cluster.start()
    yield
    cluster.stop()


@pytest.fixture
def study(tmp_path):
    """A study with this scenario, given what is swept."""
    shutil.copytree(ROOT / "pyorch" / "study" / "profiles", tmp_path / "profiles")
    shutil.copy(ROOT / "pyorch" / "study" / "Snakefile", tmp_path)
    (tmp_path / "scenarios").mkdir()

    def swept(sweep: str) -> Path:
        (tmp_path / "scenarios" / "tiny.yaml").write_text(f"{SCENARIO}sweep: {{{sweep}}}\n")
        return tmp_path

    return swept


def start(folder, *arguments):
    """Start Snakemake in a study, with its words in the file ``said``."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    paths = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
    with (folder / "said").open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *map(str, arguments)], cwd=folder, stdout=said,
            stderr=said, env=os.environ | {"PATH": path, "PYTHONPATH": paths},
        )  # fmt: skip


def run(folder, *arguments):
    process = start(folder, *arguments)
    try:
        return process.wait(400), (folder / "said").read_text()
    finally:
        process.kill()
        process.wait()


def targets(folder, table="flows.parquet"):
    """Return a table of each run, by the size of its messages."""
    sys.path.insert(0, str(ROOT))
    from pyorch.spec import plan, read_scenario

    runs = plan(read_scenario(folder / "scenarios" / "tiny.yaml"), "laptop")
    runs.sort(key=lambda one: one.spec.workload[0].params.message_bytes)
    return [f"results/{one.folder}/{table}" for one in runs]


def wait_for(condition):
    end_s = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < end_s, cluster.said("squeue", "--all")
        time.sleep(0.2)
    return found


def simulating(run_id):
    """Return the id of the process that simulates a run, which has its name; 0 without one."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == run_id:
                return int(process.name)
        except OSError:
            continue
    return 0


def on_slurm(*more):
    return ["--workflow-profile", "profiles/slurm", *SITE, *more]


def digests(folder, paths):
    return {path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in paths}


def test_chunks_make_the_bytes_of_a_single_machine(study):
    folder = study("seed: [1, 2, 3, 4]")
    table = "results/tiny/laptop/fct.csv"
    # Half a second for each run, so 1.2 s hold two.
    status, said = run(folder, table, *on_slurm("--config", "chunk=0.02"))

    assert status == 0, said
    # Two jobs of two runs, and one for the metric.
    assert said.count("has been submitted with SLURM jobid") == 3
    paths = [table, *targets(folder, "raw.npz")]
    there = digests(folder, paths)
    shutil.rmtree(folder / "results")
    shutil.rmtree(folder / ".snakemake")
    status, said = run(folder, "--cores", "2", table)
    assert status == 0, said
    assert digests(folder, paths) == there


def test_a_chunk_that_is_cancelled_in_the_middle_goes_on(study):
    folder = study(f"seed: {list(range(1, 31))}")
    tables = targets(folder)
    process = start(folder, *tables, *on_slurm())

    def finished():
        paths = sorted(folder.glob("results/tiny/*/manifest.json"))
        return [path for path in paths if '"files"' in path.read_text()]  # the last thing written

    wait_for(lambda: len(finished()) >= 3)
    subprocess.run(["scancel", *cluster.jobs()], check=True)
    assert process.wait(300) == 1
    kept = {path: path.stat().st_mtime_ns for path in finished()}
    assert 3 <= len(kept) < 30
    status, said = run(folder, *tables, *on_slurm())
    assert status == 0, said
    assert f"{len(kept)} of 30 runs are finished" in said
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    paths = targets(folder, "raw.npz")
    there = digests(folder, paths)
    shutil.rmtree(folder / "results")
    shutil.rmtree(folder / ".snakemake")
    status, said = run(folder, "--cores", "2", *tables)
    assert status == 0 and digests(folder, paths) == there


def test_a_folder_with_a_bracket_and_a_queue_without_accounts_are_refused(study):
    folder = study("seed: [1]")
    status, said = run(folder, *targets(folder), "--workflow-profile", "profiles/slurm")
    assert status == 1 and "Add --slurm-status-command squeue" in said
    bad = folder.with_name("a (1)")
    folder.rename(bad)
    status, said = run(bad, *targets(bad), *on_slurm())
    assert status == 1 and "Slurm's jobs need a path of letters" in said


@pytest.mark.parametrize("how", ["scancel", "kill -9"])
def test_a_job_that_is_killed_is_named_and_the_others_go_on(study, how):
    folder = study("workload.message: [100 kB, 1 TB]")
    short, long = targets(folder)
    process = start(folder, short, long, *on_slurm())
    run_id = Path(long).parent.name
    pid = wait_for(lambda: simulating(run_id))
    if how == "kill -9":
        os.kill(pid, signal.SIGKILL)
    else:
        wait_for(lambda: (folder / short).exists() and len(cluster.jobs()) == 1)
        subprocess.run(["scancel", *cluster.jobs()], check=True)
    status = process.wait(300)
    said = (folder / "said").read_text()

    assert status == 1 and run_id in said
    assert (folder / short).exists() and not (folder / long).exists()
    if how == "kill -9":
        assert "was killed by SIGKILL" in said
    wait_for(lambda: not simulating(run_id))


def test_a_job_that_is_requeued_is_run_again(study):
    folder = study("workload.message: [4 GB]")
    (table,) = targets(folder)
    process = start(folder, table, *on_slurm())
    wait_for(lambda: simulating(Path(table).parent.name))
    job = next(iter(cluster.jobs()))
    subprocess.run(["scontrol", "requeue", job], check=True)
    wait_for(lambda: not cluster.jobs())
    subprocess.run(["scontrol", "update", f"jobid={job}", "starttime=now"], check=False)

    assert process.wait(400) == 0, (folder / "said").read_text()
    assert (folder / table).exists()


def test_a_job_that_takes_more_memory_than_it_asked_for_is_killed(study):
    folder = study("workload.message: [1 TB]")
    (table,) = targets(folder)
    _, said = run(folder, "-n", table, *on_slurm())
    rule = re.search(r"simulate_tiny_\w+", said)[0]
    status, said = run(folder, table, *on_slurm("--set-resources", f"{rule}:mem_mb=100"))

    assert status == 1 and not (folder / table).exists()
    assert Path(table).parent.name in said
    assert "exceeded memory limit" in (cluster.STATE / "slurmd.log").read_text() + said
