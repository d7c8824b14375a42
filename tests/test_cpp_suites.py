# SPDX-License-Identifier: GPL-2.0-only
"""The C++ test suites of all modules, listed by ns-3's own runner, one test each."""

import subprocess

import pytest

from pyorch import built

RUNNER = built.here().folder / "bin" / "test-runner"


def suites():
    """Return the names of all suites; none if the modules are not built."""
    if not RUNNER.exists():
        return []
    listed = subprocess.run([RUNNER, "--list"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def test_the_modules_are_built():
    assert RUNNER.exists(), (
        "build/bin/test-runner is not there. Run: python -m pyorch.simulate.build test-runner"
    )


@pytest.mark.ns3
@pytest.mark.parametrize("suite", suites())
def test_suite(suite, tmp_path):
    command = [RUNNER, f"--suite={suite}", "--verbose"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr
