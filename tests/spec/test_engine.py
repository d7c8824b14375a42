# SPDX-License-Identifier: GPL-2.0-only
"""Which engine makes a run is part of its spec and its name when it is not the default."""

from pathlib import Path

import pytest

from pyorch.errors import SpecError
from pyorch.render import render_script
from pyorch.simulate import check
from pyorch.spec import typeids
from pyorch.spec.stored import checked

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
DEFAULTS = ("engine: packets", "engine: {type: packets}", "engine: {}")


@pytest.mark.parametrize("section", DEFAULTS)
def test_a_section_of_defaults_changes_no_name_and_is_in_no_spec(small, section):
    runs = small.plan(f"{small.text}{section}\n")

    assert [run.id for run in runs] == small.ids()
    assert all("engine" not in run.spec.plain() for run in runs)
    assert {run.spec.engine.type for run in runs} == {"packets"}


def test_the_short_form_is_one_section_for_set_and_variants_too(small):
    for key, value in (("engine", "packets"), ("engine.type", "packets")):
        assert [r.id for r in small.plan(sets=[(key, value)])] == small.ids()
    text = small.text.replace("label: With PFC", "label: With PFC, engine: packets")
    text = text.replace("  lossless:\n    label: With PFC, engine: packets",
                        "  lossless:\n    engine: packets\n    label: With PFC")  # fmt: skip
    assert small.ids(text) == small.ids()


@pytest.mark.parametrize(
    ("section", "message"),
    [("engine: steam", "engine.type: 'steam' (text) is not one of 'packets' or 'fluid'"),
     ("engine: {typ: packets}", "engine.typ: there is no such key. Known here: type"),
     ("engine: 3", "engine: 3 is not a mapping")],
)  # fmt: skip
def test_what_is_no_engine_is_refused_with_what_there_is(small, section, message):
    with pytest.raises(SpecError) as caught:
        small.plan(f"{small.text}{section}\n")
    assert message in str(caught.value)


def test_a_stored_spec_that_says_a_default_is_not_what_was_written(small):
    # Two texts of one run would have two names.
    spec = {**small.plan()[0].spec.plain(), "engine": {"type": "packets"}}

    with pytest.raises(SpecError, match="engine: .* is not what a resolved spec holds here"):
        checked(spec, "spec.json")


def test_another_engine_is_another_run_and_loads_its_library(small):
    fluid = small.plan(sets=[("engine", "fluid")])[0]

    assert fluid.spec.plain()["engine"] == {"type": "fluid"}
    assert fluid.id not in small.ids()
    assert checked(fluid.spec.plain(), "spec.json") == fluid.spec
    types = typeids.load(TYPEIDS)
    assert set(types.libraries(fluid.spec)) - set(types.libraries(small.plan()[0].spec)) == {
        "libfluid.so"
    }
    script = render_script(fluid.spec)
    line = "    fabric.engine = {'type': 'fluid'}\n"
    assert script.count(line) == 1
    assert script.replace(line, "") == render_script(small.plan()[0].spec)


@pytest.mark.parametrize("trace", ["arrivals: true", "pauses: true", "sample: 1 us", "pcap: [0]"])
def test_records_of_packets_are_refused_without_packets(small, trace):
    text = f"{small.text}engine: fluid\ntrace: {{{trace}}}\n"

    with pytest.raises(SpecError, match="trace.[a-z]+: a run of engine fluid has no packets to"):
        small.plan(text)


def test_a_tolerance_is_part_of_the_run_and_of_its_script(small):
    run = small.plan(sets=[("engine.skip", "0.5%")])[0]

    assert run.spec.plain()["engine"] == {"skip_ppm": 5000}
    assert run.id not in small.ids()
    assert checked(run.spec.plain(), "spec.json") == run.spec
    assert "    fabric.engine = {'skip_ppm': 5000}\n" in render_script(run.spec)


@pytest.mark.parametrize("tolerance", ["0%", "10.1%", "100%"])
def test_a_tolerance_that_is_none_is_refused(small, tolerance):
    with pytest.raises(SpecError, match=f"engine.skip: '{tolerance}' is no tolerance of compl"):
        small.plan(sets=[("engine.skip", tolerance)])


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("trace: {arrivals: true}", "trace.arrivals: it records all that happens, and engine.skip"),
        ("trace: {pauses: true}", "trace.pauses: it records all that happens"),
        ("trace: {pcap: [0]}", "trace.pcap: it records all that happens"),
    ],
)
def test_records_of_all_that_happens_are_refused_where_some_is_skipped(small, section, message):
    with pytest.raises(SpecError, match=message):
        small.plan(f"{small.text}engine: {{skip: 1%}}\n{section}\n")


@pytest.mark.parametrize("key", ["loss", "bit_error_ratio"])
def test_rare_losses_are_refused_where_steady_states_are_skipped(small, key):
    with pytest.raises(SpecError, match=f"link.{key}: what is lost now and then is not seen in a"):
        small.plan(sets=[("engine.skip", "1%"), (f"link.{key}", "1e-6")])


def test_only_packets_can_be_skipped(small):
    with pytest.raises(SpecError, match="engine.skip: a run of engine fluid has no packets to"):
        small.plan(sets=[("engine", "fluid"), ("engine.skip", "1%")])


@pytest.mark.ns3
def test_a_control_that_is_never_at_rest_is_refused_before_the_run(small):
    sets = [("engine.skip", "1%"), ("transport.attributes", {"CongestionControl": "ns3::Swift"})]
    with (
        check.refusals() as refusals,
        pytest.raises(
            SpecError,
            match="transport.attributes.CongestionControl: ns3::RoceTransport"
            ": CongestionControl is never at rest",
        ),  # fmt: skip
    ):
        small.plan(sets=sets, refusals=refusals)
