# SPDX-License-Identifier: GPL-2.0-only
"""Files that are no scenario are refused in one line, whatever is in them."""

import re

import pytest

from pyorch import spec
from pyorch.errors import SpecError

#: Ten lines, of which each means nine of the one before.
BILLION = "l0: &l0 [x]\n" + "".join(
    f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1, 2", "small.yaml:2: this is not YAML: "),
        ("- 1", "small.yaml: a scenario is a mapping of keys to values; begin with name:."),
        ("", "small.yaml: a scenario is a mapping of keys to values; begin with name:."),
        ("a: 1\nb:\n\t- 2", "small.yaml:3: this is not YAML: "),
        ("a: \x01", "small.yaml: this is not YAML: character 0x0001 at position 3. Take it out."),
        ("a: !!int x", "small.yaml:1: a: 'x' is no int. Quote it."),
        ("a: " + "9" * 5000, "small.yaml:1: a: '999999"),
        ("a: &a [*a]", "small.yaml:1: nested more than 40 deep"),
        ("a: " + "[" * 50_000 + "]" * 50_000, "small.yaml:1: nested more than 40 deep"),
        ("a: " + "{a: " * 50_000 + "}" * 50_000, "small.yaml:1: nested more than 40 deep"),
        (BILLION, "or more than 100000 values with all aliases written out. Write less."),
    ],
)
def test_what_is_no_scenario_is_refused(small, text, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(text)


def test_a_file_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_bytes("name: k\u00f6ln".encode("latin-1"))
    with pytest.raises(SpecError, match="a.yaml: is not a text file in UTF-8"):
        spec.read_scenario(tmp_path / "a.yaml")


def test_a_mark_at_the_beginning_of_a_file_is_no_part_of_it(tmp_path, small):
    (tmp_path / "a.yaml").write_text(small.text, encoding="utf-8-sig")

    assert "name" in spec.read_scenario(tmp_path / "a.yaml").values


def test_a_file_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    (tmp_path / "incast.yaml").touch()
    with pytest.raises(SpecError, match="incest.yaml: cannot be read .* Did you mean incast.yaml"):
        spec.read_scenario(tmp_path / "incest.yaml")
