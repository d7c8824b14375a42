# SPDX-License-Identifier: GPL-2.0-only
"""The set-up that is killed while packages are installed leaves no process behind."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

SCRIPT = Path(__file__).parents[1] / "setup" / "packages.py"
#: Stands in for pip: a package that is compiled, by a process of its own, for ever.
PIP = """\
import subprocess, sys
with open(sys.argv[0] + ".started", "w") as file:
    file.write("x")
subprocess.run(["sleep", "1000"], cwd=sys.prefix)
"""


@pytest.fixture
def python(tmp_path):
    """Python of an environment in which pip never comes to an end."""
    done = [sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"]
    subprocess.run(done, check=True)
    [packages] = (tmp_path / "env" / "lib").glob("python*/site-packages")
    (packages / "pip.py").write_text(PIP)
    (tmp_path / "lock").write_text("numpy==1\n")
    return tmp_path / "env" / "bin" / "python"


def of(folder):
    """Return what is alive of processes that were started for this folder."""
    alive = []
    for process in psutil.process_iter():
        try:
            here = process.cwd().startswith(str(folder)) or str(folder) in process.cmdline()[0]
        except (psutil.Error, IndexError):
            continue
        if here and process.status() != psutil.STATUS_ZOMBIE:
            alive.append(process)
    return alive


def until(said, seconds=30.0):
    end = time.monotonic() + seconds
    while not said() and time.monotonic() < end:
        time.sleep(0.05)
    return said()


@pytest.mark.parametrize(
    ("victim", "number"),
    [
        *itertools.product(["make"], [signal.SIGTERM, signal.SIGKILL]),  # of others it waits
        *itertools.product(["terminal"], [signal.SIGINT, signal.SIGHUP]),
        *itertools.product(["itself"], [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]),
    ],
)
def test_pip_and_its_compilers_end_with_the_set_up(python, tmp_path, victim, number):
    rule = f"all:\n\t@{python} {SCRIPT} {tmp_path / 'lock'}\n"
    (tmp_path / "Makefile").write_text(rule)
    command = ["make", "--no-print-directory"]
    with subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL
    ) as make:
        assert until(lambda: any(p.name() == "sleep" for p in of(tmp_path)))
        [script] = psutil.Process(make.pid).children()
        if victim == "terminal":  # it tells all that it has started
            os.killpg(make.pid, number)
        else:
            os.kill(make.pid if victim == "make" else script.pid, number)
    assert until(lambda: not of(tmp_path), 5.0), of(tmp_path)
