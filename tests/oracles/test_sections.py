# SPDX-License-Identifier: GPL-2.0-only
"""Each option that the modules declare can be written in a scenario and arrives in the engine."""

import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import render_script, write_run
from pyorch.simulate.loader import facade_of
from pyorch.spec import typeids
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.schema import TYPE_OF, Host, SwitchClass
from pyorch.spec.sections import dimension_of, key_of, written

SCENARIO = """
name: options
topology: {type: star, hosts: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 64 MB, classes: [{tiers: [1]}]}
workload: {type: single, message: 1 kB}
transport: {type: ns3::RoceTransport}
stop: 1 us
"""
#: A full frame of RoCEv2 [byte]: buffers hold it, and a frame cuts through once so much is in.
FRAME_BYTES = 4096 + 62 + 16
PATHS = {name: section.__name__.lower() for section, name in TYPE_OF.items()}
PATHS[TYPE_OF[SwitchClass]] = "switch.classes.0"
PATHS[TYPE_OF[Host]] = "transport.0.host"
#: Options that are refused without another one.
BESIDE = {
    "BusCreditBytes": ("bus_round_trip", "1 us"),
    "BusRoundTripPs": ("bus_credit", "64 kB"),
    "RequestSizeBytes": ("request_time", "1 us"),
}
OPTIONS = [
    (entry["name"], attribute) for entry in typeids.entries() if entry["contract"] == "section"
    for attribute in entry["attributes"]
]  # fmt: skip


def names(value):
    return value["name"] if isinstance(value, dict) else value


def planned(type_name, attribute, value):
    sets = [(written(attribute["name"]), value)]
    if attribute["name"] in BESIDE and value != "none":
        sets.append(BESIDE[attribute["name"]])
    sets = [(f"{PATHS[type_name]}.{key}", value) for key, value in sets]
    return spec.plan(parse_scenario(SCENARIO, "options.yaml"), sets=sets)[0].spec


def at(resolved, path):
    for part in path.split("."):
        resolved = resolved[int(part)] if part.isdecimal() else getattr(resolved, part)
    return resolved


class Recorder:
    """A facade that also notes which options it is given, by type, class and attribute."""

    def __init__(self, facade):
        self._facade = facade
        self._types, self._given, self.options = {}, {}, {}

    def __getattr__(self, name):
        return getattr(self._facade, name)

    def Factory(self, type_name):  # noqa: N802
        factory = self._facade.Factory(type_name)
        self._types[factory], self._given[factory] = type_name, {}
        return factory

    def Attribute(self, factory, name, value):  # noqa: N802
        self._given[factory][name] = value
        self._facade.Attribute(factory, name, value)

    def Section(self, factory, index):  # noqa: N802
        self._facade.Section(factory, index)
        for name, value in self._given[factory].items():
            self.options[self._types[factory], index, name] = value


def given_to_engine(resolved, folder):
    """Return the options that the script of a run gives to the engine, which takes them all."""
    write_run(resolved, folder)
    scope = {"__file__": str(folder / "scenario.py"), "__name__": "scenario"}
    exec(compile(render_script(resolved), scope["__file__"], "exec"), scope)
    fabric = scope["build"]()
    recorder = Recorder(facade_of(fabric._type_names()).Facade())
    fabric._fill(recorder)
    recorder.Build()
    options = recorder.options
    recorder.__destruct__()
    return options


def values(attribute):
    """Yield what is written, what the spec has, and what ns-3 reads."""
    if typeids.kind_of(attribute) == "Boolean":
        return [(True, True, "true"), (False, False, "false")]
    low, high = typeids.range_of(attribute)
    number = max(low, min(high, FRAME_BYTES))
    dimension = dimension_of(key_of(attribute["name"]))
    found = [(f"{number} {dimension.unit}" if dimension else number, number, str(number))]
    return found + [("none", None, "none")] * typeids.may_be_none(attribute)


@pytest.mark.ns3
@pytest.mark.parametrize(("type_name", "attribute"), OPTIONS, ids=names)
def test_an_option_arrives_with_its_value(type_name, attribute, tmp_path):
    index = 1 if type_name == TYPE_OF[SwitchClass] else 0
    for i, (text, expected, read) in enumerate(values(attribute)):
        resolved = planned(type_name, attribute, text)
        given = given_to_engine(resolved, tmp_path / str(i))
        section = at(resolved, PATHS[type_name])
        if section is None:  # hosts whose options are all at their defaults are left out
            assert type_name == TYPE_OF[Host] and read == attribute["default"]
            continue

        assert getattr(section, key_of(attribute["name"])) == expected
        assert given[type_name, index, attribute["name"]] == read


@pytest.mark.parametrize(("type_name", "attribute"), OPTIONS, ids=names)
def test_an_option_refuses_what_it_cannot_be(type_name, attribute):
    dimension = dimension_of(key_of(attribute["name"]))
    with pytest.raises(SpecError) as caught:
        planned(type_name, attribute, "7 parsec")
    said = str(caught.value)

    path = PATHS[type_name].replace("transport.0.", "transport.")  # messages name one without index
    assert f"{path}.{written(attribute['name'])}: " in said and "7 parsec" in said
    assert dimension is None or f"Write a number and one of {', '.join(dimension.factors)}" in said


def test_there_are_options_of_each_section():
    assert {name for name, _ in OPTIONS} == set(TYPE_OF.values())
    keys = {written(attribute["name"]) for _, attribute in OPTIONS}
    assert {"buffer", "cut_through", "framing", "sample"} <= keys
