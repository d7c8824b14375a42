# SPDX-License-Identifier: GPL-2.0-only
"""Which built modules are used: asked where a process is, not where it was when it began."""

import json

import pytest

from pyorch import built
from pyorch.errors import SpecError
from pyorch.spec import typeids


@pytest.fixture
def study(tmp_path):
    """A study whose build knows one type of its own."""
    module = tmp_path / "study" / "ns3-modules" / "own"
    module.mkdir(parents=True)
    (module / "CMakeLists.txt").touch()
    own = {"name": "ns3::Own", "contract": "queue", "library": "libown.so", "help": "A queue",
           "attributes": []}  # fmt: skip
    build = tmp_path / "study" / "build"
    build.mkdir()
    (build / "typeids.json").write_text(json.dumps([own]))
    return tmp_path / "study"


def test_a_notebook_that_changes_folder_uses_the_study_that_it_is_in(study, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    for folder, expected in (
        (tmp_path / "elsewhere", built.Build(built.INSTALLED)),
        (study, built.Build(study / "build", study)),
        (tmp_path / "elsewhere", built.Build(built.INSTALLED)),
    ):
        monkeypatch.chdir(folder)
        assert built.here() == expected
        found = typeids.load().choices("queue")
        assert (found == ["ns3::Own"]) == (folder == study)


def test_a_study_is_told_to_build_as_a_study_does(study, tmp_path, monkeypatch):
    (study / "build" / "typeids.json").unlink()
    monkeypatch.chdir(study)
    with pytest.raises(SpecError, match=r"Run: python -m pyorch\.simulate\.build"):
        typeids.load()


@pytest.mark.parametrize("sanitize", ["", "address,undefined"])
def test_sanitizers_have_a_build_of_their_own_and_only_in_a_study(study, monkeypatch, sanitize):
    monkeypatch.setenv("PYORCH_SANITIZE", sanitize)
    monkeypatch.chdir(study)
    assert built.here().folder == study / "build" / ("sanitized" if sanitize else "")
    assert built.here().sanitize == sanitize
    monkeypatch.chdir(study.parent)
    assert built.here() == built.Build(built.INSTALLED)


def test_a_folder_for_modules_that_has_none_uses_the_installed_ones(study, monkeypatch):
    (study / "ns3-modules" / "own" / "CMakeLists.txt").unlink()
    monkeypatch.chdir(study)
    assert built.here() == built.Build(built.INSTALLED)
    assert built.study() == study  # the first module of it can be written
