# SPDX-License-Identifier: GPL-2.0-only
"""Values that were measured on hardware are set beside ours by closed forms, and as they stand."""

import runpy
from pathlib import Path

import pandas as pd
import pytest

from pyorch import measured
from pyorch.errors import SpecError
from pyorch.runs.choose import choose

ROOT = Path(__file__).parents[1]
FILES = measured.files(ROOT / "measured")
#: As `make hardware` has written it, and the page that shows it.
TABLE = ROOT / "docs" / "hardware" / "measured.csv"
PAGE = ROOT / "docs" / "hardware.md"
#: Those that take the longest.
LONG = {"allreduce_by_size", "deepep", "hpn_segments", "lost_link", "mesh_allgather",
        "mrc_failures", "mrc_goodput", "mrc_loss", "mrc_permutation", "nccl_allreduce",
        "nccl_gpus", "nccl_nodes", "planes_rails", "queue_pairs", "sendrecv_planes",
        "victim"}  # fmt: skip
#: Two frames of 1000 B in all, on two links of 1 us: 8 us of sending and 8 us more for a hop.
SCENARIO = """\
name: two
measured:
  source: a closed form
  setup: two hosts around a switch
  stated: [1 Gb/s]
  tolerance: 1%
  values:
    - {what: the time, value: VALUE, unit: UNIT, ours: {metric: completion, OURS}}
topology: {type: star, hosts: 2}
link: {rate: 1 Gb/s, delay: 1 us}
wire: {framing: 0 B}
switch: {buffer: 8 MB}
workload: {type: single, message: 938 B}
transport: {type: ns3::RoceTransport, attributes: {HeaderBytes: 62, RethBytes: 0}}
stop: 1 s
variants: {short: {}, long: {workload.message: 1938 B}}
"""
SHORT_US, LONG_US = 18.0, 34.0


def row(folder, value, unit, ours):
    path = folder / "two.yaml"
    text = SCENARIO.replace("VALUE", str(value)).replace("UNIT", unit).replace("OURS", ours)
    path.write_text(text)
    return measured.table([path]).iloc[0]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder whose runs are made once."""
    folder = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


TIME = "column: completion_ps"


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "ours", "expected"),
    [
        ("us", f"{TIME}, variant: short", SHORT_US),
        ("ms", f"{TIME}, variant: long", LONG_US / 1000),
        ("us", f"{TIME}", (SHORT_US + LONG_US) / 2),
        ("us", f"{TIME}, variant: long, minus: {{variant: short}}", LONG_US - SHORT_US),
        ("ratio", f"{TIME}, variant: long, over: {{variant: short}}", LONG_US / SHORT_US),
        ("Gb/s", f"{TIME}, variant: short, bytes: 938 B", 8 * 938 / SHORT_US / 1000),
        ("us", f"{TIME}, where: {{variant: long}}", LONG_US),
    ],
)
def test_a_value_is_what_its_words_say(study, unit, ours, expected):
    found = row(study, expected, unit, ours)
    assert found["ours"] == pytest.approx(expected, rel=1e-9)
    assert found["verdict"] == "within" and found["allowed"] == 0.01

    far = row(study, expected * 1.02, unit, ours)
    assert far["verdict"] == "outside" and far["ratio"] == pytest.approx(1 / 1.02)
    stated = row(study, expected * 1.02, f"{unit}, uncertainty: 3%", ours)
    assert stated["verdict"] == "within" and stated["allowed"] == 0.03


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (f"{TIME}, variant: longer", r"measured.values.0.ours: no run of variant 'longer'"),
        ("column: complete_ps", r"completion has no column 'complete_ps'. It has "),
        (f"{TIME}, where: {{seed: 7}}", r"completion has no row with {'seed': 7}"),
    ],
)
def test_a_value_of_which_there_is_none_is_named(study, ours, said):
    with pytest.raises(SpecError, match=rf"two.yaml: .*{said}"):
        row(study, 1, "us", ours)


@pytest.mark.parametrize(
    ("unit", "ours", "said"),
    [
        ("GB/s", TIME, "unit: GB/s is no unit of completion_ps"),
        ("us", f"{TIME}, over: {{variant: short}}", "unit: us is no unit of"),
        ("us", f"{TIME}, over: {{variant: a}}, minus: {{variant: b}}", "write one of them"),
        ("hours", TIME, "values.0.unit: "),
    ],
)
def test_a_value_that_cannot_be_compared_is_refused_before_a_run(tmp_path, unit, ours, said):
    with pytest.raises(SpecError, match="two.yaml:[0-9]+: measured") as error:
        row(tmp_path, 1, unit, ours)
    assert said in str(error.value)


def test_a_scenario_without_a_measurement_is_named(tmp_path):
    (tmp_path / "one.yaml").write_text("name: one\n" + SCENARIO[SCENARIO.index("topology:") :])
    with pytest.raises(SpecError, match="one.yaml: has no section measured"):
        measured.read(tmp_path / "one.yaml")
    with pytest.raises(SpecError, match="no measured experiment"):
        measured.files(tmp_path / "none")


def test_the_table_has_all_experiments():
    table = pd.read_csv(TABLE)
    values = [(path.stem, value.what) for path in FILES for value in measured.read(path).values]
    assert list(zip(table["experiment"], table["what"], strict=True)) == values


def test_the_readme_says_how_many_there_are():
    table = pd.read_csv(TABLE)
    said = f"{len(table)} values of {table['experiment'].nunique()} published experiments"
    within = (table["verdict"] == "within").sum()
    first_page = (ROOT / "README.md").read_text()
    assert f"[{said}](docs/hardware.md) | {within} within their tolerance," in first_page
    page = " ".join((ROOT / "docs" / "hardware.md").read_text().split())
    number = table["experiment"].nunique()
    assert (
        f"**{within} of {len(table)} values are within their tolerance**, from {number} experiments"
    ) in page
    error = 100 * (table["ratio"] - 1).abs()
    assert (
        f"The error of the {len(table)} values here is {error.mean():.0f} % in the mean and"
        f" {error.median():.0f} % in the median"
    ) in page


def test_every_value_outside_is_explained():
    outside = set(pd.read_csv(TABLE).query("verdict == 'outside'")["experiment"])
    explained = {path.stem for path in FILES if measured.read(path).explained}
    assert outside == explained


def test_the_page_is_what_table_and_files_say():
    script = runpy.run_path(str(TABLE.with_name("draw.py")))
    text = script["text_of"](pd.read_csv(TABLE), FILES)
    assert f"{script['BEGIN']}\n{text}\n{script['END']}" in PAGE.read_text()


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.long] * (path.stem in LONG))
        for path in FILES
    ],
)
def test_the_table_is_what_the_engine_gives(study, path):
    written = pd.read_csv(TABLE).query("experiment == @path.stem").reset_index(drop=True)
    pd.testing.assert_frame_equal(measured.table([path]), written, rtol=1e-5, check_dtype=False)


def test_the_page_counts_each_kind_of_experiment():
    table = pd.read_csv(TABLE)
    kinds = []
    for path in FILES:
        runs = choose(path)
        transports = {run.variant: {one.type for one in run.spec.transport} for run in runs}
        is_nccl = any(run.spec.workload[0].type == "nccl" for run in runs)
        for value in measured.read(path).values:
            shown = filter(None, (value.ours, value.ours.over))
            names = [one.variant or runs[0].variant for one in shown]
            is_mrc = all("ns3::MrcTransport" in transports[name] for name in names)
            kinds.append("MRC-like" if is_mrc else "nccl" if is_nccl else "others")
    by = table.assign(off=(table["ratio"] - 1).abs()).groupby(kinds)
    found = by.agg(size=("off", "size"), mean=("off", "mean"), median=("off", "median"))
    within = (table["verdict"] == "within").groupby(kinds).sum()
    page = (ROOT / "docs" / "hardware.md").read_text()
    for kind, row in (("MRC-like", "MRC-like"), ("nccl", "the workload `nccl`"),
                      ("others", "all others")):  # fmt: skip
        its, median = found.loc[kind], 100 * found.loc[kind, "median"]
        digits = f"{median:.1f}" if median < 1 else f"{median:.0f}"
        assert (
            f"| {row} | {its['size']:.0f} | {within[kind]} | {100 * its['mean']:.0f} % | {digits} %"
        ) in page
