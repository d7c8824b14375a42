# SPDX-License-Identifier: GPL-2.0-only
"""Nothing in a file of others is silently ignored: each format is given what it does not have."""

import re

import formats
import plants
import pytest

from pyorch.errors import PyorchError

#: Lines that may stand in a file of a format, or words behind those of a line, with the reason.
FREE = {
    # Lines of other programs stand between those of NCCL, and a launcher begins each line.
    "trace_format.nccl_log": "as line|before word 0 ",
}
_NAMED = re.compile(rf"{plants.WORD}|text of|field {plants.FIELD}|\d+ (lines|bytes|B) ")


def test_each_file_that_a_scenario_names_has_an_example():
    assert {example.slot for example in formats.EXAMPLES} == set(formats.slots())


@pytest.mark.parametrize("example", formats.EXAMPLES, ids=lambda one: f"{one.slot}-{one.kind}")
def test_what_a_format_does_not_have_is_named_or_refused(example, tmp_path):
    known = set(example.read(tmp_path))
    silent, n_planted = [], 0
    for what, data in plants.plants(example.kind, example.data):
        if re.search(FREE.get(example.slot, "^$"), what):
            continue
        n_planted += 1
        try:
            said = set(example.read(tmp_path, data)) - known
        except PyorchError as error:
            assert "\n" not in str(error) and example.name in str(error), f"{what}: {error}"
            continue
        if not any(_NAMED.search(line) for line in said):
            silent.append(f"{what}: {sorted(said)}")

    assert n_planted
    assert not silent
