# SPDX-License-Identifier: GPL-2.0-only
"""What docs/paper.md says of figures 3 and 5, and of a step, follows from model and tables."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyorch.render.tables import input_tables
from pyorch.runs.choose import choose
from pyorch.theory import exposed, golden, parallelism, preset

DOCS = Path(__file__).parents[1] / "docs"
RESULTS = DOCS / "results"
SCENARIOS = DOCS.parent / "scenarios"
PAGE = (DOCS / "paper.md").read_text()
README = (DOCS.parent / "README.md").read_text()
EXPOSED = " ".join((DOCS / "exposed.md").read_text().split())
FIRST_PAGE = (DOCS / "index.md").read_text()
SHOWN = {
    "RoCEv2": "rocev2", "Single path, best effort": "rocev2_irn", "Sprayed": "sprayed",
    "UEC NSCC": "nscc", "RoCEv2, adaptive routing": "rocev2_adaptive",
}  # fmt: skip
ONE_PATH = ["rocev2", "rocev2_dcqcn", "rocev2_hpcc", "infiniband", "rocev2_irn"]


def section(title):
    return PAGE.partition(f"## {title}")[2].partition("\n## ")[0]


def rows(title, table=0):
    """Return the cells of each row of one of the tables of a section, by its first cell."""
    text = re.findall(r"(?:^\|.*\|\n)+", section(title), re.M)[table]
    lines = [re.split(r" ?\| ?", line)[1:-1] for line in text.splitlines()]
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
        "RoCEv2": "rocev2", "SMaRTT, single path": "smartt_single", "NDP": "ndp", "Homa": "homa",
    }.items(),
)  # fmt: skip
def test_figure_5_has_the_papers_own_transports(row, variant):
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "slowdown.csv")
    runs = table[table["variant"] == variant]
    _, here, over, seeds, verdict = rows("Figure 5")[row]
    each = [f"{ps / 1e9:.2f}" for ps in runs["slowest_fct_ps"]]
    assert variant != "smartt_single" or " and ".join([", ".join(each[:-1]), each[-1]]) in verdict
    assert here == f"{runs['slowest_fct_ps'].mean() / 1e9:.2f}"
    assert over == f"{runs['over_optimal_p100'].mean():.2f}"
    assert seeds == str(runs["seed"].nunique())


def test_rocev2_with_dcqcn_takes_what_the_section_on_figure_5_says():
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "slowdown.csv")
    slowest = table[table["variant"] == "rocev2_dcqcn"]["slowest_fct_ps"]
    *first, last = [f"{ps / 1e9:.2f}" for ps in slowest]
    said = f"RoCEv2 + DCQCN takes {', '.join(first)} and {last} ms, near the paper's 9."
    assert said in " ".join(section("Figure 5").split())


def whole_step():
    steps = pd.read_csv(RESULTS / "training_step.csv")
    return steps[(steps["workload.divide"] == 100) & (steps["n_seeds"] > 0)]


def communications():
    measured = pd.read_csv(RESULTS / "figure_3_measured.csv")
    return measured[(measured["figure"] == "3b") & (measured["rate_bps"] == 800e9)]


@pytest.mark.parametrize(("row", "variant"), SHOWN.items())
@pytest.mark.parametrize("case", ["dense", "moe"])
def test_the_three_methods_are_their_tables(row, variant, case):
    model = f"{case}-100t"
    slower = one_row(
        pd.read_csv(RESULTS / "exposed_by_transport.csv"), preset=model, transport=variant
    )
    alone = communications().query("preset == @model and variant == @variant")["larger"]
    step = 100 * one_row(whole_step(), case=case, variant=variant)[
        ["exposed_share", "least", "most"]
    ].astype(float)
    shown = [f"{slower['exposed_percent']:.1f}", "".join(f"{share:.1f}" for share in alone)]
    mean, least, most = (f"{share:.1f}" for share in step)
    shown.append(mean if least == most else f"{mean} ({least} to {most})")
    assert rows("What single paths", ["dense", "moe"].index(case))[row] == shown


def exposed_by_pipeline():
    """Return the share of the MoE step by transport if pipeline transfers alone are slower [%]."""
    table = pd.read_csv(RESULTS / "exposed_by_transport.csv").query("preset == 'moe-100t'")
    return table.set_index("transport")["exposed_percent"]


def test_what_single_and_many_paths_expose_of_the_moe_step_is_in_the_tables():
    step = whole_step().query("case == 'moe'").set_index("variant")["exposed_share"] * 100
    alone = communications().query("preset == 'moe-100t'").set_index("variant")["larger"]
    said = []
    for share, left_out, n_many in ((step, ["nscc"], 9), (alone, [], 8)):
        is_one = share.index.isin(ONE_PATH)
        assert (is_one.sum(), (~is_one).sum()) == (5, n_many)
        many = share[~is_one].drop(left_out)
        said += [f"{part.min():.0f} to {part.max():.0f}" for part in (share[is_one], many)]
    one, many, one_alone, many_alone = said
    nscc = f"NSCC {step['nscc']:.0f}"
    assert f"many paths (UEC's {nscc} %)" in FIRST_PAGE
    assert f"has many paths too: {step['rocev2_adaptive']:.0f} % of the whole step" in EXPOSED
    text = " ".join(section("What single paths").split())
    assert (
        f"with one path expose {one} %, eight with many paths {many} % (means of three draws)"
        in text
    )
    assert (
        f"With each communication alone in packets it is [{one_alone} % and {many_alone} %]" in text
    )
    by_pipeline = exposed_by_pipeline()
    is_one = by_pipeline.index.isin([*ONE_PATH, "smartt_single"])
    paper_one, paper_many = (
        f"{part.min():.1f} to {part.max():.1f}"
        for part in (by_pipeline[is_one], by_pipeline[~is_one].drop("optimal"))
    )
    ideal = f"{by_pipeline['optimal']:.1f}"
    settings = pd.read_csv(RESULTS / "nscc_step" / "paper" / "training_step.csv")
    by_100 = settings[(settings["variant"] == "rocev2_star") & (settings["workload.divide"] == 100)]
    apart = by_100["exposed_share"].mean()  # each rail is one switch: no two messages meet
    for row in (
        f"| ideal network | 20 | {ideal} | {ideal} | {100 * apart:.1f}: one switch for each"
        " rail, where no messages meet |",
        f"| packets on many paths | | {paper_many} | {many_alone} | {many}, {nscc} |",
        f"| one path for a message | 25 | {paper_one} | {one_alone} | {one} |",
    ):
        assert row in EXPOSED
    for row in (
        f"| ideal network | 20 | {ideal} | {100 * apart:.1f} |",
        f"| packets on many paths | | {paper_many} | {many}; Ultra Ethernet's {nscc} |",
        f"| one path for a message | 25 | {paper_one} | {one} |",
    ):
        assert row in README
    assert (
        f"GPUs wait {one} % of a mixture-of-experts step on single paths, and {many} % with packets"
        " on many paths"
    ) in " ".join(FIRST_PAGE.split())


def test_only_nscc_depends_on_how_small_the_step_is_made():
    steps = pd.read_csv(RESULTS / "training_step.csv").query("case == 'moe' and n_seeds > 0")
    share = steps.pivot_table(index="variant", columns="workload.divide", values="exposed_share")
    many = 100 * share.drop(index=ONE_PATH)
    apart = abs(many[100] - many[400])
    assert apart.idxmax() == "nscc" and apart.drop("nscc").max() < 5
    said = " ".join(section("What single paths").split())
    settings = pd.read_csv(RESULTS / "nscc_step" / "paper" / "training_step.csv")
    draws = 100 * settings.pivot_table(
        index=["variant", "seed"], columns="workload.divide", values="exposed_share"
    )
    means = draws.groupby("variant").mean()
    for divide in (100, 400):  # the same runs in two scenarios
        assert means.loc["nscc", divide] == pytest.approx(many.loc["nscc", divide], abs=1e-7)
    first, second, third = draws.loc["nscc"][100]
    assert f"It exposes {first:.0f}, {second:.0f} and {third:.0f} % in three draws with" in said
    assert f"{draws.loc['nscc'][400].mean():.0f} % in the mean with bytes divided by 400" in said
    assert f"{draws.loc['nscc_ack'][100].mean():.0f} % with an acknowledgement for each" in said
    assert not steps["bubble_share"].any()


def test_the_first_page_says_how_far_the_slowest_transfers_of_figure_5_are_from_the_optimum():
    table = pd.read_csv(RESULTS / "figure_5" / "paper" / "slowdown.csv")
    over = table.groupby("variant")["over_optimal_p100"].mean()
    is_one = over.index.isin([*ONE_PATH, "smartt_single"])
    least, most = over[is_one].min(), over[is_one].max()
    assert (
        f"the slowest of 8192 transfers takes {least:.1f} to {most:.1f} times the optimum, because"
        " a hash puts several on one link. With packets on many paths it is at most"
        f" {np.ceil(100 * (over[~is_one].max() - 1)):.0f} % above the optimum."
    ) in " ".join(FIRST_PAGE.split())


def test_the_step_that_is_simulated_is_the_scenarios_beside_the_papers():
    setup = preset.training("moe-100t").setup
    where, times, net = setup.placement, parallelism.stage_times(setup), setup.network
    (run,) = choose(
        SCENARIOS / "training_step.yaml", scale="paper", variant="sprayed", case="moe", seed=1,
        sets=[("workload.divide", 100)],
    )  # fmt: skip
    shape, sent = run.spec.workload[0].params, np.unique(input_tables(run.spec)["flows"]["bytes"])
    chunks = shape.chunks
    racks, members, tensor = where.racks_per_stage_and_datacenter, where.rack_members, setup.tensor
    between = times.dp4_ps * net.scale_out_bps / 8e12 / chunks / (racks - 1)
    inside = times.dp5_ps * net.scale_up_bps / 8e12 / chunks / (members - 1)
    halves = times.tensor_ps * net.scale_up_bps / 8e12 / 2
    stages = times.pipeline_ps * net.scale_out_bps / 8e12
    said = rows("What single paths", 3)

    def both(name):
        return [float(re.search(r"[\d.]+", cell)[0]) for cell in said[name]]

    assert both("devices")[1] == shape.stages * shape.peers * shape.members * shape.tensor
    assert said["tensor-parallel group"] == [
        f"{tensor} devices, {members} groups in a rack",
        f"{shape.tensor} devices, {shape.members} groups in a rack",
    ]
    assert both("pipeline stages, of one layer") == [where.stages, shape.stages]
    assert both("racks of a stage") == [racks, shape.peers]
    whole = {
        "message between stages": stages,
        "message of a ring between racks, in 8 chunks": between,
        "message of tensor parallelism": halves / (2 * (tensor - 1)),
        "message of a ring in the rack, in 8 chunks": inside,
    }
    for (name, real), small in zip(whole.items(), sent, strict=True):
        assert both(name) == pytest.approx([real / 1e6, small / 1e6], rel=3e-3)


def test_all_numbers_that_the_model_misses_are_in_one_table():
    missed = [row for row in golden.rows() if row.status in ("DEVIATES", "ANCHOR_MISS")]
    said = rows("What is missed")
    assert len(said) == len(missed) + 2  # and two rows of figure 5, which the model has not


def test_readings_of_the_wide_area_are_the_models():
    setup = preset.training("moe-100t").setup
    for row, cells in rows("Figure 3c").items():
        name = row.partition("`")[2].partition("`")[0]
        lost = exposed.expose_setup(setup, wan_model=name, retransmission_rtts=1).share
        whole = exposed.expose_setup(setup, wan_model=name).share
        assert cells[-1] == f"{100 * float(lost):.1f} %"
        assert float(whole) == float(exposed.expose_setup(setup).share)


def test_the_dense_rate_hides_more():
    dense_rate = [("gpu.compute", "10 PFLOPS")]
    slow = [
        100 * float(exposed.expose_setup(preset.training(model, dense_rate).setup).share)
        for model in ("dense-100t", "moe-100t")
    ]
    said = "and {:.1f} % of its step are exposed instead of 4.9, of the MoE step {:.1f} % instead"
    assert said.format(*slow) in " ".join(section("Figure 2").split())


def test_every_figure_of_the_page_is_there():
    named = re.findall(r"\]\((results/[^)#]*\.png)\)", PAGE)
    assert len(named) >= 12 and all((DOCS / name).exists() for name in named)


def test_how_much_longer_the_whole_step_takes_on_one_path_is_in_its_table():
    steps = pd.read_csv(RESULTS / "training_step" / "paper" / "training_step.csv")
    its = steps[(steps["case"] == "moe") & (steps["workload.divide"] == 100)]
    time = its.groupby("variant")["step_ps"].mean()
    many = time.drop(ONE_PATH)
    ratio = pd.DataFrame({name: time[ONE_PATH] / ps for name, ps in many.items()})
    nscc, others = ratio["nscc"], ratio.drop(columns="nscc").to_numpy()
    assert (
        f"the step takes {others.min():.1f} to {others.max():.1f} times as long on one path as on"
        f" many (NSCC: {nscc.min():.1f} to {nscc.max():.1f} times)."
    ) in EXPOSED
    pairs = ratio.drop(columns="nscc")
    large = pairs[(pairs >= 2.2).any(axis=1)]
    n_large = int((pairs >= 2.2).to_numpy().sum())
    said = f"Of {pairs.size} pairs of transports {n_large} reach 2.2, all"
    assert said in EXPOSED
    assert {*large.index} == {"rocev2_hpcc", "rocev2_irn"}  # "best effort"


def test_the_page_for_evaluators_has_the_number_of_each_status():
    said = subprocess.run(
        [sys.executable, "-m", "pyorch", "theory", "golden"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = Counter(line.split()[-1] for line in said.splitlines() if line.strip())
    counts = ", ".join(f"{found[name]} {name}" for name in ("MATCH", "TRUNC", "CLOSE", "DEVIATES"))
    assert f"for each number: {counts};" in (DOCS / "artifact.md").read_text()
