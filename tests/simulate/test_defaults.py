# SPDX-License-Identifier: GPL-2.0-only
"""A default of an attribute changes by decision: the list of all of them is checked in."""

import json
from pathlib import Path

import pytest

from pyorch.built import here

CHECKED_IN = Path(__file__).parents[1] / "data" / "typeids.json"


def attributes_of(path):
    return {
        f"{entry['name']}: {attribute['name']}": (attribute["default"], attribute["range"])
        for entry in json.loads(path.read_text()) for attribute in entry["attributes"]
    }  # fmt: skip


@pytest.mark.ns3
def test_every_attribute_has_the_default_and_the_range_that_are_checked_in():
    built, decided = attributes_of(here().typeids), attributes_of(CHECKED_IN)
    changed = sorted(dict(built.items() ^ decided.items()))
    assert not changed, (
        f"{', '.join(changed)}: not as in tests/data/typeids.json. If that is meant:"
        " cp build/typeids.json tests/data/typeids.json"
    )
