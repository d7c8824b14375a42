# SPDX-License-Identifier: GPL-2.0-only
"""A figure says how large its runs are, and names a scale only where that says more."""

import pytest

from pyorch.figures.size import sizes

SCENARIO = """\
name: mine
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 3, spines: 2}
workload: {type: permutation, message: 1 MB}
sweep: {seed: [1, 2, 3]}
"""
RAILS = """\
name: racks
topology:
  type: rails
  devices: 4
  rail: {type: leaf_spine, leaves: 2, hosts_per_leaf: 8, spines: 2}
  scale_up: {rate: 14.4 Tb/s, delay: 10 ns}
workload: {type: training, preset: dense-100t, divide: 400}
"""


def of(folder, text, *scenarios, scale="paper"):
    (folder / "any_name.yaml").write_text(text)
    return sizes(scenarios or ("mine",), scale, folder)


@pytest.mark.parametrize(
    ("scales", "expected"),
    [
        ("paper: {}", "6 hosts"),
        ("laptop: {sweep.seed: [1]}", "6 hosts"),
        ("paper: {topology.leaves: 4}", "scale: paper, 12 hosts"),
        ("paper: {workload.message: 2 MB}", "scale: paper, 6 hosts"),
        ("laptop: {workload.message: 2 MB}", "scale: paper, 6 hosts"),
        # Some runs of the laptop scale are runs of this one.
        ("paper: {sweep.workload.message: [1 MB, 2 MB]}", "6 hosts"),
    ],
)
def test_a_scale_is_named_where_its_runs_have_sizes_of_their_own(tmp_path, scales, expected):
    assert of(tmp_path, f"{SCENARIO}scales:\n  {scales}\n") == expected


def test_methods_and_draws_are_no_sizes(tmp_path):
    scales = (
        "scales: {laptop: {variants: [a], sweep.seed: [1]}}\nvariants: {a: {}, b: {stop: 1 s}}\n"
    )

    assert of(tmp_path, SCENARIO + scales) == "6 hosts"


def test_cases_of_several_sizes_are_a_range(tmp_path):
    cases = "cases: {few: {}, many: {label: Many, topology.leaves: 4}}\n"

    assert of(tmp_path, SCENARIO + cases) == "6 to 12 hosts"


def test_what_bytes_are_divided_by_is_said_instead_of_a_scale(tmp_path):
    # 16 racks of 4 devices; both scales differ, but neither is a whole step.
    scales = "scales: {paper: {workload.divide: 100}}\n"

    assert of(tmp_path, RAILS + scales, "racks") == "64 devices, bytes / 100"
    swept = "sweep: {workload.divide: [1, 400]}\n"
    assert of(tmp_path, RAILS + swept, "racks") == "64 devices, bytes / 1 and 400"


@pytest.mark.parametrize(
    "text", ["name: other\n", "name: [\n", "name: mine\ntopology: {type: x}\n", "name: mine\n"]
)
def test_without_a_scenario_that_can_be_read_only_the_scale_is_known(tmp_path, text):
    assert of(tmp_path, text) == "scale: paper"
