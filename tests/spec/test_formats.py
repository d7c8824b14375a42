# SPDX-License-Identifier: GPL-2.0-only
"""A scenario may say the version of its format: an older one is brought up to date, or refused."""

import pytest

from pyorch import formats, spec
from pyorch.errors import SpecError
from pyorch.spec.scenario import parse_scenario


def version(small, number):
    return small.text.replace("name: small\n", f"name: small\nformat: {number}\n")


def test_the_version_of_now_changes_no_name_of_a_run(small):
    assert small.ids(version(small, formats.SCENARIO)) == small.ids()


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (99, "small.yaml:3: format: 99 is newer than this pyorch, which reads 1. Install a newer"),
        ("x", "small.yaml:3: format: 'x' is no version of the format. Write 1, or leave it out."),
        (0, "small.yaml:3: format: 0 is no version of the format."),
        ("true", "small.yaml:3: format: True is no version of the format."),
    ],
)
def test_what_is_newer_or_no_version_is_refused_in_one_line(small, number, message):
    with pytest.raises(SpecError) as refusal:
        small.plan(version(small, number))
    assert str(refusal.value).startswith(message) and "\n" not in str(refusal.value)


def test_an_older_version_is_brought_up_to_date_step_by_step(small, monkeypatch):
    # Planted: in version 1 stop was called end, in version 2 it was called until.
    def renamed(old, new):
        return lambda values: {new if key == old else key: its for key, its in values.items()}

    monkeypatch.setattr(formats, "SCENARIO", 3)
    monkeypatch.setattr(formats, "MIGRATIONS",
                        {1: renamed("end", "until"), 2: renamed("until", "stop")})  # fmt: skip
    assert small.ids(version(small, 1).replace("stop:", "end:")) == small.ids()
    assert small.ids(version(small, 2).replace("stop:", "until:")) == small.ids()
    assert small.ids(version(small, 3)) == small.ids()
    with pytest.raises(SpecError, match="end: there is no such key"):
        small.plan(small.text.replace("stop:", "end:"))  # without a version it is that of now


def test_an_older_version_that_a_person_has_to_change_says_how(small, monkeypatch):
    monkeypatch.setattr(formats, "SCENARIO", 2)
    monkeypatch.setattr(formats, "MIGRATIONS", {1: "buffer is that of a port. Divide it."})
    with pytest.raises(SpecError) as refusal:
        small.plan(version(small, 1))
    assert str(refusal.value) == (
        "small.yaml:3: format: 1 is older than 2. buffer is that of a port. Divide it."
    )


def test_every_older_version_has_its_step():
    assert sorted(formats.MIGRATIONS) == list(range(1, formats.SCENARIO))


def test_the_version_is_no_part_of_a_spec(small):
    (first, *_) = small.plan(version(small, formats.SCENARIO))
    assert formats.KEY not in first.spec.plain()
    assert isinstance(parse_scenario(version(small, 1), "x"), spec.ScenarioFile)
