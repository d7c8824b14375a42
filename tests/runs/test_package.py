# SPDX-License-Identifier: GPL-2.0-only
"""Tables are described for others: each column with type, unit and meaning; each run as made."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pyorch import formats, traces
from pyorch.errors import OutputError, TraceError
from pyorch.runs import crate, datapackage
from pyorch.traces import CONTRACTS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
LICENCE = "GPL-2.0-only"
CSV = """\
scenario,scale,variant,label,seed,run,workload.senders,n_flows,slowdown_mean,slowest_fct_ps,missing
incast,smoke,,,1,s1-0123456789,4,8,1.5,100,
incast,smoke,,,2,s2-0123456789,4,8,,1e9,
"""


@pytest.fixture
def study(tmp_path):
    """A study with a table of a metric, a run, and one that was killed."""
    folder = tmp_path / "My study"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios" / "incast.yaml").write_text("name: incast\n")
    (folder / "Snakefile").write_text("# rules\n")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "not.csv").write_text("a\n1\n")
    for name in ("smoke", "s1-0123456789", "s2-0123456789"):
        (folder / "results" / "incast" / name).mkdir(parents=True)
    (folder / "results/incast/smoke/slowdown.csv").write_text(CSV)
    columns = {name: np.zeros(2, dtype=np.int64) for name in CONTRACTS["paths"]}
    for run in ("s1-0123456789", "s2-0123456789"):
        traces.write_table(folder / "results" / "incast" / run, "paths", columns)
    whole = folder / "results/incast/s1-0123456789"
    for name in ("spec.json", "scenario.py", "manifest.json"):
        (whole / name).write_text("{}")
    (whole / "provenance.json").write_text("{}")
    return folder


def test_the_package_of_the_published_tables_is_that_of_these_tables():
    made = datapackage.describe(RESULTS, LICENCE)
    kept = json.loads((RESULTS / datapackage.FILE).read_text())
    assert kept == made, f"pyorch package docs/results --license {LICENCE}"


def test_every_published_table_is_in_it_and_most_columns_say_what_they_are():
    made = datapackage.describe(RESULTS)
    paths = {str(path.relative_to(RESULTS)) for path in RESULTS.rglob("*.csv")}
    assert {resource["path"] for resource in made["resources"]} == paths
    fields = [field for resource in made["resources"] for field in resource["schema"]["fields"]]
    assert all(field["type"] for field in fields)
    assert all("unit" in its for its in fields if its["name"].endswith(("_ps", "_bps", "_bytes")))
    assert sum("description" in field for field in fields) > 0.6 * len(fields)
    assert len({resource["name"] for resource in made["resources"]}) == len(paths)


def test_a_column_has_the_type_of_its_cells_the_unit_of_its_name_and_its_meaning(study):
    made = datapackage.describe(study)
    assert made["version"] == str(formats.TABLES)
    (table,) = (its for its in made["resources"] if its["format"] == "csv")
    fields = {field["name"]: field for field in table["schema"]["fields"]}
    types = {name: field["type"] for name, field in fields.items()}
    assert types == {
        "scenario": "string", "scale": "string", "variant": "any", "label": "any",
        "seed": "integer", "run": "string", "workload.senders": "integer", "n_flows": "integer",
        "slowdown_mean": "number", "slowest_fct_ps": "number", "missing": "any",
    }  # fmt: skip
    assert fields["slowest_fct_ps"]["unit"] == "ps" and fields["slowdown_mean"]["unit"] == "1"
    assert fields["workload.senders"]["description"].startswith("Key workload.senders of the")
    assert fields["slowdown_mean"]["description"] == "Slowdown: mean"
    assert table["description"] == "How many times longer do flows take than they would alone?"


def test_a_raw_table_has_the_columns_of_its_contract_and_only_whole_runs_are_there(study):
    made = datapackage.describe(study)
    (table,) = (its for its in made["resources"] if its["format"] == "parquet")
    assert table["path"] == "results/incast/s1-0123456789/paths.parquet"
    assert {its["name"]: its["description"] for its in table["schema"]["fields"]} == {
        name: rule.meaning for name, rule in CONTRACTS["paths"].items()
    }


def test_a_folder_without_tables_and_a_licence_without_a_name_are_refused(tmp_path, study):
    (tmp_path / "empty").mkdir()
    with pytest.raises(TraceError, match="has no tables .* Name a folder of results."):
        datapackage.describe(tmp_path / "empty")
    with pytest.raises(OutputError, match="'not one': no name of a licence. Write its identifier"):
        datapackage.describe(study, "not one")


def test_without_its_package_a_crate_is_refused_with_what_to_install(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(OutputError, match=r"which is not installed. Run: pip install rocrate"):
        crate.write(study, datapackage.describe(study, LICENCE))


def test_a_crate_needs_a_licence(study):
    said = subprocess.run(
        [sys.executable, "-m", "pyorch", "package", ".", "--crate"], cwd=study, text=True,
        capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert said.returncode == 1 and "--license CC-BY-4.0" in said.stderr
    assert not (study / datapackage.FILE).exists()


def test_a_crate_says_which_tables_were_made_of_what(study, monkeypatch):
    pytest.importorskip("rocrate")
    made = {"versions": {"pyorch": "1", "ns3": "2"}, "seed": 7, "simulated_ps": 5}
    monkeypatch.setattr(traces, "read_provenance", lambda folder: made)

    path = crate.write(study, datapackage.describe(study, LICENCE))

    graph = {its["@id"]: its for its in json.loads(path.read_text())["@graph"]}
    run, workflow = (graph[key] for key in graph if graph[key]["@type"] == "CreateAction")
    where = "results/incast/s1-0123456789"
    assert run["object"] == {"@id": f"{where}/spec.json"}
    assert {its["@id"] for its in run["result"]} == {
        f"{where}/paths.parquet", f"{where}/provenance.json",
    }  # fmt: skip
    script = graph[run["instrument"]["@id"]]
    assert [graph[its["@id"]]["name"] for its in script["softwareRequirements"]] == [
        "pyorch",
        "ns3",
    ]
    assert workflow["instrument"] == {"@id": "Snakefile"}
    assert workflow["object"] == {"@id": "scenarios/incast.yaml"}
    assert workflow["result"] == {"@id": "results/incast/smoke/slowdown.csv"}
    root = graph["./"]
    assert root["license"] == {"@id": f"https://spdx.org/licenses/{LICENCE}.html"}
    assert root["mainEntity"] == {"@id": "Snakefile"} and len(root["conformsTo"]) == 3
    files = {key for key, its in graph.items() if "File" in its["@type"]}
    assert files == {its["@id"] for its in root["hasPart"]}
    assert all((study / key).exists() or key == datapackage.FILE for key in files)
