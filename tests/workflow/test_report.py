# SPDX-License-Identifier: GPL-2.0-only
"""The report is one file that needs no network and holds every figure with its caption."""

import base64
import csv
import json
import re
from html.parser import HTMLParser

import pytest

from pyorch.report.benchmarks import COLUMNS
from pyorch.workflow import runs

pytestmark = [pytest.mark.ns3, pytest.mark.slow]


class Loaded(HTMLParser):
    """Collect what a browser loads for a page, but for what its programs may ask for."""

    def __init__(self, page):
        super().__init__()
        self.sources = []
        self.feed(page)

    def handle_data(self, text):
        if self.lasttag == "style":
            self.sources += re.findall(r"(?:url\(|@import)\s*['\"]?([^)'\";]*)", text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        keys = {"link": "href", "object": "data"}
        if source := given.get(keys.get(tag, "src")):
            self.sources.append(source)


def results(folder):
    """Return the results of the report by name, as its own program sees them."""
    page = (folder / "report.html").read_text()
    found, _ = json.JSONDecoder().raw_decode(page, page.index("var results = {") + 14)
    return {entry["name"]: entry for entry in found.values()}


def test_nothing_is_loaded_from_elsewhere(finished):
    page = (finished.folder / "report.html").read_text()
    reproduction = (finished.folder / "figures/laptop/reproduction.html").read_text()

    assert Loaded("<style>@import 'https://x/y.css';</style>").sources == ["https://x/y.css"]
    assert [one for one in Loaded(page).sources if not one.startswith("data:")] == []
    # The figure of the test is not about the documents, so it is in the report, not on the page.
    assert Loaded(reproduction).sources == []
    assert "tiny" not in reproduction


def test_every_figure_is_there_with_its_caption(finished):
    entry = results(finished.folder)["tiny.svg"]

    data = entry["data_uri"].partition(";base64,")[2]
    assert base64.b64decode(data) == (finished.folder / "figures/laptop/tiny.svg").read_bytes()
    # What is special in reStructuredText stands there as it was written.
    assert "A figure for tests: 3 * x_ and |y| &lt; `z`." in html_text(entry["caption"])


def html_text(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_the_tables_are_there(finished):
    names = results(finished.folder)

    assert {"reproduction.html", "benchmarks_laptop.csv", "benchmarks_laptop.html"} <= set(names)
    # Chromium shows no page within a page above 2 MB.
    assert all(len(entry["data_uri"]) < 2e6 for entry in names.values())
    assert all(entry["caption"] for entry in names.values())


def test_the_cost_of_every_run_is_what_its_provenance_says(finished):
    with (finished.folder / "results" / "benchmarks_laptop.csv").open() as lines:
        rows = list(csv.DictReader(lines))

    workflow = runs.read("laptop", finished.folder / "scenarios", finished.folder / "plots")
    assert {row["run"] for row in rows} == set(workflow.runs["tiny"])
    assert list(rows[0]) == list(COLUMNS)
    for row in rows:
        folder = finished.folder / "results" / "tiny" / row["run"]
        facts = json.loads((folder / "provenance.json").read_text())
        for name in ("seed", "events", "data_packets", "simulated_ps", "peak_memory_bytes"):
            assert int(row[name]) == facts[name]
        # 4 messages of 100 kB in packets of 4096 B: 25 each.
        assert int(row["data_packets"]) == 100
        spent = facts["cpu_user_s"] + facts["cpu_system_s"]
        assert float(row["cpu_s"]) == pytest.approx(spent, rel=1e-9)
        if facts["run_cpu_s"]:
            each_s = facts["events"] / facts["run_cpu_s"]
            assert float(row["events_per_cpu_s"]) == pytest.approx(each_s, rel=1e-9)
        else:  # less than the system's clock of CPU time shows
            assert row["events_per_cpu_s"] == ""
