# SPDX-License-Identifier: GPL-2.0-only
"""The JSON Schema of scenarios takes what pyorch takes, and refuses what a schema can refuse."""

import copy
import json
import math
import re
import sys
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from pyorch import spec, trust
from pyorch.errors import PyorchError
from pyorch.spec import json_schema, typeids, yaml_lines
from pyorch.spec.scenario import scenario_of

ROOT = Path(__file__).parents[2]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
sys.path.insert(0, str(ROOT / "tests" / "battery"))
import malformed_scenarios as battery  # noqa: E402

SCENARIOS = [
    path for pattern in ("scenarios", "docs/gallery/scenarios", "docs/papers/scenarios",
                         "pyorch/study/scenarios")
    for path in sorted((ROOT / pattern).glob("*.yaml"))
]  # fmt: skip
BASE, *CHANGES = re.findall(
    r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "howto.md").read_text(), re.M | re.S
)
#: What pyorch refuses and no schema can: how large or small a quantity is in its smallest unit, a
#: number that is none, how many there are elsewhere, how many runs come of it, and names of others.
BEYOND = re.compile(
    r"quantity (11|18|19)$|share 6$|\.(receiver|hosts|stride) whole 8$|pcap items 8$|sweep \{'seed'"
    r": \[1, 2, 3|cases exclude \['|scales \{'laptop': \{'(variants|cases)': \['b'\]"
)
#: Other ways to write a value of a kind.
SPELLINGS = {
    "quantity": ["1e0 {unit}", "+2.0{unit}", " .5e1  {unit} ", "2. {unit}"],
    "share": ["5e-1", 0, 1, "0.25"],
}


@pytest.fixture(scope="module")
def made():
    """The schema, with the types of the tests."""
    return json_schema.scenario_schema(typeids.load(TYPEIDS))


@pytest.fixture(scope="module")
def valid(made):
    """Whether a scenario is one by the schema; YAML's bytes and dates are nothing that JSON has."""
    schema = jsonschema_rs.validator_for(made)

    def is_valid(scenario):
        try:
            return schema.is_valid(scenario)
        except ValueError:
            return False

    return is_valid


def plans(scenario):
    """Return whether pyorch has runs of a scenario."""
    try:
        return bool(spec.plan(scenario_of(scenario), typeids_file=TYPEIDS))
    except PyorchError:
        return False


def test_it_is_a_schema_and_each_reference_leads_somewhere(made):
    jsonschema_rs.meta.validate(made)
    for ref in set(re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(made))):
        inner = made
        for word in ref.split("/"):
            inner = inner[int(word) if isinstance(inner, list) else word]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_that_is_shipped_is_one(valid, path):
    assert valid(yaml_lines.parse(path.read_text(), path.name)[0])


@pytest.mark.parametrize("change", CHANGES, ids=lambda text: text.split("\n")[0][:40])
def test_every_answer_is_one(valid, change):
    assert valid(yaml.safe_load(BASE) | yaml.safe_load(change))


def test_the_scenario_of_these_tests_is_one(valid, small):
    assert valid(yaml.safe_load(small.text))


def test_what_the_battery_has_of_wrong_scenarios_is_refused(valid):
    read, passed = 0, []
    for case in battery.cases():
        text = case.files["x.yaml"]
        try:
            values = yaml_lines.parse(text if isinstance(text, str) else text.decode(), "x")[0]
        except (PyorchError, UnicodeDecodeError):
            continue  # no YAML: an editor says so without a schema
        read += 1
        passed += [case.name] * valid(values)
    assert read > 1400
    assert [name for name in passed if not BEYOND.search(name)] == []
    assert len(passed) < 0.06 * read


def sections(value, path=()):
    """Yield the path of each mapping of a scenario."""
    if isinstance(value, dict):
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if isinstance(part, dict | list):
            yield from sections(part, (*path, key))


def at(scenario, path):
    """Return a copy of a scenario, and what it has at a path."""
    changed = inner = copy.deepcopy(scenario)
    for key in path:
        inner = inner[key]
    return changed, inner


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_wrong_key_is_refused_in_every_section(valid, path):
    scenario = yaml_lines.parse(path.read_text(), path.name)[0]
    # Variants and cases are alike: of each section of theirs, one.
    many = {"variants", "cases", "scales"}
    its = {w[:1] + w[2:] if many & {*w[:1]} else w: w for w in sections(scenario)}
    for where in its.values():
        changed, inner = at(scenario, where)
        inner["wrong key" if where[:1] in (("variants",), ("cases",)) else "wrong_key"] = 1
        assert not valid(changed), where


def test_every_section_of_the_schema_is_closed(made):
    # One that depends on its type is closed by what its type has.
    for name, its in made["$defs"].items():
        if "properties" in its and not name.startswith("needs."):
            assert its.get("additionalProperties") is False or "allOf" in its, name


@pytest.mark.parametrize("name", battery.scenarios())
def test_a_key_may_be_missing_where_pyorch_does_without_it(valid, name):
    scenario = battery.scenarios()[name]
    for where in sections(scenario):
        for key in at(scenario, where)[1]:
            changed, inner = at(scenario, where)
            del inner[key]
            if plans(changed):
                assert valid(changed), (where, key)


@pytest.mark.parametrize("name", battery.scenarios())
def test_a_key_is_needed_where_pyorch_needs_it(valid, name):
    # Unless something depends on it: failures have to hit something, a sampled node has a period.
    scenario = battery.scenarios()[name]
    depends = {"planes", "sample", "sizes", "tiers"}
    for where in sections(scenario):
        for key in at(scenario, where)[1].keys() - depends:
            changed, inner = at(scenario, where)
            del inner[key]
            assert valid(changed) == plans(changed), (where, key)


@pytest.mark.parametrize("name", battery.scenarios())
def test_a_value_may_be_written_in_every_way_that_pyorch_reads(valid, name):
    scenario = battery.scenarios()[name]
    for path, value in battery.leaves(scenario):
        for text in SPELLINGS.get(battery.kind_of(path, value), ()):
            if isinstance(text, str):
                text = text.replace("{unit}", str(value).partition(" ")[2])
            changed = battery.with_value(scenario, path, text)
            if plans(changed):
                assert valid(changed), (path, text)


def test_a_quantity_may_be_nothing_where_pyorch_lets_it(valid):
    refused = set()
    for path, value in battery.leaves(battery.BASE):
        if battery.kind_of(path, value) == "quantity":
            zero = f"0.0 {value.partition(' ')[2]}"
            changed = battery.with_value(battery.BASE, path, zero)
            assert valid(changed) or not plans(changed), path
            refused |= set() if valid(changed) else {path[-1]}
    assert refused >= {"rate", "delay", "message", "stop", "Rto"}


@pytest.mark.parametrize("name", battery.scenarios())
def test_a_value_may_come_from_a_sweep_a_variant_a_case_or_a_scale(valid, name):
    scenario = battery.scenarios()[name]
    values = {path: value for path, value in battery.leaves(scenario) if path != ("name",)}
    changes = {".".join(map(str, path)): value for path, value in values.items()}
    swept = {key: [value] for key, value in changes.items()}
    bare = {"name": "small"}
    for planned in ({"sweep": swept}, {"variants": {"a": changes}}, {"cases": {"a": changes}},
                    {"scales": {"laptop": changes}},
                    {"scales": {"laptop": {f"sweep.{key}": its for key, its in swept.items()}}},
    ):  # fmt: skip
        assert valid(bare | planned), planned


def test_a_wrong_key_or_value_is_refused_in_a_sweep_a_variant_a_case_and_a_scale(valid):
    for key, value in (("link.rat", "1 Gb/s"), ("link.rate", "1 GB"), ("nothing", 1),
                       ("workload.0.massage", "1 MB"), ("transport.attributes.Nothing", 1),
                       ("topology.leaves", 0), ("transport.type", "ns3::Nothing")):  # fmt: skip
        change = {key: value}
        for planned in ({"sweep": {key: [value]}}, {"variants": {"a": change}},
                        {"cases": {"a": change}}, {"scales": {"laptop": change}},
                        {"scales": {"laptop": {f"sweep.{key}": [value]}}}):  # fmt: skip
            assert not valid(battery.BASE | planned), planned


def test_defaults_are_as_a_scenario_writes_them_and_keys_have_their_help(made):
    known = made["$defs"]
    assert known["Link"]["properties"]["jitter"]["default"] == "0 ps"
    assert "random time" in known["Link"]["properties"]["jitter"]["description"]
    roce = known["ns3::RoceTransport"]["properties"]
    types = {one["name"]: one for one in json.loads(TYPEIDS.read_text())}
    for attribute in types["ns3::RoceTransport"]["attributes"]:
        assert roce[attribute["name"]]["description"] == attribute["help"]
    # What the topology takes of `link` has no default of its own.
    assert "default" not in known["topology.leaf_spine"]["properties"]["uplink_rate"]


def test_ranges_are_those_of_the_types(made):
    for entry in json.loads(TYPEIDS.read_text()):
        if entry["name"] not in made["$defs"]:
            continue  # a section, or a type that is only text in an attribute
        for attribute in entry["attributes"]:
            its = made["$defs"][entry["name"]]["properties"][attribute["name"]]
            if attribute["type"] == "ns3::DoubleValue":
                low, high = typeids.range_of(attribute)
                assert its.get("minimum", -math.inf) == low
                assert its.get("maximum", math.inf) == high


def test_a_type_in_the_text_of_an_attribute_is_one_that_there_is(valid):
    for text, is_one in (
        ("ns3::Dctcp", True), ("ns3::Dctcp[Gain=0.5]", True), ("", True),
        ("ns3::Hpcc[Eta=0.9|MaxStage=3]", True), ("ns3::Nothing", False),
        ("ns3::DropTail", False), ("ns3::Dctcp[Gian=1]", False), ("ns3::Dctcp[Gain=1", False),
    ):  # fmt: skip
        attributes = {"CongestionControl": text}
        transport = {"type": "ns3::RoceTransport", "attributes": attributes}
        assert valid(battery.BASE | {"transport": transport}) == is_one, text


@pytest.mark.parametrize("is_trusted", [True, False])
def test_plug_ins_of_a_study_are_in_it_and_are_executed_only_if_it_is_trusted(
    tmp_path, monkeypatch, is_trusted
):
    (tmp_path / "ns3-modules").mkdir()
    (tmp_path / "topology").mkdir()
    text = (ROOT / "pyorch" / "topology" / "star.py").read_text()
    (tmp_path / "topology" / "mine.py").write_text(text.replace("hosts: Hosts", "mine: Hosts"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trust, "trusts", lambda study: is_trusted)

    made = json_schema.scenario_schema(typeids.load(TYPEIDS))

    sys.modules.pop("pyorch.topology.mine", None)
    known = made["$defs"]["topology.mine"]
    assert "mine" in made["$defs"]["topology"]["properties"]["type"]["enum"]
    assert ("mine" in known["properties"]) == is_trusted
    assert (known.get("additionalProperties") is False) == is_trusted
    is_valid = jsonschema_rs.validator_for(made).is_valid
    assert is_valid(battery.BASE | {"topology": {"type": "mine", "mine": 4}})
    assert is_valid(battery.BASE | {"topology": {"type": "mine", "hosts": 4}}) != is_trusted
