# SPDX-License-Identifier: GPL-2.0-only
"""Sweep, variants and scales mean what they say, or are refused: nothing in them is ignored."""

import re

import pytest

from pyorch.errors import SpecError
from pyorch.spec.limits import MOST_RUNS

WRONG = {
    "a sweep in a variant": (
        "windowed: {", "windowed: {sweep.seed: [1, 2, 3], ",
        "small.yaml:15: variants.windowed.sweep.seed: sweep is not looked at from here. Write it",
    ),
    "a scale in a variant": (
        "windowed: {", "windowed: {scales.smoke: {}, ", "variants.windowed.scales.smoke: scales is",
    ),
    "a sweep of the sweep": ("seed: [1, 2]", "sweep.seed: [1]", "sweep.sweep.seed: sweep is not"),
    "a sweep of variants": ("seed: [1, 2]", "variants: [1]", "sweep.variants: variants is not"),
    "a scale in a scale": (
        "paper: {", "laptop: {scales.paper: 1, ", "scales.laptop.scales.paper: scales is not",
    ),
    "two names": (
        "seed: [1, 2]", "name: [a, b]", "small.yaml:10: sweep.name: a scenario has one name.",
    ),
    "a name of a variant's own": (
        "windowed: {", "windowed: {name: other, ", "variants.windowed.name: a scenario has one",
    ),
    "a name of a scale that is not chosen": (
        "paper: {", "paper: {name: other, ", "scales.paper.name: a scenario has one name.",
    ),
    "a label that is a mapping": (
        "label: With PFC", "label: {b: 1}",
        "small.yaml:12: variants.lossless: label: '{'b': 1}' is not one line of text",
    ),
    "a label that is no number": ("label: With PFC", "label: .nan", "label: 'nan' is not one line"),
    "a label on two lines": ("label: With PFC", 'label: "a\\nb"', "label: 'a\\nb' is not one line"),
    "a variant without a name": ("windowed: {", '"": {', "variants.: '' is no name of a variant."),
    "a path that ends in a dot": (
        "seed: [1, 2]", "seed.: [1]", "sweep.seed.: 'seed.' is no key path.",
    ),
    "a long name": ("name: small", f"name: {'s' * 65}", "is not a name here. Write at most 64"),
    "text with a newline": (
        "type: ns3::RoceTransport}",
        'type: ns3::RoceTransport, attributes: {PathSelector: "x\\ny"}}',
        "transport.attributes.PathSelector: 'x\\ny' is not one line of at most 1000 characters.",
    ),
    "text without end": (
        "type: ns3::RoceTransport}",
        f"type: ns3::RoceTransport, attributes: {{PathSelector: {'x' * 1001}}}}}",
        "is not one line of at most 1000 characters.",
    ),
    "a buffer of nothing": (
        "buffer: 8 MB", "buffer: 0 B",
        "switch.buffer: 0 B is out of range; it must be at least 1 B.",
    ),
    "a message of all there is": (
        "message: 1 MB", "message: 9223372036854775807 B",
        "out of range; it must be at most 8192 TiB.",
    ),
    "years": ("stop: 20 ms", "stop: 9000000 s", "small.yaml:8: stop: 9000000 s is out of range"),
    "a number with a colon": ("seed: [1, 2]", "seed: [1:30]", "seed: '1:30' (text) is not a whole"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_it_is_refused_in_one_line(small, old, new, message):
    assert old in small.text
    with pytest.raises(SpecError, match=re.escape(message)) as found:
        small.plan(small.text.replace(old, new))
    assert "\n" not in str(found.value)


def test_a_scale_is_no_thing_to_set(small):
    with pytest.raises(SpecError, match="--set scales.smoke: a scale is chosen with --scale NAME."):
        small.plan(sets=[("scales.smoke", {})])


def test_the_largest_sweep_is_planned_and_one_more_is_refused_before_it_is(small, monkeypatch):
    monkeypatch.setattr("pyorch.spec.planning.MOST_RUNS", 4)
    assert len(small.plan()) == 4
    text = small.text.replace("seed: [1, 2]", "seed: [1, 2, 3]")
    message = "sweep: 2 variants x 3 of seed = 6 runs; at most 4. Sweep less."
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(text)


def test_ten_million_runs_are_refused_without_planning_one(small, monkeypatch):
    monkeypatch.setattr("pyorch.spec.resolve.Resolver.resolve", None)  # cannot be called
    many = str(list(range(1, 301)))
    sweep = f"seed: {many}\n  workload.message: {many}\n  stop: {many}"
    with pytest.raises(SpecError, match="= 54,000,000 runs; at most 100,000"):
        small.plan(small.text.replace("seed: [1, 2]", sweep))
    assert MOST_RUNS == 100_000


@pytest.mark.parametrize(
    ("word", "seed"), [("010", 10), ("0o10", 8), ("0x10", 16), ("+7", 7), ("0_1", None)]
)
def test_numbers_are_those_of_yaml_1_2(small, word, seed):
    text = small.text.replace("seed: [1, 2]", f"seed: [{word}]")
    if seed is None:
        with pytest.raises(SpecError, match="is not a whole number"):
            small.plan(text)
    else:
        assert {run.seed for run in small.plan(text)} == {seed}


def test_a_buffer_without_limit_is_written_none(small):
    (run,) = small.plan(
        small.text.replace("buffer: 8 MB", "buffer: none"), "smoke", variant="windowed"
    )
    assert run.spec.switch.buffer_bytes is None


def test_pfc_fits_a_buffer_without_limit(small):
    text = small.text.replace("buffer: 8 MB", "buffer: none").replace("50 kB", "50 GB")
    assert len(small.plan(text, "smoke", variant="lossless")) == 1
