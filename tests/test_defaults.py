# SPDX-License-Identifier: GPL-2.0-only
"""The page on transports has the defaults of the code, and a scenario that resolves."""

import json
import re
from pathlib import Path

from pyorch import spec
from pyorch.spec import typeids
from pyorch.spec.scenario import parse_scenario

ROOT = Path(__file__).parents[1]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
ROW = re.compile(r"^\| `(ns3::\w+)` \| `(\w+)` \| `([^`]*)` \| ([^|]+) \| ([^|]+) \|$", re.M)


def test_defaults_beside_their_authors_are_those_of_the_code():
    page = (ROOT / "docs" / "transports.md").read_text()
    section = page.partition("## Defaults beside their authors'")[2].partition("\n## ")[0]
    rows = ROW.findall(section)
    entries = json.loads(TYPEIDS.read_text())
    types = {entry["name"]: entry for entry in entries}
    defaults = {
        (name, attribute["name"]): typeids.default_of(attribute)
        for name, entry in types.items()
        for attribute in entry["attributes"]
    }
    written = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in defaults.items()
    }

    assert len(rows) == section.count("\n| `") and len(rows) > 60
    assert [row for row in rows if written.get(row[:2]) != row[2]] == []
    assert all((theirs == "none") == (source == "ours") for *_, theirs, source in rows)
    asked = {
        name for name, entry in types.items()
        if entry["contract"] in ("transport", "congestion_control")
    }  # fmt: skip
    assert asked - {name for name, *_ in rows} == set()


def test_the_scenario_of_the_page_resolves():
    page = (ROOT / "docs" / "transports.md").read_text()
    text = page.partition("```yaml\n")[2].partition("```")[0]

    runs = spec.plan(parse_scenario(text, "transports.md"), typeids_file=TYPEIDS)
    assert len(runs) == 2
