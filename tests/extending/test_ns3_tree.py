# SPDX-License-Identifier: GPL-2.0-only
"""The module folders are configured by ns-3's own conventions, and compile as its contrib does."""

import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import built
from pyorch.scaffold import write
from pyorch.simulate import build

TREE = Path(__file__).with_name("ns3-tree")


def configure(folder, modules, tests):
    command = [
        build.CMAKE, "-S", TREE, "-B", folder, "-G", "Ninja", f"-DMODULES={modules}",
        f"-DENABLE_TESTS={tests}", f"-DCMAKE_MAKE_PROGRAM={build.NINJA}",
        f"-DPython3_EXECUTABLE={sys.executable}",
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("tests", ["OFF", "ON"])
def test_every_module_is_configured(tests, tmp_path):
    done = configure(tmp_path, built.MODULES, tests)

    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [build.NINJA, "-C", tmp_path, "-t", "targets", "all"], capture_output=True, text=True
    ).stdout
    for path in built.MODULES.glob("*/CMakeLists.txt"):
        module = path.parent.name
        assert f"lib{module}: phony" in listed or f"liblib{module}.so" in listed, module
        assert (f"lib{module}-test" in listed) == (
            tests == "ON" and "TEST_SOURCES" in path.read_text()
        ), module


@pytest.mark.slow
def test_a_new_transport_and_the_sprayed_one_compile_with_warnings_as_errors(tmp_path):
    modules = tmp_path / "ns3-modules"
    modules.mkdir()
    for name in ("cmake", "engine", "topology", "contract", "host", "spray"):
        (modules / name).symlink_to(built.MODULES / name)
    write("transport", "drum", tmp_path)
    done = configure(tmp_path / "build", modules, "OFF")
    assert done.returncode == 0, done.stderr

    done = subprocess.run(
        [build.NINJA, "-C", tmp_path / "build", "libdrum-obj", "libspray-obj"],
        capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout
