# SPDX-License-Identifier: GPL-2.0-only
"""What the reference of the Python API shows has all sections of numpydoc, and its examples run."""

import doctest
import inspect
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import pyorch
from pyorch.errors import PyorchError

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference.md").read_text()
#: Of the examples of sessions.
NETWORK = {
    "name": "session", "workload": {"type": "session"}, "stop": "1 s",
    "topology": {"type": "star", "hosts": 8}, "switch": {"buffer": "16 MB"},
    "link": {"rate": "400 Gb/s", "delay": "500 ns"},
    "transport": {"type": "ns3::RoceTransport"},
}  # fmt: skip
#: They check nothing.
NEVER_RAISE = {"quoted", "counted", "did_you_mean", "close"}


def named(path):
    """Return the object of a dotted name."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError:
        return getattr(named(module), name)


def listed():
    """Yield name and object of all that the page shows."""
    for kind, path in re.findall(r"^\.\. auto(function|class|module):: (\S+)", PAGE, re.M):
        its = import_module(path) if kind == "module" else named(path)
        yield path, its
        for name, member in vars(its).items() if kind != "function" else ():
            member = getattr(member, "__func__", member)  # of a class method
            is_own = getattr(member, "__module__", "") in (path, path.rpartition(".")[0])
            if name[0] != "_" and is_own and (inspect.isroutine(member) or inspect.isclass(member)):
                yield f"{path}.{name}", member


LISTED = dict(listed())


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A study with a scenario of which all runs are made, and a table."""
    folder = tmp_path_factory.mktemp("reference")
    for part in ("scenarios", "plots"):
        shutil.copytree(ROOT / "pyorch" / "study" / part, folder / part)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        sweep = ["sweep", "scenarios/incast.yaml", "--scale", "smoke", "--metric", "slowdown"]
        subprocess.run([sys.executable, "-m", "pyorch", *sweep], check=True, capture_output=True)
        runs = pyorch.sweep("scenarios/incast.yaml", scale="smoke", cores=2)
        yield {"pyorch": pyorch, "run": runs[0], "runs": runs, "many": runs, "network": NETWORK}


def test_the_page_shows_all_that_the_package_offers():
    offered = [name for name in pyorch.__all__ if name != "__version__"]
    assert {f"{getattr(pyorch, name).__module__}.{name}" for name in offered} <= {*LISTED}
    assert len(LISTED) > 30 and "pyorch.runs.run.RunResult.plot" in LISTED


@pytest.mark.parametrize("path", LISTED)
def test_its_docstring_has_all_sections(path):
    its, name = LISTED[path], path.rpartition(".")[2]
    if inspect.isclass(its) and issubclass(its, PyorchError):
        return
    found = re.findall(r"^(\w+)\n-+$", inspect.getdoc(its), re.M)
    wanted = ["Examples"]
    if inspect.isfunction(its):
        takes = {*inspect.signature(its).parameters} - {"self"}
        raises = name not in NEVER_RAISE
        wanted = [*["Parameters"] * bool(takes), "Returns", *["Raises"] * raises, "Examples"]
    assert [section for section in found if section in wanted] == wanted


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize("path", LISTED)
def test_its_examples_run(path, place):
    its = LISTED[path]
    known = vars(inspect.getmodule(inspect.unwrap(its))) | place
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in doctest.DocTestFinder(recurse=False).find(its, path, globs=known):
        assert runner.run(example).failed == 0, path
