# SPDX-License-Identifier: GPL-2.0-only
"""What docs/results shows follows from the tables beside it, to the last printed digit."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pandas as pd
import pytest

from pyorch.figures import mean_interval, need_path
from pyorch.figures.command import drawn, read_table
from pyorch.theory.collisions import chance_in_leaf_spine

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PAGE = (RESULTS / "README.md").read_text()


@pytest.mark.parametrize("name", ["figure_5", "figure_6"])
def test_every_figure_is_what_its_tables_give(name):
    found = spec_from_file_location(name, ROOT / "plots" / f"{name}.py")
    plot = module_from_spec(found)
    found.loader.exec_module(plot)
    tables = {
        key: read_table(need_path(need, RESULTS, "paper")) for key, need in plot.NEEDS.items()
    }
    _, data = drawn(plot.draw, tables, "paper")

    shown = (RESULTS / f"{name}.csv").read_text()
    assert data.to_csv(index=False, float_format="%.10g", lineterminator="\n") == shown


@pytest.mark.parametrize("variant", ["rocev2", "rocev2_irn", "sprayed"])
def test_the_page_says_what_the_table_of_figure_5_gives(variant):
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "slowdown.csv")
    runs = table[table["variant"] == variant]
    mean, half = mean_interval(runs["slowest_fct_ps"] / 1e9)
    over, over_half = mean_interval(runs["over_optimal_p100"])
    digits = 3 if variant == "sprayed" else 2

    assert f"| {mean:.{digits}f} ± {half:.{digits}f} |" in PAGE
    assert f"| {over:.{digits}f} ± {over_half:.{digits}f} |" in PAGE


@pytest.mark.parametrize("variant", ["rocev2", "rocev2_irn"])
def test_the_page_says_how_far_each_seed_is_above_fluid(variant):
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "fluid.csv")
    runs = table[table["variant"] == variant]
    again = runs["slowest_fct_ps"] / runs["fluid_p100_ps"]

    assert runs["over_fluid_p100"].tolist() == pytest.approx(again.tolist(), rel=1e-9)
    assert f"| {', '.join(f'{value:.3f}' for value in again)} |" in PAGE


def test_the_page_says_how_likely_each_draw_is():
    chance = 100 * chance_in_leaf_spine(128, 64, 64)
    draws = pd.read_csv(RESULTS / "figure_5" / "paper" / "fluid_draws.csv")
    slowest_ps = draws.drop_duplicates(["seed", "draw"])["fluid_p100_ps"]
    # One transfer is 0.994 ms with headers.
    share = (slowest_ps / 0.994e9).round().value_counts(normalize=True) * 100

    assert " | ".join(f"{c:.1f} %" for c in (*chance[6:9], chance[9:].sum())) in PAGE
    assert " | ".join(f"{share[flows]:.0f} %" for flows in (6, 7, 8, 9)) in PAGE


def test_the_page_and_the_table_of_runs_agree_on_what_was_run():
    runs = pd.read_csv(RESULTS / "runs.csv")
    commits = set(runs["git_commit"])

    assert len(runs[runs["scenario"] == "figure_5"]) == 9
    assert len(runs[runs["scenario"] == "figure_6"]) == 54
    assert commits == set(re.findall(r"\b[0-9a-f]{40}\b", PAGE))
