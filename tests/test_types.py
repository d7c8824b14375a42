# SPDX-License-Identifier: GPL-2.0-only
"""mypy finds nothing in the package, and what a user calls has types."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
USE = """\
import pyorch
reveal_type(pyorch.run("x.yaml"))
reveal_type(pyorch.run("x.yaml").folder)
reveal_type(pyorch.sweep("x.yaml", cores=2)[0])
reveal_type(pyorch.load("s1").provenance)
pyorch.run("x.yaml", sede=1)
pyorch.run("x.yaml", seed="1")
"""


def mypy(*arguments):
    """Return what mypy says with the settings of the project, whose cache lies in the clone."""
    command = [sys.executable, "-m", "mypy", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_types_hold_and_reach_a_user(tmp_path):
    assert mypy().startswith("Success: no issues found in ")

    (tmp_path / "use.py").write_text(USE)
    said = mypy(str(tmp_path / "use.py"))
    assert re.findall(r'Revealed type is "(.*)"', said) == [
        "pyorch.runs.run.RunResult", "pathlib.Path", "pyorch.runs.run.RunResult",
        "dict[str, Any]",
    ]  # fmt: skip
    assert re.findall(r":(\d+): error: .*\[(.*)\]", said) == [("6", "call-arg"), ("7", "arg-type")]


def test_few_lines_are_hidden_from_mypy_and_each_says_why():
    hidden = [line for path in (ROOT / "pyorch").rglob("*.py")
              for line in path.read_text().splitlines() if "type: ignore" in line]  # fmt: skip
    assert len(hidden) < 10
    assert [line for line in hidden if not re.search(r"# type: ignore\[[\w-]+\]  # \w", line)] == []
