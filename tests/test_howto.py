# SPDX-License-Identifier: GPL-2.0-only
"""Every scenario of the page of answers can be planned, every command of it exists."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from pyorch import spec
from pyorch.spec.scenario import parse_scenario

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "docs" / "howto.md", ROOT / "docs" / "coming_from.md"]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
HOWTO = PAGES[0].read_text()
BASE, *CHANGES = re.findall(r"^```yaml\n(.*?)^```$", HOWTO, re.MULTILINE | re.DOTALL)


@pytest.fixture
def files(tmp_path):
    """Return a folder with the files that the page names."""
    (tmp_path / "messages.csv").write_text("src,dst,bytes\n0,5,1000\n")
    (tmp_path / "nodes.csv").write_text("node,is_switch\n0,0\n1,0\n2,1\n3,1\n")
    cables = ["0,2", "1,3", "2,3"]
    (tmp_path / "links.csv").write_text(
        "node_a,node_b,rate_bps,delay_ps\n"
        + "".join(f"{ends},400000000000,500000\n" for ends in cables)
    )
    ranks = ["l1: send 1000b to 1 tag 0", "l1: recv 1000b from 0 tag 0"]
    (tmp_path / "step.goal").write_text(
        "num_ranks 2\n" + "".join(f"rank {i} {{\n{line}\n}}\n" for i, line in enumerate(ranks))
    )
    return tmp_path


@pytest.mark.parametrize("change", CHANGES, ids=lambda text: text.split("\n")[0][:40])
def test_the_scenario_with_the_sections_of_an_answer_can_be_planned(change, files):
    sections = yaml.safe_load(BASE) | yaml.safe_load(change)
    scenario = files / "base.yaml"
    scenario.write_text(yaml.safe_dump(sections, sort_keys=False))
    runs = spec.plan(parse_scenario(scenario.read_text(), str(scenario)), typeids_file=TYPEIDS)
    assert runs


@cache
def help_of(*command):
    """Return what the command line says of a command."""
    words = [sys.executable, "-m", "pyorch", *command, "--help"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_of_the_page_exists_with_its_options(page):
    lines = re.findall(r"(?:`|^    )(pyorch [^`#]*?)(?:`| #|$)", page.read_text(), re.MULTILINE)
    assert lines
    for line in lines:
        _, *words = line.split()
        help_text = help_of(*words[: 2 if words[0] in ("theory", "new") else 1])
        for word in words:
            assert not word.startswith("--") or re.search(rf"{word}\b", help_text), line
