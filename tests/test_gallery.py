# SPDX-License-Identifier: GPL-2.0-only
"""Each scenario of the gallery runs, and its figure shows what the page of the gallery shows."""

import runpy
from pathlib import Path

import pandas as pd
import pytest

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
NAMES = sorted(path.stem for path in (GALLERY / "scenarios").glob("*.yaml"))


def test_there_are_ten_and_each_is_on_the_page():
    page = (GALLERY / "index.md").read_text()

    assert len(NAMES) >= 10
    for name in NAMES:
        assert f"(figures/{name}.png)" in page
        assert f"(scenarios/{name}.yaml)" in page
        assert f"(plots/{name}.py)" in page
        assert (GALLERY / "figures" / f"{name}.png").exists()


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_figure_is_what_the_scenario_gives(name, tmp_path):
    tools = runpy.run_path(str(GALLERY / "draw.py"))
    tools["draw"].__globals__["RESULTS"] = tmp_path / "results"
    _, data, caption = tools["draw"](name)
    shown = pd.read_csv(GALLERY / "figures" / f"{name}.csv")
    again = pd.read_csv(tools["as_csv"](data))

    # Runs are repeated bit for bit; one per cent is room for a change of a model that is meant.
    # After it: make gallery.
    pd.testing.assert_frame_equal(again, shown, rtol=0.01, check_dtype=False)
    assert (GALLERY / "figures" / f"{name}.txt").read_text() == caption


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
