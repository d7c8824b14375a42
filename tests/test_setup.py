# SPDX-License-Identifier: GPL-2.0-only
"""A fresh machine gets the same packages by every way in, and is told what it lacks."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import pyorch

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
SITE_LOCK = (ROOT / "requirements.docs.lock").read_text()
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())


def conda_packages():
    """Return the version specifier of each conda package by name."""
    plain = (entry for entry in CONDA["dependencies"] if isinstance(entry, str))
    return {name: spec.strip() for name, _, spec in (entry.partition(" ") for entry in plain)}


def test_conda_takes_the_packages_of_pyproject():
    assert {"pip": ["-e .[test]"]} in CONDA["dependencies"]


def test_conda_takes_the_same_python():
    assert SpecifierSet(conda_packages()["python"]) == SpecifierSet(PROJECT["requires-python"])


def test_what_conda_names_too_has_the_same_versions():
    named = {Requirement(one).name: Requirement(one).specifier for one in PROJECT["dependencies"]}

    for name, specifier in conda_packages().items():
        if name in named:
            assert SpecifierSet(specifier) == named[name], name


def locked(lock=LOCK):
    """Return (name, version, marker) of each pin, as this Python sees it."""
    pins = re.findall(r"^(\S+)==(\S+)(?: ; (.*?))? \\$", lock, re.MULTILINE)
    return {canonicalize_name(name): version for name, version, marker in pins if holds(marker)}


def holds(marker):
    return not marker or Requirement(f"x ; {marker}").marker.evaluate(default_environment())


@pytest.mark.parametrize(
    "text", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
)
def test_the_lock_satisfies_every_requirement(text):
    requirement = Requirement(text)

    version = locked()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


@pytest.mark.parametrize("text", PROJECT["optional-dependencies"]["docs"])
def test_the_lock_of_the_site_satisfies_every_requirement(text):
    requirement = Requirement(text)

    version = locked(SITE_LOCK)[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(version)


def test_the_site_is_built_with_the_packages_that_are_tested():
    both = locked().keys() & locked(SITE_LOCK).keys()

    assert "ipykernel" in both
    assert {name for name in both if locked()[name] != locked(SITE_LOCK)[name]} == set()


@pytest.mark.parametrize("lock", [LOCK, SITE_LOCK], ids=["main", "site"])
def test_every_pin_has_a_hash(lock):
    pins = len(re.findall(r"^\S+==\S+", lock, re.MULTILINE))
    blocks = re.findall(r"^\S+==.*\\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", lock, re.M)

    assert pins == len(blocks) > 50


@pytest.mark.parametrize("lock", [LOCK, SITE_LOCK], ids=["main", "site"])
def test_the_lock_names_no_host_and_no_folder(lock):
    assert not re.search(r"://|file:|--(extra-)?index|--find-links|--trusted", lock)


def test_the_long_phases_say_what_they_do(capsys):
    packages = runpy.run_path(str(ROOT / "setup" / "packages.py"))
    packages["Progress"].take.__globals__["EVERY_S"] = -1.0
    progress = packages["Progress"](total=2)
    for line in (
        "Collecting numpy==2.3.1 (from -r requirements.lock (line 3))\n",
        "  Downloading numpy-2.3.1-cp311-cp311-manylinux_2_28_x86_64.whl (16.6 MB)\n",
        "Collecting cpycppyy==1.13.0 (from -r requirements.lock (line 4))\n",
        "  Installing build dependencies: started\n",
        "  Installing build dependencies: finished with status 'done'\n",
        "  Building wheel for cpycppyy (pyproject.toml): started\n",
        "  Building wheel for cpycppyy (pyproject.toml): finished with status 'done'\n",
        "Installing collected packages: numpy, cpycppyy\n",
    ):
        progress.take(line)
    progress.end()

    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "1 of 2 packages: fetching numpy",
        "1 of 2 packages: fetching numpy (16.6 MB)",
        "2 of 2 packages: fetching cpycppyy",
        "2 of 2 packages: preparing to compile cpycppyy",
        "compiling cpycppyy (C++, kept for the next time)",
        "compiled cpycppyy (C++, kept for the next time)",
        "unpacking 2 packages",
    ]


def test_pip_itself_is_pinned_with_a_hash():
    pin = runpy.run_path(str(ROOT / "setup" / "packages.py"))["PIP"]

    assert re.fullmatch(r"pip==\S+ --hash=sha256:[0-9a-f]{64}\n", pin)


@pytest.fixture
def bare(tmp_path):
    """Return a function that runs `make setup` on a machine that has just these programs."""

    def make(*programs, **variables):
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in ("make", "uname", "cksum", "cut"):
            (tools / name).symlink_to(f"/usr/bin/{name}")
        for name, target in programs:
            (tools / name).symlink_to(target)
        settings = [f"VENV={tmp_path / 'venv'}", *(f"{k}={v}" for k, v in variables.items())]
        return subprocess.run(
            ["make", "setup", *settings],
            cwd=ROOT,
            env={"PATH": str(tools), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )

    return make


PYTHON = ("python3", os.path.realpath(sys.executable))


def test_a_machine_without_a_compiler_is_told_in_one_line(bare):
    done = bare(PYTHON)

    assert done.returncode != 0
    assert done.stdout == ""
    assert "This machine lacks g++. Run: sudo apt-get install --yes g++ # then" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_machine_without_python_is_told_in_one_line(bare):
    done = bare(("g++", "/bin/true"))

    assert "lacks python3 python3-venv python3-dev (Python 3.11 to 3.13)." in done.stderr
    assert "Run: sudo apt-get install --yes python3 python3-venv python3-dev # then" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_python_out_of_range_counts_as_none(bare, tmp_path):
    old = tmp_path / "python3.9"
    old.write_text("#!/bin/sh\nexit 0\n")  # prints no "yes"
    old.chmod(0o755)

    done = bare(("python3", old), ("g++", "/bin/true"))

    assert "lacks python3 python3-venv python3-dev" in done.stderr


def test_a_python_without_headers_or_venv_is_told_the_packages(bare, tmp_path):
    # Says yes to the range, nothing to ensurepip, and a folder without Python.h.
    bare_python = tmp_path / "python"
    bare_python.write_text(
        '#!/bin/sh\ncase "$2" in *version_info*) echo yes;; *ensurepip*) exit 1;;'
        " *) echo /nowhere;; esac\n"
    )
    bare_python.chmod(0o755)

    done = bare(("python3", bare_python), ("g++", "/bin/true"))

    assert "lacks python3-venv python3-dev. Run: sudo apt-get install" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_link_to_another_environment_is_not_emptied(bare, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept").touch()
    (tmp_path / "venv").symlink_to(other)

    done = bare(PYTHON, ("g++", "/bin/true"))

    assert done.returncode != 0
    assert "venv is a link, and set-up would empty what it leads to. Remove it: rm" in done.stderr
    assert (other / "kept").exists()


def test_only_make_setup_says_where_the_modules_come_from():
    for goal, says in (("setup", True), ("figures", False)):
        done = subprocess.run(["make", "-n", goal], cwd=ROOT, capture_output=True, text=True)
        assert ("pyorch.simulate.build --say" in done.stdout) == says, goal
        assert "pyorch.simulate.build" in done.stdout


@pytest.mark.parametrize("name", ["pyorch (1)", "a b'ü", "a&b", "a;b", "a#b", "$HOME", "a:b"])
def test_make_installs_once_whatever_the_folder_is_called(name, tmp_path):
    # What make would do is said, not done; then its stamps are set as it would have set them.
    folder = tmp_path / name
    folder.mkdir()
    shutil.copytree(ROOT / "setup", folder / "setup")
    for file in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / file, folder)

    def said():
        done = subprocess.run(["make", "-n", "setup"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = said()
    assert "Installing packages" in first
    (folder / ".venv").mkdir()
    stamps = [line for line in first.splitlines() if line.startswith("touch ")]
    assert len(stamps) == 2
    for line in stamps:
        subprocess.run(["sh", "-c", line], cwd=folder, check=True)

    assert "Installing packages" not in said()
    assert "pip install" not in said()


def runtime_packages():
    """Return each package that pyorch needs, with the text of its licence in its metadata."""
    found, waiting = {}, ["pyorch"]
    while waiting:
        name = waiting.pop()
        package = metadata.distribution(name)
        said = [package.metadata.get(key, "") for key in ("License-Expression", "License")]
        kinds = [one for one in package.metadata.get_all("Classifier", []) if "License" in one]
        found[name] = " ".join([*said, *kinds])
        for text in package.requires or []:
            needed = Requirement(text)
            name = canonicalize_name(needed.name)
            if name not in found and (not needed.marker or needed.marker.evaluate({"extra": ""})):
                waiting.append(name)
    return found


@pytest.mark.parametrize("licence", ["GPL-2.0-only", "LGPL", "MPL", "Apache"])
def test_the_page_of_licences_names_each_package_that_is_not_under_a_permissive_one(licence):
    named = runtime_packages()
    row = next(
        line for line in (ROOT / "docs" / "licences.md").read_text().splitlines()
        if line.startswith(f"| {licence}")
    )  # fmt: skip

    del named["pyorch"]
    # Some metadata holds the text of a licence, which quotes others: the names come first.
    under = {name for name, text in named.items() if re.search(rf"\b{licence}\b", text[:60])}
    assert under == set(re.findall(r"[a-z][a-z0-9-]+", row.split("|")[2])) - {"in", "parts"}


def test_the_version_is_the_same_wherever_it_stands():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())

    assert cited["version"] == pyorch.__version__
    assert f"## {pyorch.__version__} " in (ROOT / "CHANGELOG.md").read_text()
    assert cited["license"] == PROJECT["license"]
