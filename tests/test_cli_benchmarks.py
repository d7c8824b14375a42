# SPDX-License-Identifier: GPL-2.0-only
"""One row per finished run, from what the run has said about itself."""

import json
import re
from pathlib import Path

import pytest

from pyorch import spec
from pyorch.errors import TraceError
from pyorch.report import benchmarks

SCENARIO = Path(__file__).parents[1] / "scenarios" / "figure_6.yaml"
FACTS = {
    "seed": 1,
    "wall_s": 9.0, "cpu_user_s": 5.0, "cpu_system_s": 1.0, "run_cpu_s": 4.0, "events": 80,
    "peak_memory_bytes": 7, "data_packets": 6, "simulated_ps": 3, "git_commit": "0123abc-dirty",
    "versions": {"pyorch": "1", "ns3": "3.44"},
    "libraries_sha256": {"libfabric.so": "a" * 64, "libroce.so": "b" * 64},
}  # fmt: skip


@pytest.fixture
def one_finished(tmp_path):
    """Return a folder of results where only one run of figure 6 has ended, and that run."""
    run = next(r for r in planned() if r.point["workload.active"] == 0.5)
    (tmp_path / run.folder).mkdir(parents=True)
    (tmp_path / run.folder / "provenance.json").write_text(json.dumps(FACTS))
    return tmp_path, run


def planned():
    return spec.plan(spec.read_scenario(SCENARIO), "smoke")


def collect(folder):
    return benchmarks.collect(planned(), folder)


@pytest.mark.ns3
def test_a_row_says_what_ran_what_it_cost_and_what_made_it(one_finished):
    folder, run = one_finished
    (row,) = collect(folder).to_dict("records")

    assert (row["run"], row["seed"], row["point"]) == (run.id, 1, "workload.active=0.5")
    assert (row["cpu_s"], row["events_per_cpu_s"]) == (6, 20)
    assert row["git_commit"] == "0123abc-dirty"
    assert row["versions"] == "pyorch=1 ns3=3.44"
    assert row["libraries_sha256"] == f"libfabric.so={'a' * 16} libroce.so={'b' * 16}"


@pytest.mark.ns3
def test_a_run_shorter_than_the_clock_shows_has_no_speed(one_finished):
    folder, _ = one_finished
    next(folder.glob("**/provenance.json")).write_text(json.dumps(FACTS | {"run_cpu_s": 0.0}))
    csv, page = benchmarks.write(collect(folder), folder / "b.csv")

    assert ",6,,3," in csv.read_text()  # data packets, no speed, simulated time
    assert "nan" not in page.read_text() and "median" not in page.read_text()


@pytest.mark.ns3
def test_the_page_shows_every_value_with_its_unit(one_finished):
    folder, _ = one_finished
    facts = FACTS | {"simulated_ps": 7_424_071_640, "peak_memory_bytes": 273_055_744}
    next(folder.glob("**/provenance.json")).write_text(json.dumps(facts))
    _, page = benchmarks.write(collect(folder), folder / "b.csv")

    cells = re.findall(r"<td>(.*?)</td>", page.read_text())
    assert cells[4:] == ["9 s", "6 s", "4 s", "273.1 MB", "80", "6", "20", "7.424 ms"]


def test_the_columns_are_defined_in_their_order():
    text = (SCENARIO.parents[1] / "docs" / "definitions.md").read_text()
    section = text.partition("## Cost of the runs ")[2].partition("\n## ")[0]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)))

    of_every_small_table = {"scenario", "scale", "case", "variant", "label", "seed", "run"}
    assert named == [name for name in benchmarks.COLUMNS if name not in of_every_small_table]


@pytest.mark.ns3
def test_a_damaged_provenance_is_named(one_finished):
    folder, run = one_finished
    path = folder / run.folder / "provenance.json"
    path.write_text(json.dumps(FACTS | {"libraries_sha256": None}))

    message = f"{path}: is damaged: libraries_sha256 ('None')"
    with pytest.raises(TraceError, match=re.escape(message)):
        collect(folder)
