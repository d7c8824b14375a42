# SPDX-License-Identifier: GPL-2.0-only
"""What is wrong with a module of a study is named by function and line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch.cli.init import init

ROOT = Path(__file__).parents[2]
SOURCE = Path("ns3-modules", "drum", "model", "drum-transport.cc")
FIRST = "    const uint64_t packetPs = PacketPs(out);\n"
RUN = [
    "run",
    "scenarios/incast.yaml",
    "--scale",
    "smoke",
    "--set",
    "transport.type=ns3::DrumTransport",
]

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


def call(folder, *arguments, **environment):
    """Run a command of pyorch in a study; return its status and what it said."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", *arguments], cwd=folder, text=True, timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), **environment},
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with a transport of its own, in a folder whose name needs quotes."""
    folder = tmp_path_factory.mktemp("made") / "my study (1)"
    init(folder)
    status, said = call(folder, "new", "transport", "drum")
    assert status == 0, said
    return folder


@pytest.fixture
def planted(study):
    """Put a statement into the transport's Begin; return its line as a message has it."""
    before = (study / SOURCE).read_text()

    def plant(statement):
        (study / SOURCE).write_text(before.replace(FIRST, f"    {statement}\n{FIRST}"))
        line = before[: before.index(FIRST)].count("\n") + 1
        return f"{SOURCE}:{line}"

    yield plant
    (study / SOURCE).write_text(before)


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ("*static_cast<volatile int*>(nullptr) = 1;", "was killed by SIGSEGV"),
        ("std::abort();", "was killed by SIGABRT"),
        ("std::vector<int>(3).at(static_cast<size_t>(out.message) + 7);", "vector::_M_range_check"),
        # The heap finds it, and its lock is taken when the stack is looked for.
        ("auto* volatile p = new char[5000]; delete[] p; delete[] p;", "was killed by SIGABRT"),
        ("throw 42;", "an exception that is no std::exception"),
    ],
)
def test_a_crash_names_function_and_line(study, planted, statement, how):
    place = planted(statement)
    status, said = call(study, *RUN, "--out", "own")

    where = f" in ns3::DrumTransport::Begin(ns3::DrumOutbound&) at {place}"
    assert status != 0 and how in said
    assert where in said.splitlines()[-1], said


def test_a_sweep_names_function_and_line_of_a_crash(study, planted):
    place = planted("*static_cast<volatile int*>(nullptr) = 1;")
    status, said = call(study, "sweep", *RUN[1:], "--metric", "none")
    assert status != 0
    assert f"SIGSEGV in ns3::DrumTransport::Begin(ns3::DrumOutbound&) at {place}" in said, said


def test_sanitizers_name_the_line_that_writes_behind_its_memory(study, planted):
    place = planted("std::vector<int> three(3); three.data()[out.message + 3] = 1;")
    status, said = call(study, *RUN, "--out", "watched", PYORCH_SANITIZE="address,undefined")

    assert status != 0 and "AddressSanitizer: heap-buffer-overflow" in said
    assert place in said and "ns3::DrumTransport::Begin" in said, said


def test_sanitizers_find_nothing_in_what_new_writes(study):
    status, said = call(study, *RUN, "--out", "sound", PYORCH_SANITIZE="address,undefined")
    assert status == 0 and "Sanitizer" not in said, said
