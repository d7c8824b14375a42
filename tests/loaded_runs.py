# SPDX-License-Identifier: GPL-2.0-only
"""Makes runs as a user does, by processes that have loaded everything before.

What an oracle looks at is the result. That a user's run has processes of its own, which take two
seconds to load, is what tests/runs and tests/workflow look at.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

import pyorch.api
import pyorch.cli.app
import pyorch.cli.run
from pyorch import traces
from pyorch.metrics._run import RunTables
from pyorch.runs import make as steps
from pyorch.workflow import worker
from tests import alone

ROOT = Path(__file__).parents[1]


@cache
def _engines():
    """A process that has loaded the engine; everything else is loaded in this one."""
    return worker.Engines(_folder())


@cache
def _folder():
    return Path(tempfile.mkdtemp(prefix="engine-"))


def end():
    """End the process that has loaded the engine."""
    if _folder.cache_info().currsize:
        worker.stop()
        shutil.rmtree(_folder())


def simulate(script, out, log=None, threads=1):
    """Simulate as `pyorch.simulate.process.run` does."""
    _engines().ready()
    ended = _engines().simulate(script, out, log, threads)
    if log is None:
        said = out / "simulate.log"
        sys.stderr.write(said.read_text())
        said.unlink()
    return ended


def make(spec, folder, log=None, watch=None, threads=1):
    """Make a run as `pyorch.runs.apart.make` does."""
    ended = steps.make(spec, folder, log, simulate, threads)
    if ended.status == 0:
        alone.check_run(RunTables(spec, folder))
    return ended


def in_domains(folder: Path, domains: int) -> Path:
    """Return a folder with the tables of the same run, its network cut into so many domains."""
    parted = folder / "parted"
    shutil.copytree(folder, parted)
    done = subprocess.run(
        [sys.executable, folder / "scenario.py", "--out", parted, "--domains", str(domains)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    traces.convert(parted)
    return parted


def command_line(*arguments) -> subprocess.CompletedProcess:
    """Run ``pyorch ARGUMENTS`` in the folder of the project, in a fork of this process."""
    outputs = [os.memfd_create(name) for name in ("stdout", "stderr")]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for descriptor, output in enumerate(outputs, start=1):
                os.dup2(output, descriptor)
            sys.stdout, sys.stderr = (os.fdopen(n, "w", buffering=1) for n in (1, 2))
            os.chdir(ROOT)
            sys.argv = ["pyorch", *map(str, arguments)]
            pyorch.cli.app.main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return subprocess.CompletedProcess(arguments, status, *map(_text, outputs))


def _text(output):
    with os.fdopen(output, "rb") as file:
        file.seek(0)
        return file.read().decode()
