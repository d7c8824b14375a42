# SPDX-License-Identifier: GPL-2.0-only
"""A module of a study is warned of by what its classes say of themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch.cli.init import init

ROOT = Path(__file__).parents[2]
TRAITS = "{.sees = Sees::FRAME, .keepsFlowOnOnePath = true}"
SCENARIO = """\
name: own
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB, forwarding: {type: ns3::DrumForwarding}}
workload: {type: single, message: 40 kB, source: 0, target: 3}
transport: {type: ns3::RoceTransport}
stop: 1 ms
"""
OVERTAKES = "ns3::DrumForwarding lets packets of a message overtake each other"
COLLIDES = "ns3::BassEntropy has 4 entropies, which ns3::DrumForwarding spreads over 2 uplinks"

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


def call(folder, *arguments):
    """Run a command of pyorch in a study; return what it said."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", *arguments], cwd=folder, text=True, timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with a policy of switches and a path selector of its own."""
    folder = tmp_path_factory.mktemp("made") / "study"
    init(folder)
    call(folder, "new", "forwarding", "drum")
    call(folder, "new", "path-selector", "bass")
    (folder / "scenarios" / "own.yaml").write_text(SCENARIO)
    return folder


@pytest.mark.parametrize(
    ("traits", "selector", "told"),
    [
        (TRAITS, "", []),
        ("{.sees = Sees::TURN}", "", [OVERTAKES]),
        ("{.keepsOrder = true}", "", []),
        (TRAITS.replace("}", ", .hashesEntropy = true}"), "", []),
        (TRAITS.replace("}", ", .hashesEntropy = true}"), "ns3::BassEntropy[Paths=4]",
         ["ns3::BassEntropy lets packets of a message overtake each other", COLLIDES]),
    ],
    ids=["one path", "turns", "flowlets", "hashes one", "hashes few"],
)  # fmt: skip
def test_a_new_policy_and_a_new_selector_are_warned_of(study, traits, selector, told):
    (header,) = (study / "ns3-modules" / "drum").glob("model/*.h")
    before = header.read_text()
    assert before.count(TRAITS) == 1
    header.write_text(before.replace(TRAITS, traits))
    sets = [f"--set=transport.attributes.PathSelector={selector}"] * bool(selector)
    try:
        said = call(study, "run", "scenarios/own.yaml", *sets, "--force", "--out", "made")
    finally:
        header.write_text(before)
    warnings = [line for line in said.splitlines() if ": warning: " in line]
    assert len(warnings) == len(told), said
    assert all(words in line for words, line in zip(told, warnings, strict=True)), said
