# SPDX-License-Identifier: GPL-2.0-only
"""A folder belongs to the Snakemakes that live, and their jobs end with them."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import is_zombie, wait_for

from pyorch.errors import OutputError
from pyorch.workflow import ownership

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
    wait_for(lambda: not Path(f"/proc/{started}").exists() or is_zombie(started), seconds=20)
