# SPDX-License-Identifier: GPL-2.0-only
"""Each module has its page in one form; its attributes and its example are those of the build."""

import json
import re
from pathlib import Path

import pytest

from pyorch import spec
from pyorch.cli import attributes
from pyorch.errors import PluginError
from pyorch.spec.scenario import parse_scenario

ROOT = Path(__file__).parents[2]
MODULES = sorted(path.parent for path in (ROOT / "ns3-modules").glob("*/CMakeLists.txt"))
EXAMPLES = sorted((ROOT / "docs" / "extending" / "ns3-modules").glob("*/README.md"))
PAGES = [*(module / "README.md" for module in MODULES), *EXAMPLES]
TYPEIDS = ROOT / "tests" / "data" / "typeids.json"
HEADINGS = [
    "Example",
    "Model",
    "Source",
    "Deviations",
    "Attributes",
    "Counters",
    "Results",
    "Tests",
]
#: Modules whose types a scenario can name.
CHOSEN = {
    entry["library"].removeprefix("lib").removesuffix(".so")
    for entry in attributes.registered(TYPEIDS)
    if entry["contract"] != "section"
}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_page_has_its_headings_in_one_order_with_something_below_each(module):
    text = (module / "README.md").read_text()
    title, *parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    is_internal = module.name not in {*CHOSEN, "fluid"}

    assert parts[::2] == [heading for heading in HEADINGS if heading in parts[::2]]
    assert {"Model", "Source", "Attributes", "Tests"} <= set(parts[::2])
    assert all(len(text.split()) > 3 for text in parts[1::2])
    assert is_internal == ("internal to the engine" in " ".join(title.split()))
    assert is_internal or set(HEADINGS) - {*parts[::2]} <= {"Results"}


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_has_the_five_headings_of_a_new_module(page):
    parts = re.split(r"^## (.*)$", page.read_text(), flags=re.MULTILINE)[1:]

    assert parts[::2] == ["Models", "Does not model", "Source", "Attributes", "Oracle"]
    assert all(len(text.split()) > 3 for text in parts[1::2])


def yaml_of(page):
    """Return the blocks of YAML of a page that are whole scenarios."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if re.match("name: ", block)]


@pytest.mark.parametrize("name", [*sorted(CHOSEN), "fluid"])
def test_the_scenario_of_a_module_resolves_and_uses_it(name):
    page = ROOT / "ns3-modules" / name / "README.md"
    own = {entry["name"] for entry in attributes.registered(TYPEIDS)
           if entry["library"] == f"lib{name}.so"} or {"engine: fluid"}  # fmt: skip
    scenarios = yaml_of(page)

    assert scenarios
    for text in scenarios:
        assert 5 <= len(text.splitlines()) <= 15
        assert any(name in text for name in own)
        assert spec.plan(parse_scenario(text, str(page)), typeids_file=TYPEIDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.parent.name)
def test_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.ns3
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_the_tables_are_what_the_build_registers(module):
    text = (module / "README.md").read_text()
    entries = attributes.registered()
    tables = attributes.tables(entries, module.name)

    if not tables:  # a module that registers no type a scenario could name
        assert re.search(r"^## Attributes\n\nNone", text, re.MULTILINE)
        return
    assert attributes.with_tables(text, tables, module.name) == text, (
        f"{module.name}/README.md is not up to date. Run: pyorch attributes"
    )


@pytest.mark.ns3
def test_the_page_of_scenarios_lists_the_options_that_the_build_registers():
    text = (ROOT / "docs" / "scenarios.md").read_text()
    table = attributes.options(attributes.registered())

    assert table.count("\n| `switch.") == 4
    assert attributes.with_tables(text, table, "docs/scenarios.md") == text, (
        "docs/scenarios.md is not up to date. Run: pyorch attributes"
    )


def attribute(kind, text, default="1"):
    return {"name": "X", "help": "a | b", "type": f"ns3::{kind}", "range": text, "default": default}


@pytest.mark.parametrize(
    ("given", "row"),
    [
        (attribute("UintegerValue", "uint32_t 1:4294967295"), "| `X` | `1` | from 1 | a \\| b |"),
        (attribute("DoubleValue", "double 0:1"), "| `X` | `1.0` | 0 to 1 | a \\| b |"),
        (attribute("BooleanValue", "bool", "true"), "| `X` | `true` | true, false | a \\| b |"),
        (attribute("EnumValue<A>", "B|C", "B"), "| `X` | `B` | B, C | a \\| b |"),
        (attribute("StringValue", "std::string", ""), "| `X` | | | a \\| b |"),
        (attribute("TimeValue", "Time +0ns:+9e18ns", "+4ms"), "| `X` | `4ms` | a time | a \\| b |"),
        (
            attribute("TimeValue", "Time +1ns:+9e18ns", "+4ms"),
            "| `X` | `4ms` | a time from 1ns | a \\| b |",
        ),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_a_row_has_default_and_range_in_words(given, row):
    entry = {"name": "ns3::T", "contract": "queue", "library": "libm.so", "attributes": [given]}

    assert attributes.tables([entry], "m").splitlines()[-1] == row


def test_a_study_writes_the_tables_of_its_own_modules(tmp_path, monkeypatch):
    module = tmp_path / "ns3-modules" / "mine"
    module.mkdir(parents=True)
    (module / "CMakeLists.txt").touch()
    page = module / "README.md"
    page.write_text(f"# mine\n{attributes.BEGIN}\n{attributes.END}\n")
    own = {"name": "ns3::Mine", "contract": "queue", "library": "libmine.so",
           "attributes": [attribute("DoubleValue", "double 0:1")]}  # fmt: skip
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "typeids.json").write_text(json.dumps([own]))
    monkeypatch.chdir(tmp_path)

    assert attributes.write_readmes() == [page]
    assert "| `X` | `1.0` | 0 to 1 |" in page.read_text()
    assert attributes.write_readmes() == []


def test_a_page_without_a_place_for_its_table_is_an_error():
    with pytest.raises(PluginError, match="x/README.md: no lines '<!-- generated: .*Put them"):
        attributes.with_tables("# x\n", "", "x/README.md")
