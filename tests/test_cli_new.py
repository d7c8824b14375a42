# SPDX-License-Identifier: GPL-2.0-only
"""A new plug-in gets a name that nothing else has; tests/extending builds and runs all kinds."""

import re

import pytest
from typer.testing import CliRunner

from pyorch.cli import new
from pyorch.errors import PluginError
from pyorch.scaffold import KINDS, write
from pyorch.scaffold.kinds import Module

MODULE_KINDS = [name for name, kind in KINDS.items() if isinstance(kind, Module)]
FILE_KINDS = [name for name in KINDS if name not in MODULE_KINDS]


@pytest.fixture
def root(tmp_path):
    """Return a project with one module that has headers and a class, and with one scenario."""
    model = tmp_path / "ns3-modules" / "other" / "model"
    model.mkdir(parents=True)
    (model / "swift-transport.h").touch()
    (model / "window.h").write_text("class HomaTransport final : public Transport\n{\n};\n")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "slow_start.yaml").touch()
    return tmp_path


def files_of(root):
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("kind", MODULE_KINDS)
def test_a_module_has_its_shape_and_no_gaps(kind, root):
    files = write(kind, "slow-start", root)

    folder = root / "ns3-modules" / "slow-start"
    header = next(path for path in files if path.suffix == ".h")
    assert {str(path.relative_to(folder)) for path in files} == {
        "CMakeLists.txt",
        "README.md",
        f"model/{header.stem}.cc",
        f"model/{header.stem}.h",
        f"test/{header.stem}-test-suite.cc",
    }
    declared = re.search(r"class (SlowStart\w+) final", header.read_text()).group(1)
    assert f"ns3::{declared}" in header.with_suffix(".cc").read_text()
    for path in files:
        text = path.read_text()
        assert not re.search(r"\{\{ |\{%", text), path
        assert text.endswith("\n") and "\n\n\n" not in text, path
        if path.suffix == ".md":
            parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
            assert parts[::2] == ["Models", "Does not model", "Source", "Attributes", "Oracle"]
            assert all(len(part.split()) > 1 for part in parts[1::2])
        licensed = path.suffix == ".md" or text.partition("\n")[0].endswith("GPL-2.0-only")
        assert licensed, path


def test_a_name_that_says_its_kind_does_not_say_it_twice(root):
    header, *_ = [p for p in write("flow-control", "my-flow-control", root) if p.suffix == ".h"]

    assert header.name == "my-flow-control.h"
    assert "class MyFlowControl final" in header.read_text()


@pytest.mark.parametrize("kind", MODULE_KINDS)
def test_lines_are_short_if_the_name_is(kind, root):
    for path in write(kind, "drum", root):
        assert max(map(len, path.read_text().splitlines())) <= 100, path


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_a_kind_that_is_a_file_is_one_more_file(kind, root):
    name = "slow_start" if kind == "figure" else "slow_stop"
    before = files_of(root)
    (path,) = write(kind, name, root)

    assert sorted([*before, str(path.relative_to(root))]) == files_of(root)
    assert "{{" not in path.read_text()
    with pytest.raises(PluginError, match="exists already"):
        write(kind, name, root)


def test_a_figure_needs_a_scenario_to_draw(root):
    with pytest.raises(PluginError, match="pyorch new scenario slow_stop"):
        write("figure", "slow_stop", root)


def test_the_command_names_every_kind_and_what_to_do_next(monkeypatch, root):
    told = CliRunner().invoke(new.app, ["--help"]).output
    assert all(kind in told for kind in KINDS)

    monkeypatch.setattr(write, "__defaults__", (root,))
    told = CliRunner().invoke(new.app, ["loss-model", "slow-start"]).output
    assert "build/bin/test-runner --suite=slow-start-loss" in told
    assert "link: {loss_model: {type: ns3::SlowStartLoss}}" in told


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Make this folder a study that has nothing yet."""
    (tmp_path / "ns3-modules").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pyorch.trust.grant", lambda study: None)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("collective", "ring", "pyorch or a package has one of this name. Choose another name."),
        ("metric", "slowdown", "pyorch or a package has one of this name. Choose another name."),
        ("transport", "roce", "pyorch has a module of this name. Choose another name."),
    ],
)
def test_a_study_gives_no_name_that_pyorch_has(kind, name, message, study):
    with pytest.raises(PluginError, match=f"^{kind} '{name}': {message}$"):
        write(kind, name)
    assert files_of(study) == []


def test_what_is_written_elsewhere_is_named_with_its_folder(monkeypatch, root, tmp_path_factory):
    monkeypatch.setattr(write, "__defaults__", (root,))
    path = root / "pyorch" / "workload" / "slow_start.py"
    for folder in (tmp_path_factory.mktemp("elsewhere"), root.parent):
        monkeypatch.chdir(folder)
        told = CliRunner().invoke(new.app, ["workload", "slow_start"]).output.splitlines()[0]
        assert told == str(path.relative_to(folder) if folder == root.parent else path)
        path.unlink()


@pytest.mark.parametrize(("name", "nearest"), [("SlowStart", "slow_start"), ("a-b", "a_b")])
def test_a_file_has_a_name_that_python_can_import(name, nearest, root):
    with pytest.raises(PluginError, match=f"^topology '{name}': .*'{nearest}'.$"):
        write("topology", name, root)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("SlowStart", "slow-start"),
        ("2fast", "fast"),
        ("a b", "a-b"),
        ("../x", "x"),
        ("x_", "x"),
        ("", "slow-start"),
        ("é", "slow-start"),
        ("x" * 65, "x" * 20),
    ],
)
def test_what_is_no_name_is_answered_with_one(name, nearest, root):
    with pytest.raises(PluginError, match=f"^transport '{re.escape(name)}': .*'{nearest}'.$"):
        write("transport", name, root)
    assert [path.name for path in (root / "ns3-modules").iterdir()] == ["other"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "other exists already. Choose another name, or remove the folder."),
        ("core", "a module of ns-3 or a part of the build has this name."),
        ("lib", "a module of ns-3 or a part of the build has this name."),
        ("roce-test", "a module of ns-3 or a part of the build has this name."),
        ("swift", "its header ns3/swift-transport.h would hide"),
        ("homa", "its TypeId ns3::HomaTransport is that of a class in"),
    ],
)
def test_a_name_that_is_taken_is_refused_with_its_owner(name, message, root):
    with pytest.raises(PluginError, match=re.escape(message)):
        write("transport", name, root)
    assert [path.name for path in (root / "ns3-modules").iterdir()] == ["other"]
