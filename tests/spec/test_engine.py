# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run is part of its spec and its name when it is not the default."""

import pytest

from pyorch.errors import SpecError
from pyorch.spec import engine
from pyorch.spec.stored import checked

DEFAULTS = ("engine: packets", "engine: {type: packets}", "engine: {}")


@pytest.mark.parametrize("section", DEFAULTS)
def test_a_section_of_defaults_changes_no_name_and_is_in_no_spec(small, section):
    runs = small.plan(f"{small.text}{section}\n")

    assert [run.id for run in runs] == small.ids()
    assert all("engine" not in run.spec for run in runs)
    assert {engine.of(run.spec).type for run in runs} == {"packets"}


def test_the_engine_of_a_spec_without_that_section_is_the_default():
    assert engine.of({}) == engine.Engine()
    assert engine.settled(engine.Engine()) == {}


def test_the_short_form_is_one_section_for_set_and_variants_too(small):
    for key, value in (("engine", "packets"), ("engine.type", "packets")):
        assert [r.id for r in small.plan(sets=[(key, value)])] == small.ids()
    text = small.text.replace("label: With PFC", "label: With PFC, engine: packets")
    text = text.replace("  lossless:\n    label: With PFC, engine: packets",
                        "  lossless:\n    engine: packets\n    label: With PFC")  # fmt: skip
    assert small.ids(text) == small.ids()


@pytest.mark.parametrize(
    ("section", "message"),
    [("engine: steam", "engine.type: 'steam' (text) is not one of 'packets'"),
     ("engine: {typ: packets}", "engine.typ: there is no such key. Known here: type"),
     ("engine: 3", "engine: 3 is not a mapping")],
)  # fmt: skip
def test_what_is_no_engine_is_refused_with_what_there_is(small, section, message):
    with pytest.raises(SpecError) as caught:
        small.plan(f"{small.text}{section}\n")
    assert message in str(caught.value)


def test_a_stored_spec_that_says_a_default_is_not_what_was_written(small):
    # Two texts of one run would have two names.
    spec = {**small.plan()[0].spec, "engine": {"type": "packets"}}

    with pytest.raises(SpecError, match="engine: .* is not what a resolved spec holds here"):
        checked(spec, "spec.json")
