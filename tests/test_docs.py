# SPDX-License-Identifier: GPL-2.0-only
"""What the documentation says exists, exists; every column of every table is defined."""

import re
from pathlib import Path

import pytest

from pyorch import plugins, spec
from pyorch.spec import planning, schema
from pyorch.spec.scenario import parse_scenario
from pyorch.traces.columns import CONTRACTS

ROOT = Path(__file__).parents[1]
DEFINITIONS = (ROOT / "docs" / "definitions.md").read_text()


@pytest.mark.parametrize("table", CONTRACTS)
def test_every_column_is_defined_in_the_words_of_its_contract(table):
    section = DEFINITIONS.partition(f"## `{table}.parquet`")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?)(?:; empty: never)? \|$", section, re.MULTILINE))

    assert rows == {name: rule.meaning for name, rule in CONTRACTS[table].items()}


def test_every_metric_is_defined():
    for name in plugins.names("pyorch.metrics"):
        assert f"\n| {name} | `" in DEFINITIONS, name


def test_every_key_of_a_scenario_is_documented():
    text = (ROOT / "docs" / "scenarios.md").read_text()
    keys = [field.alias or name for name, field in schema.Scenario.model_fields.items()]

    assert [k for k in (*keys, *planning.PLANNING_KEYS) if f"| `{k}` |" not in text] == []


def test_the_scenario_of_the_readme_resolves():
    text = (ROOT / "README.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    runs = spec.plan(
        parse_scenario(text, "README.md"), typeids_file=ROOT / "tests" / "data" / "typeids.json"
    )
    assert len(runs) == 6


def test_the_example_of_task_graphs_runs():
    page = (ROOT / "docs" / "api.md").read_text().partition("## Task graphs of other tools")[2]
    made: dict = {}
    exec(page.partition("```python\n")[2].partition("```")[0], made)  # noqa: S102
    assert made["graph"].devices == 2 and made["graph"].size_bytes.max() == 10


@pytest.mark.parametrize("page", [*(ROOT / "docs").glob("**/*.md"), ROOT / "README.md"], ids=str)
def test_links_between_pages_lead_somewhere(page):
    made = {f"{path.parent.name}.md" for path in (ROOT / "ns3-modules").glob("*/README.md")}
    made |= {"index.md", "attributes.md"}  # docs/modules.py writes them for the site
    for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
        path = page.parent / target
        is_made = path.parent == ROOT / "docs" / "modules" and path.name in made
        assert is_made or path.exists(), target


def test_classes_and_members_that_the_page_of_the_engine_names_are_in_the_code():
    page = (ROOT / "docs" / "engine.md").read_text()
    bodies = {}
    for path in (ROOT / "ns3-modules").glob("*/[mh]*/*.h"):
        defined = r"^(?:class|struct|enum class)(?: alignas\(64\))? (\w+)[^;{]*\n{\n(.*?)^};"
        bodies |= dict(re.findall(defined, path.read_text(), re.M | re.S))
    members = re.findall(r"\b([A-Z]\w+)::(\w+)", page)
    classes = re.findall(r"`([A-Z][a-z]\w+)[`:]", page)

    assert len(members) > 30 and len(set(classes)) > 30
    assert set(classes) - bodies.keys() == set()
    assert [(owner, name) for owner, name in members
            if not re.search(rf"\b{name}\b", bodies.get(owner, ""))] == []  # fmt: skip


def prose(page):
    """Yield the numbered lines of a page that can be broken: no tables, headings or code."""
    is_code = False
    for number, line in enumerate(page.read_text().split("\n"), 1):
        is_code ^= line.strip().startswith("```")
        if not is_code and not re.match(r"\s*(#|\||```)|    ", line):
            yield number, line


def test_no_line_of_prose_or_cpp_has_more_than_100_columns():
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("ns3-modules/*/*.md")]
    sources = [*ROOT.glob("ns3-modules/**/*.h"), *ROOT.glob("ns3-modules/**/*.cc")]
    lines = {page: prose(page) for page in pages}
    lines |= {source: enumerate(source.read_text().split("\n"), 1) for source in sources}

    assert sources
    assert [
        f"{path.relative_to(ROOT)}:{number}"
        for path, numbered in lines.items()
        for number, line in numbered
        if len(line) > 100
    ] == []


@pytest.mark.parametrize("page", [*(ROOT / "docs").glob("**/*.md")], ids=str)
def test_no_line_begins_with_a_percent_sign_which_the_site_takes_for_a_comment(page):
    assert [number for number, line in prose(page) if re.match(r"\s*%", line)] == []


@pytest.mark.parametrize("readme", [*(ROOT / "ns3-modules").glob("*/README.md")], ids=str)
def test_a_module_that_says_how_many_lines_it_has_is_about_right(readme):
    files = [*readme.parent.glob("model/*.h"), *readme.parent.glob("model/*.cc")]
    lines = sum(len(path.read_text().splitlines()) for path in files)
    for said in re.findall(r"(\d+)\s+lines\s+of\s+C\+\+", readme.read_text()):
        assert int(said) == pytest.approx(lines, rel=0.03), lines
