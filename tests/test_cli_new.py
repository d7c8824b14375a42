# SPDX-License-Identifier: GPL-2.0-only
"""A new transport gets a name that nothing else has; tests/extending builds and runs one."""

import re

import pytest

from pyorch.cli import new
from pyorch.errors import PluginError


@pytest.fixture
def modules(tmp_path):
    """Return a folder of modules with one that has a header and a class."""
    model = tmp_path / "other" / "model"
    model.mkdir(parents=True)
    (model / "swift-transport.h").touch()
    (model / "window.h").write_text("class HomaTransport final : public Transport\n{\n};\n")
    return tmp_path


def test_a_skeleton_has_the_shape_of_a_module_and_no_gaps(modules):
    files = new.write_transport("slow-start", modules)

    folder = modules / "slow-start"
    assert {str(path.relative_to(folder)) for path in files} == {
        "CMakeLists.txt",
        "README.md",
        "model/slow-start-transport.cc",
        "model/slow-start-transport.h",
        "test/slow-start-transport-test-suite.cc",
    }
    assert not [path for path in files if re.search(r"\{\{|\{%", path.read_text())]
    assert "class SlowStartTransport final" in files[3].read_text() + files[2].read_text()
    assert "#ifndef SLOW_START_TRANSPORT_H" in (
        folder / "model" / "slow-start-transport.h"
    ).read_text()
    for path in files:
        licensed = path.suffix == ".md" or "SPDX-License-Identifier: GPL-2.0-only" in (
            path.read_text().partition("\n")[0]
        )
        assert licensed, path


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
def test_what_is_no_name_is_answered_with_one(name, nearest, modules):
    with pytest.raises(PluginError, match=f"^transport '{re.escape(name)}': .*'{nearest}'.$"):
        new.write_transport(name, modules)
    assert [path.name for path in modules.iterdir()] == ["other"]


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
def test_a_name_that_is_taken_is_refused_with_its_owner(name, message, modules):
    with pytest.raises(PluginError, match=re.escape(message)):
        new.write_transport(name, modules)
    assert [path.name for path in modules.iterdir()] == ["other"]
