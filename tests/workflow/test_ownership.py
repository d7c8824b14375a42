# SPDX-License-Identifier: GPL-2.0-only
"""A folder belongs to the Snakemakes that live, and their jobs end with them."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from processes import is_zombie, living_in, wait_for
from snakemake.exceptions import WorkflowError
from snakemake.persistence.file import FilePersistence

from pyorch.errors import OutputError
from pyorch.workflow import ownership, snakemake

ROOT = Path(__file__).parents[2]


#: A process that takes part in the folder of its argument, says so, and lives on.
HOLDER = """\
import sys, time
from pyorch.workflow import ownership
with ownership.shared_folder(sys.argv[1]) as alone:
    pass
print(alone, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("inside", [[], ["unshare", "--pid", "--fork", "--map-root-user"]])
def test_a_folder_is_shared_with_the_living_in_any_namespace_and_not_with_the_dead(
    tmp_path, inside
):
    if inside and subprocess.run([*inside, "true"], capture_output=True).returncode:
        pytest.skip("no namespaces here")
    other = subprocess.Popen(
        [*inside, sys.executable, "-c", HOLDER, tmp_path], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, start_new_session=True,
    )  # fmt: skip
    assert other.stdout.readline() == "True\n"
    with ownership.shared_folder(tmp_path) as alone:
        assert not alone
    os.killpg(other.pid, signal.SIGKILL)
    other.wait()
    wait_for(lambda: _alone_in(tmp_path))


def _alone_in(folder):
    with ownership.shared_folder(folder) as alone:
        return alone


def test_locks_of_the_dead_go_when_their_last_job_has_ended(tmp_path, monkeypatch):
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "0.input.lock").touch()
    monkeypatch.setattr(ownership, "PATIENCE_S", 0.2)
    with (tmp_path / "pyorch.jobs").open("a") as job:
        fcntl.flock(job, fcntl.LOCK_SH)
        with pytest.raises(OutputError, match="jobs of a Snakemake that was killed are still run"):
            ownership.release_dead_locks(tmp_path)
        assert list((tmp_path / "locks").iterdir())
    assert ownership.release_dead_locks(tmp_path)
    assert not list((tmp_path / "locks").iterdir())


def test_a_job_ends_when_the_snakemake_that_started_it_is_gone(tmp_path):
    # The middle process announces itself as owner, starts a job and is killed.
    job = (
        "import time; from pyorch import jobs; jobs.join(); print('joined', flush=True);"
        "time.sleep(60)"
    )
    middle = (
        "import subprocess, sys, time; from pyorch.workflow import ownership\n"
        "with ownership.shared_folder(sys.argv[1]): pass\n"
        "print(subprocess.Popen([sys.executable, '-c', sys.argv[2]]).pid, flush=True)\n"
        "time.sleep(60)"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", middle, tmp_path, job], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = {owner.stdout.readline().strip(), owner.stdout.readline().strip()}
    started = int((said - {"joined"}).pop())
    owner.kill()
    owner.wait()
    wait_for(lambda: not Path(f"/proc/{started}").exists() or is_zombie(started))


class Slow(FilePersistence):
    """Snakemake's own locks for one file, with time between the look and the lock."""

    def __init__(self, folder, makes):
        self._lockdir, self._lockfile, self._makes = str(folder / "locks"), {}, makes

    def all_inputfiles(self):
        return []

    def all_outputfiles(self):
        return [self._makes]

    @property
    def locked(self):
        found = FilePersistence.locked.fget(self)
        time.sleep(0.3)
        return found


@pytest.fixture
def locks(tmp_path):
    """Return what tries to make files at once and gives who had a lock, or why not."""

    class Locks(Slow):
        """One for each test: its lock is replaced."""

    snakemake.look_and_lock_at_once(partial(ownership.turn, tmp_path), Locks)

    def take(*files):
        got, done = [], threading.Barrier(len(files))

        def one(file):
            try:
                with Locks(tmp_path, file).lock():
                    got.append(file)
                    done.wait(timeout=600)
            except WorkflowError as error:
                got.append(str(error))
                done.wait(timeout=600)

        started = [threading.Thread(target=one, args=(file,)) for file in files]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return got

    return take


def test_of_two_that_look_at_once_one_makes_and_the_other_is_told(locks):
    for _ in range(2):  # what was locked once is free again
        first, second = locks("a", "a")
        assert first == "a"
        assert second == (
            f"{Path.cwd()}: another Snakemake is making some of the same files. Start this again"
            " when it has ended; what it has made is used."
        )
    assert sorted(locks("a", "b")) == ["a", "b"]


def test_who_ends_leaves_the_locks_of_others(tmp_path, locks):
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "0.output.lock").write_text("b\n")
    assert locks("a") == ["a"]
    assert locks("b")[0].startswith(f"{Path.cwd()}: another Snakemake is making")


@pytest.fixture
def busy(project):
    """Return what starts a command in the project and stops it where it has locked its files."""

    def start(command):
        process = subprocess.Popen(
            command, cwd=project.folder, env=project.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        wait_for(lambda: list((project.folder / ".snakemake").glob("locks/*.lock")))
        send(signal.SIGSTOP)
        return process

    def send(number):
        for pid in living_in(project.folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    start.on = lambda: send(signal.SIGCONT)
    yield start
    send(signal.SIGKILL)


@pytest.mark.ns3
@pytest.mark.slow
def test_a_snakemake_for_what_another_is_making_says_so_and_leaves_it_alone(project, busy):
    asked = "--cores", "1", "results/tiny/smoke/fct.csv", "--config", "scale=smoke"
    first = busy(project.command(*asked))
    second = project.snakemake(*asked)
    busy.on()
    assert second.returncode == 1
    assert "another Snakemake is making some of the same files" in second.stdout
    said, _ = first.communicate(timeout=600)
    assert first.returncode == 0, said
    assert (project.folder / "results/tiny/smoke/fct.csv").exists()


@pytest.mark.ns3
@pytest.mark.slow
def test_a_sweep_waits_for_another_and_uses_what_that_has_made(project, busy):
    command = [sys.executable, "-m", "pyorch", "sweep", project.scenario, "--metric", "fct"]
    first = busy([*command, "--scale", "smoke"])
    second = subprocess.Popen(
        [*command, "--scale", "smoke"], cwd=project.folder, env=project.environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    for line in second.stdout:  # others say before that it is looking, on a slow machine
        if line.startswith("waiting until another Snakemake, which is making some of the same"):
            break
    else:
        pytest.fail("the second did not wait")
    busy.on()
    said = [one.communicate(timeout=600)[0] for one in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), said
    assert "2 runs made, 0 finished before" in said[0]
    assert "0 runs made, 2 finished before" in said[1]


def test_jobs_that_end_soon_are_waited_for(tmp_path):
    path = tmp_path / "pyorch.jobs"
    with path.open("w") as job:
        fcntl.flock(job, fcntl.LOCK_SH)
        threading.Timer(0.3, lambda: fcntl.flock(job, fcntl.LOCK_UN)).start()
        ownership._wait_for_jobs(path)
