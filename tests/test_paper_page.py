# SPDX-License-Identifier: GPL-2.0-only
"""What docs/paper.md says of figures 3 and 5, and of a step, follows from model and tables."""

import re
from pathlib import Path

import pandas as pd
import pytest

from pyorch.theory import exposed, preset

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"
PAGE = (DOCS / "paper.md").read_text()
SINGLE = {"RoCEv2": "rocev2", "best effort, a window": "rocev2_irn"}
MANY = {"sprayed": "sprayed", "UEC NSCC": "nscc"}


def section(title):
    return PAGE.partition(f"## {title}")[2].partition("\n## ")[0]


def rows(title):
    """Return the cells of each row of the first table of a section, by its first cell."""
    lines = [
        re.split(r" ?\| ?", line)[1:-1] for line in re.findall(r"^\|.*\|$", section(title), re.M)
    ]
    return {line[0]: line[1:] for line in lines[2:]}


def one_row(table, **wanted):
    for key, value in wanted.items():
        table = table[table[key] == value]
    assert len(table) == 1
    return table.iloc[0]


def exposed_percent(model, **rates):
    return 100 * float(
        exposed.expose_setup(exposed.with_rates(preset.training(model).setup, **rates)).share
    )


def test_exposed_shares_of_figures_3a_and_3b_are_the_models():
    dense, moe = "dense-100t", "moe-100t"
    slow = {"scale_up_bps": 800e9}
    found = [exposed_percent(dense, **slow), exposed_percent(moe, **slow)]
    found += [exposed_percent(dense), exposed_percent(moe)]
    said = "Ours are {:.1f}, {:.1f}, {:.1f} and {:.1f} %.".format(*found)
    assert said in " ".join(section("Figure 3a").split())

    slow, fast = {"scale_out_bps": 100e9}, {"scale_out_bps": 1.6e12}
    found = [exposed_percent(dense, **slow), exposed_percent(moe, **slow)]
    found += [exposed_percent(dense), exposed_percent(moe), exposed_percent(moe, **fast)]
    said = "Ours are {:.1f}, {:.1f}, {:.1f}, {:.1f} and {:.1f} %.".format(*found)
    assert said in " ".join(section("Figure 3b").split())
    least = exposed_percent(moe, scale_out_bps=1e18)
    assert f"cannot be less than {least:.1f} %" in " ".join(section("Figure 3b").split())


@pytest.mark.parametrize(
    ("row", "variant"),
    {
        "RoCEv2": "rocev2", "single path, best effort (SMaRTT)": "smartt_single", "NDP": "ndp",
        "Homa": "homa",
    }.items(),
)  # fmt: skip
def test_figure_5_has_the_papers_own_transports(row, variant):
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "slowdown.csv")
    runs = table[table["variant"] == variant]
    _, here, over, seeds, _ = rows("Figure 5")[row]
    assert here == f"{runs['slowest_fct_ps'].mean() / 1e9:.2f}"
    assert over == f"{runs['over_optimal_p100'].mean():.2f}"
    assert seeds == str(runs["seed"].nunique())


@pytest.mark.parametrize(("row", "variant"), {**SINGLE, **MANY}.items())
def test_the_three_methods_are_their_tables(row, variant):
    by_transport = pd.read_csv(RESULTS / "exposed_by_transport.csv")
    measured = pd.read_csv(RESULTS / "figure_3_measured.csv")
    steps = pd.read_csv(RESULTS / "training_step.csv")
    shown = []
    for model, case in (("dense-100t", "dense"), ("moe-100t", "moe")):
        shown += [
            one_row(by_transport, preset=model, transport=variant)["exposed_percent"],
            one_row(
                measured, figure="3b", preset=model, variant=variant, rate_bps=800e9
            )["larger"],
            100 * one_row(
                steps[steps["n_seeds"] > 0], case=case, variant=variant, **{"workload.divide": 100}
            )["exposed_share"],
        ]  # fmt: skip
    assert rows("What single paths")[row] == [f"{value:.1f}" for value in shown]


def test_every_figure_of_the_page_is_there():
    named = re.findall(r"\]\((results/[^)#]*\.png)\)", PAGE)
    assert len(named) >= 12 and all((DOCS / name).exists() for name in named)
