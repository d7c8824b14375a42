# SPDX-License-Identifier: GPL-2.0-only
"""A plug-in is a file in a folder; a name that is no file is refused with what there is."""

import re
import sys

import pytest

from pyorch import plugins
from pyorch.errors import PluginError, did_you_mean


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "round.py").write_text("SIDES = 0\n")
    (folder / "square.py").write_text("raise RuntimeError('imported without need')\n")
    (folder / "_helper.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    yield "shapes"
    for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
        del sys.modules[name]


def test_names_are_files_and_listing_them_runs_none(package):
    assert plugins.names(package) == ["round", "square"]


def test_loading_one_plug_in_imports_no_other(package):
    assert plugins.load(package, "round").SIDES == 0


def test_a_new_file_is_found_without_an_edit_elsewhere(package, tmp_path):
    (tmp_path / "shapes" / "square.py").write_text("SIDES = 4\n")
    (tmp_path / "shapes" / "star.py").write_text("SIDES = 10\n")

    assert {name: m.SIDES for name, m in plugins.discover(package).items()} == {
        "round": 0,
        "square": 4,
        "star": 10,
    }


def test_an_unknown_name_is_answered_with_the_known_ones(package):
    message = "no shapes 'sqare'. Found in shapes: round, square. Did you mean square?"
    with pytest.raises(PluginError, match=re.escape(message)):
        plugins.load(package, "sqare")
    assert "shapes.sqare" not in plugins.loaded  # it is no part of what made a result


def test_no_guess_is_made_for_a_name_like_no_other():
    assert did_you_mean("zzz", ["round", "square"]) == ""


def test_a_guess_ignores_case():
    assert did_you_mean("gain", ["Gain", "Loss"]) == " Did you mean Gain?"


CONTRACT = """\
class Contract:
    SIDES: int
    OPTIONAL = ("corners",)
    def area(params, seed): ...
    def corners(params): ...
"""
WRONG = {
    "SIDES = 4\n": "shapes 'wrong': has no area.",
    "SIDES = 4\ndef aera(params, seed): ...\n": "shapes 'wrong': has aera; did you mean area?",
    "SIDES = 4\ndef area(params): ...\n": "area takes (params), and is called with (params, seed)",
    "SIDES = 4\ndef area(params, seed): ...\ndef corner(params): ...\n": "did you mean corners?",
    "def area(params, seed): ...\n": "shapes 'wrong': has no SIDES.",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_a_part_that_is_missing_or_misspelt_is_named(package, tmp_path, text, message):
    (tmp_path / "shapes" / "_contract.py").write_text(CONTRACT)
    (tmp_path / "shapes" / "wrong.py").write_text(text)
    with pytest.raises(PluginError, match=re.escape(message)):
        plugins.load(package, "wrong")
    with pytest.raises(PluginError, match=re.escape(message)):  # also when it is asked for again
        plugins.load(package, "wrong")


def test_what_may_be_left_out_and_what_is_more_are_no_mistakes(package, tmp_path):
    (tmp_path / "shapes" / "_contract.py").write_text(CONTRACT)
    (tmp_path / "shapes" / "square.py").write_text(
        "SIDES = 4\ndef area(params, seed): ...\ndef helper(): ...\n"
    )
    assert plugins.load(package, "square").SIDES == 4


@pytest.mark.parametrize(
    "kind", ["topology", "workload", "allocation", "failure", "controller", "metrics", "export"]
)
def test_every_plug_in_keeps_the_contract_of_its_kind(kind):
    assert plugins.discover(f"pyorch.{kind}")
