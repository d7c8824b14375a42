# SPDX-License-Identifier: GPL-2.0-only
"""A figure says how large its runs are, and names a scale whose runs are smaller."""

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
    ("scale", "expected"),
    [
        ("paper", "12 hosts"),
        ("laptop", "scale: laptop, 6 hosts"),
        ("smoke", "scale: smoke, 6 hosts"),
    ],
)
def test_a_smaller_scale_is_named(tmp_path, scale, expected):
    text = f"{SCENARIO}scales: {{paper: {{topology.leaves: 4}}}}\n"
    assert of(tmp_path, text, scale=scale) == expected


def test_methods_and_draws_are_no_sizes(tmp_path):
    scales = (
        "scales: {laptop: {variants: [a], sweep.seed: [1]}}\nvariants: {a: {}, b: {stop: 1 s}}\n"
    )

    assert of(tmp_path, SCENARIO + scales) == "6 hosts"


def test_cases_of_several_sizes_are_a_range(tmp_path):
    cases = "cases: {few: {}, many: {label: Many, topology.leaves: 4}}\n"

    assert of(tmp_path, SCENARIO + cases) == "6 to 12 hosts"


def test_what_bytes_are_divided_by_is_said(tmp_path):
    # 16 racks of 4 devices.
    scales = "scales: {paper: {workload.divide: 100}}\n"

    assert of(tmp_path, RAILS + scales, "racks") == "64 devices, bytes / 100"
    swept = "sweep: {workload.divide: [1, 400]}\n"
    assert of(tmp_path, RAILS + swept, "racks") == "64 devices, bytes / 1 and 400"


@pytest.mark.parametrize(
    "text", ["name: other\n", "name: [\n", "name: mine\ntopology: {type: x}\n", "name: mine\n"]
)
def test_without_a_scenario_that_can_be_read_only_the_scale_is_known(tmp_path, text):
    assert of(tmp_path, text) == "scale: paper"
