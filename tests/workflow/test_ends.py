# SPDX-License-Identifier: GPL-2.0-only
"""Who is killed takes along what it has started, or is started again; either way it is said."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import threading

import pytest
from processes import forks_of, living_in, server_in, wait_for

from pyorch import jobs, sockets
from pyorch.cli.sweep import report
from pyorch.spec import plan
from pyorch.spec.scenario import read_scenario
from pyorch.workflow import client, events, worker
from pyorch.workflow.events import Progress
from pyorch.workflow.sweep import Outcome

SNAKEMAKE, WORKER, ENGINE = b"snakemake\0", b"pyorch.workflow.worker", b"pyorch.simulate.server"
#: Runs that are there for minutes, and for seconds.
ENDLESS, LONG = (f"workload: {{type: permutation, message: {n}}}\n" for n in ("1 TB", "2 GB"))


@pytest.fixture
def start(project):
    """Return what starts a command in the project; in the end all that works there is killed."""

    def begin(command, workload=ENDLESS, **options):
        text = project.scenario.read_text().replace("stop: 20 ms", "stop: 100 s")
        old = next(line for line in text.splitlines(True) if line.startswith("workload"))
        project.scenario.write_text(text.replace(old, workload))
        return subprocess.Popen(
            command, cwd=project.folder, env=project.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            **{"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL)} | options,
        )  # fmt: skip

    yield begin
    for pid in living_in(project.folder):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def sweep(project):
    return [sys.executable, "-m", "pyorch", "sweep", project.scenario, "--cores", "2",
            "--metric", "none"]  # fmt: skip


def api(project):
    call = "import pyorch, sys; pyorch.sweep(sys.argv[1], cores=2)"
    return [sys.executable, "-c", call, project.scenario]


def snakemake(project):
    return project.command("--cores", "2", "results/tiny/laptop/fct.csv")


def two_simulate(project):
    """Return the processes that simulate, when there are two."""
    wait_for(lambda: len(forks_of(project.folder, ENGINE)) == 2, seconds=120)
    return forks_of(project.folder, ENGINE)


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "number"),
    [
        (sweep, signal.SIGKILL), (sweep, signal.SIGTERM), (sweep, signal.SIGHUP),
        (sweep, signal.SIGINT), (api, signal.SIGKILL), (api, signal.SIGTERM),
        (api, signal.SIGINT), (snakemake, signal.SIGKILL),
    ],
    ids=lambda value: getattr(value, "name", getattr(value, "__name__", "")),
)  # fmt: skip
def test_who_is_killed_takes_along_what_it_has_started(project, start, command, number):
    process = start(command(project))
    two_simulate(project)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    wait_for(lambda: not living_in(project.folder), seconds=30)

    if command is sweep and number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert err.splitlines()[-1] == (
            f"Stopped by {number.name}. What is finished is kept; the same command goes on."
        )
        assert "tiny: 0 runs made, 0 finished before, 0 failed." in out and "failed:" not in err
    elif command is api and number == signal.SIGINT:
        assert process.returncode in (-number, 130) and "KeyboardInterrupt" in err
    else:
        assert process.returncode == -number and not out
    assert not list((project.folder / "results").rglob("raw.npz"))


@pytest.mark.ns3
@pytest.mark.slow
def test_a_sweep_under_nohup_does_not_end_with_its_terminal(project, start):
    process = start(
        sweep(project), LONG, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    two_simulate(project)
    for pid in living_in(project.folder):
        os.kill(pid, signal.SIGHUP)
    out, err = process.communicate(timeout=300)

    assert process.returncode == 0 and "tiny: 2 runs made" in out and "SIGHUP" not in err


@pytest.mark.ns3
def test_a_snakemake_that_is_killed_before_it_has_looked_has_found_nothing(project, start):
    process = start(sweep(project))
    os.kill(wait_for(lambda: server_in(project.folder, SNAKEMAKE)), signal.SIGKILL)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 137
    assert "Snakemake was killed by SIGKILL: see logs/sweep/tiny-laptop.log\n" in err
    assert "tiny: 0 runs made, 0 failed." in out
    wait_for(lambda: not living_in(project.folder), seconds=30)


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "victim", "said"),
    [
        (sweep, WORKER, "The process that makes the runs"),
        (snakemake, WORKER, "The process that makes the runs"),
        (sweep, ENGINE, "The process that simulates"),
        (snakemake, ENGINE, "The process that simulates"),
    ],
)
def test_a_server_that_is_killed_is_started_again(project, start, command, victim, said):
    process = start(command(project), LONG)
    simulating = two_simulate(project)
    killed = server_in(project.folder, victim)
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: not {killed, *simulating} & living_in(project.folder).keys(), seconds=30)
    assert two_simulate(project) and server_in(project.folder, victim) != killed
    out, err = process.communicate(timeout=300)

    assert process.returncode == 0, err
    line = f"{said} was killed by SIGKILL; another one is started. Its runs start again.\n"
    assert err.count(line) == 1 and "without it" not in err
    assert len(list((project.folder / "results").rglob("summary.parquet"))) == 2


@pytest.mark.ns3
@pytest.mark.slow
def test_a_run_whose_process_is_killed_says_so(project, start):
    process = start(sweep(project))
    two_simulate(project)
    os.kill(forks_of(project.folder, WORKER)[0], signal.SIGKILL)
    next(line for line in process.stderr if line.startswith("failed: tiny/"))
    wait_for(lambda: len(forks_of(project.folder, ENGINE)) == 1)  # it no longer simulates
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)

    runs = plan(read_scenario(project.scenario), "laptop")
    why = "the process that makes it was killed by SIGKILL. Start again."
    said = [f"tiny/{run.id}: Run tiny/{run.id}: {why}" for run in runs]
    assert sum(line in err.splitlines() for line in said) == 1, err


@pytest.fixture
def asking(tmp_path, monkeypatch):
    """Return a function that is a client, and the folder in which it asks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client, "PAUSE_S", 0.0)
    monkeypatch.setenv(client.WORKER, str(tmp_path / "socket"))
    monkeypatch.setattr(sys, "argv", ["client", "no.plan", "x/s1-a", "logs/x.log", "1"])
    monkeypatch.delenv(jobs.OWNER, raising=False)
    return client.main


def test_a_run_that_loses_its_worker_again_and_again_fails_with_a_reason(asking, tmp_path, capsys):
    n_asked = []

    def lose():
        for _ in range(client.ATTEMPTS):
            connection, _ = listener.accept()
            n_asked.append(connection.recv(4096))
            connection.close()

    with sockets.listen(tmp_path / "socket") as listener:
        thread = threading.Thread(target=lose)
        thread.start()
        assert asking() == 1
        thread.join()

    said = "Run x/s1-a: the processes that make it have ended 3 times; see above.\n"
    assert capsys.readouterr().err == said == (tmp_path / "logs/x.log").read_text()
    assert len(n_asked) == 3


def test_a_job_without_a_worker_makes_its_run_itself_unless_snakemake_has_ended(
    asking, capsys, monkeypatch
):
    assert asking() == 1  # there is no plan of this name
    assert capsys.readouterr().err.startswith(
        "No worker (No such file or directory): this run is made without it.\nRun x/s1-a: no.plan:"
    )
    dead = subprocess.Popen(["sleep", "60"])
    owner = {"process": jobs.identity(dead.pid), "file": "x"}
    monkeypatch.setenv(jobs.OWNER, json.dumps(owner))
    dead.kill()
    dead.wait()
    with pytest.raises(SystemExit, match="143"):
        asking()
    assert capsys.readouterr().err == ""


def test_a_worker_that_cannot_begin_is_given_up(tmp_path, monkeypatch, capsys):
    n_started = []

    class Ended:
        def wait(self):
            return 1

    monkeypatch.setattr(worker, "_start", lambda *_, **__: n_started.append(1) or Ended())
    listener = sockets.listen(tmp_path / "socket")
    supervisor = threading.Thread(target=worker._supervise, args=(listener,))
    supervisor.start()
    with pytest.raises(sockets.Lost):
        sockets.ask(tmp_path / "socket", {})
    supervisor.join(60)
    with pytest.raises(sockets.Nobody):
        sockets.ask(tmp_path / "socket", {})

    assert len(n_started) == worker.MOST_FAILURES
    line = "The process that makes the runs ended with status 1; {} one is started. Its runs start"
    said = capsys.readouterr().err
    assert said.count(line.format("another")) == 2 and said.count(line.format("no other")) == 1


def test_a_file_system_without_sockets_is_named_and_the_runs_are_made(
    tmp_path, monkeypatch, capsys
):
    def refused(_):
        raise OSError(errno.EOPNOTSUPP, "in any words")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(worker.WORKER, "of another one")
    monkeypatch.setattr(sockets, "listen", refused)
    worker.offer()

    assert worker.WORKER not in os.environ
    assert capsys.readouterr().err == (
        ".snakemake/pyorch: no socket can be made there (Operation not supported). Each run is made"
        " in a process of its own: the same results, more CPU time.\n"
    )


def test_what_a_process_says_is_news_once():
    ours, theirs = os.pipe()
    events.listening.append(theirs)
    try:
        events.say("The worker was killed.")
    finally:
        events.listening.clear()
        os.close(theirs)
    progress = Progress(total=1)
    shown = []
    events.follow(ours, progress, lambda one: shown.extend(one.news()))
    os.close(ours)

    assert shown == ["The worker was killed."]


@pytest.mark.parametrize(
    ("outcome", "status", "words"),
    [
        ({"status": -9}, 137, "Snakemake was killed by SIGKILL: see log\n"),
        ({"status": 1}, 1, "Snakemake ended with status 1: see log\n"),
        ({"status": 0, "stop": 15}, 143,
         "Stopped by SIGTERM. What is finished is kept; the same command goes on.\n"),
        ({"status": 0}, 0, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("due", [None, 1])
def test_an_end_has_words_and_a_status_and_no_more_is_said_than_is_known(
    project, capsys, outcome, status, words, due
):
    runs = plan(read_scenario(project.scenario), "laptop")
    said = Outcome(progress=Progress(total=2, due=due), log="log", **outcome)
    assert report(runs, said) == status
    out, err = capsys.readouterr()
    assert err == words
    before = "" if due is None else "1 finished before, "
    assert out == f"tiny: 0 runs made, {before}0 failed. Log: log\n"
