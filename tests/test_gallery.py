# SPDX-License-Identifier: GPL-2.0-only
"""Each scenario of the gallery and of papers runs, and its figure shows what the pages show."""

import gzip
import runpy
from pathlib import Path

import pandas as pd
import pytest

DOCS = Path(__file__).parents[1] / "docs"
GALLERY = DOCS / "gallery"
TOOLS = runpy.run_path(str(GALLERY / "draw.py"))
NAMES = TOOLS["NAMES"]
#: Of the gallery, what takes half a minute of a core and more.
LONG = {"placement", "scale_up", "lost_parts", "tenants", "recovery", "collision_size", "planes",
        "lossy_links", "where_to_spray", "mrc", "mrc_links", "gray", "queue_pairs",
        "deepseek_v3", "gpu_rate", "cable_length", "unequal_cables", "fabrics"}  # fmt: skip


def test_there_are_ten_and_each_is_on_the_page():
    page = (GALLERY / "index.md").read_text()

    assert len(NAMES["gallery"]) >= 10
    for name in NAMES["gallery"]:
        assert f"(figures/{name}.png)" in page
        assert f"(scenarios/{name}.yaml)" in page
        assert f"(plots/{name}.py)" in page
        assert (GALLERY / "figures" / f"{name}.png").exists()


def test_each_paper_is_on_the_page_of_validation():
    page = (DOCS / "validation.md").read_text().partition("## Papers")[2]

    assert len(NAMES["papers"]) >= 5
    for name in NAMES["papers"]:
        assert f"(papers/figures/{name}.png)" in page
        assert f"`docs/papers/scenarios/{name}.yaml`" in page


@pytest.mark.ns3
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG else pytest.mark.slow)
        for name in NAMES["gallery"]
    ]
    + [pytest.param(name, marks=pytest.mark.long) for name in NAMES["papers"]],
)
def test_the_figure_is_what_the_scenario_gives(name, tmp_path, monkeypatch):
    monkeypatch.setitem(TOOLS["draw"].__globals__, "RESULTS", tmp_path / "results")
    _, data, caption = TOOLS["draw"](name)
    shown = TOOLS["place_of"](name) / "figures" / f"{name}.csv"
    again = pd.read_csv(TOOLS["as_csv"](data))

    # Runs are repeated bit for bit; one per cent is room for a change of a model that is meant.
    # After it: make gallery, make papers.
    pd.testing.assert_frame_equal(again, pd.read_csv(shown), rtol=0.01, check_dtype=False)
    assert shown.with_suffix(".txt").read_text() == caption


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize("name", TOOLS["LOOKS"])
def test_a_page_of_runs_shows_what_the_scenario_gives(name, tmp_path, monkeypatch):
    monkeypatch.setitem(TOOLS["look"].__globals__, "RESULTS", tmp_path / "results")
    kept = GALLERY / "looks" / f"{name}.json.gz"

    assert gzip.decompress(TOOLS["look"](name)) == gzip.decompress(kept.read_bytes())
    assert f"looks/{name}.html" in (GALLERY / "index.md").read_text()


@pytest.mark.ns3
@pytest.mark.parametrize("name", ["incast", "collisions"])
def test_what_the_captions_say_is_so(name):
    shown = pd.read_csv(GALLERY / "figures" / f"{name}.csv")
    if name == "incast":
        by = shown.set_index("variant")
        # 32 messages of 500 kB over one link of 100 Gb/s take 1280 us without headers.
        assert by["last_us"][["no_control", "pfc"]].between(1280, 1.03 * 1280).all()
        assert by["last_us"]["small_queue"] > by["last_us"]["pfc"]
        assert by["retransmitted_packets"].to_dict() == {
            "no_control": 0, "pfc": 0, "small_queue": by["retransmitted_packets"]["small_queue"]
        }  # fmt: skip
        assert by["longest_queue_bytes"]["small_queue"] <= 500_000
    else:
        one = shown.query("variant == 'one_path'")["sent_mb"]
        # Messages of 1 MB with 2 % of headers; ACKs come the other way, and do not count here.
        assert round(one.max()) == 4
        assert 0.3 < (one < 0.5).mean() < 0.4
