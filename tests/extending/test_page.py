# SPDX-License-Identifier: GPL-2.0-only
"""What docs/extending.md shows is what its example is, and its commands lead to a figure."""

import difflib
import re

import pandas as pd
import pytest
from project_copy import EXAMPLE, PAGE, blocks

from pyorch.scaffold import write

SHOWN = [(file, text) for language, file, text in blocks() if language != "sh"]


@pytest.mark.parametrize(("file", "text"), SHOWN, ids=[file for file, _ in SHOWN])
def test_every_block_is_a_part_of_its_file(file, text):
    assert text in (EXAMPLE / file).read_text()


def test_every_file_of_python_and_yaml_is_shown():
    files = [path for path in EXAMPLE.rglob("*") if path.suffix in {".py", ".yaml"}]

    names = {path.relative_to(EXAMPLE) for path in files}
    its = {str(name) for name in names if name.parts[0] != "package"}  # for others to install
    assert its <= {file for file, _ in SHOWN}


@pytest.mark.parametrize("kind", ["transport", "congestion control", "switch program"])
def test_a_kind_is_shown_in_five_minutes_of_reading(kind):
    (section,) = re.findall(rf"^## A {kind}\n(.*?)^## ", PAGE.read_text(), re.M | re.S)
    assert 100 < len(section.split()) < 5 * 200  # words a minute


@pytest.mark.parametrize("suffix", ["h", "cc"])
def test_every_line_that_makes_the_skeleton_an_aimd_is_shown(suffix, tmp_path):
    file = f"aimd/model/aimd-transport.{suffix}"
    write("transport", "aimd", tmp_path)
    before = (tmp_path / "ns3-modules" / file).read_text().splitlines()
    after = (EXAMPLE / "ns3-modules" / file).read_text().splitlines()
    added = [line[2:] for line in difflib.ndiff(before, after) if line.startswith("+ ")]
    shown = "".join(text for name, text in SHOWN if name == f"ns3-modules/{file}").splitlines()

    assert len(added) >= 10
    assert [line for line in added if line.strip() and line not in shown] == []


@pytest.mark.ns3
@pytest.mark.slow
def test_the_commands_lead_to_a_figure_and_change_no_other_file(copy):
    before = copy.files()
    commands = [
        line for language, _, text in blocks() if language == "sh" for line in text.splitlines()
    ]
    said = "".join(copy.run(line) for line in commands)

    assert said.count("PASS aimd-transport") == 2  # the skeleton, and what became of it
    assert "slowest over optimal" in said

    # Oracle for the figure: AIMD exists to keep the queue below the threshold that marks.
    marks = pd.read_csv(copy.folder / "results/ring_exchange/laptop/marks.csv").set_index("variant")
    assert marks["marked_share"]["aimd"] < marks["marked_share"]["line_rate"] / 3
    # Links that are cut lose packets, and nothing else here does.
    lossy = marks["retransmitted_share"] > 0
    assert lossy.to_dict() == {
        "aimd": False, "aimd_fixed_routes": False, "aimd_rolling": True, "line_rate": False,
    }  # fmt: skip
    assert (copy.folder / "figures/laptop/ring_exchange.pdf").stat().st_size > 1000

    after = copy.files()
    added = {str(path.relative_to(EXAMPLE)) for path in EXAMPLE.rglob("*")
             if path.is_file() and path.suffix != ".pyc"}  # fmt: skip
    assert {path: after.get(path) for path in before} == before
    assert set(after) - set(before) == added
    # `attributes` found every table of attributes as it has to be, also those of the example.
    for path in added:
        assert (copy.folder / path).read_bytes() == (EXAMPLE / path).read_bytes(), path
