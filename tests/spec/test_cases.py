# SPDX-License-Identifier: GPL-2.0-only
"""Cases are a second dimension of named changes: each is crossed with each variant it has."""

import re

import pandas as pd
import pytest

from pyorch import metrics, plugins
from pyorch.errors import SpecError

CASES = """\
cases:
  short: {workload.message: 1 kB}
  degraded:
    label: One slow link
    failures: [{type: scheduled, links: [[0, 8]], at: 1 us, rate: 100 Gb/s}]
    transport.attributes.Rto: 1 ms
    exclude: [lossless]
"""


@pytest.fixture
def crossed(small):
    return small.text + CASES


def points(runs):
    return [(run.case, run.variant, run.seed) for run in runs]


def test_a_case_is_crossed_with_the_variants_it_does_not_exclude_and_the_sweep(small, crossed):
    runs = small.plan(crossed)

    assert points(runs) == [
        ("short", "lossless", 1), ("short", "lossless", 2),
        ("short", "windowed", 1), ("short", "windowed", 2),
        ("degraded", "windowed", 1), ("degraded", "windowed", 2),
    ]  # fmt: skip
    assert [run.case_label for run in runs[::2]] == ["short", "short", "One slow link"]
    assert [run.label for run in runs[::2]] == ["With PFC", "windowed", "windowed"]


def test_cases_alone_are_crossed_with_the_sweep(small, crossed):
    head, _, rest = crossed.partition("variants:")
    text = head + rest[rest.index("scales:") :].replace("    exclude: [lossless]\n", "")

    assert points(small.plan(text, "smoke")) == [("short", "", 1), ("degraded", "", 1)]


def test_a_case_comes_after_the_scale_and_before_the_variant(small, crossed):
    *_, degraded = small.plan(crossed, "smoke")
    short = small.plan(crossed, "smoke")[0]

    assert short.spec.workload[0].params.message_bytes == 1000  # smoke says 10 kB
    assert degraded.spec.transport[0].attributes["Rto"] == "320us"  # the case says 1 ms
    assert [failure.type for failure in degraded.spec.failures] == ["scheduled"]


def test_a_case_that_changes_nothing_has_the_names_of_a_scenario_without_cases(small):
    assert small.ids(small.text + "cases: {as_it_is: {}}") == small.ids()


def test_one_case_or_variant_is_chosen_by_its_name(small, crossed):
    assert points(small.plan(crossed, "smoke", case="short")) == [
        ("short", "lossless", 1), ("short", "windowed", 1)
    ]  # fmt: skip
    assert points(small.plan(crossed, "smoke", case="short", variant="windowed")) == [
        ("short", "windowed", 1)
    ]
    assert points(small.plan(crossed, "smoke", variant="lossless")) == [("short", "lossless", 1)]


def test_a_scale_may_leave_only_some_cases_and_variants(small, crossed):
    text = crossed.replace("smoke: {", "smoke: {cases: [degraded], variants: [windowed], ")
    assert points(small.plan(text, "smoke")) == [("degraded", "windowed", 1)]
    text = crossed.replace("smoke: {", "smoke: {variants: [windowed], ")  # exclude names another
    assert points(small.plan(text, "smoke")) == [
        ("short", "windowed", 1), ("degraded", "windowed", 1)
    ]  # fmt: skip


WRONG = {
    "an exclusion of what is not there": (
        "exclude: [lossless]", "exclude: [losless]",
        "small.yaml:25: cases.degraded.exclude: no variant 'losless'. There are lossless,"
        " windowed.",
    ),
    "an exclusion that is no list": (
        "exclude: [lossless]", "exclude: lossless",
        "small.yaml:21: cases.degraded: exclude: write a list of names of variants: [a, b].",
    ),
    "all excluded": (
        "cases:\n  short: {", "cases:\n  short: {exclude: [lossless, windowed], ", None,
    ),
    "a case that is no mapping": (
        "short: {workload.message: 1 kB}", "short: 1",
        "small.yaml:20: cases.short: write label and key paths with values below it.",
    ),
    "a name with a space": ("short: {", '"a b": {', "cases.a b: 'a b' is no name of a case."),
    "a sweep in a case": (
        "short: {", "short: {sweep.seed: [1], ", "cases.short.sweep.seed: sweep is not looked at",
    ),
    "a case in a variant": (
        "windowed: {", "windowed: {cases.short: 1, ", "variants.windowed.cases.short: cases is not",
    ),
    "an exclusion in a variant": (
        "windowed: {", "windowed: {exclude: [a], ",
        "variants.windowed: exclude: there is no such key.",
    ),
    "a key that is not there": (
        "short: {", "short: {link.rates: 1 Gb/s, ", "small.yaml:20: cases.short: link.rates: there",
    ),
    "a scale with another case": (
        "smoke: {", "smoke: {cases: [shart], ",
        "scales.smoke.cases: no case 'shart'. There are short, degraded. Did you mean short?",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG.values(), ids=WRONG)
def test_it_is_refused_in_one_line(small, crossed, old, new, message):
    assert old in crossed
    text = crossed.replace(old, new)
    if message is None:
        assert {run.case for run in small.plan(text, "smoke")} == {"degraded"}
        text = text.replace("exclude: [lossless]\n", "exclude: [lossless, windowed]\n")
        message = "small.yaml: cases: every case excludes all variants, so there is no run."
    with pytest.raises(SpecError, match=re.escape(message)) as found:
        small.plan(text, "smoke")
    assert "\n" not in str(found.value)


def test_an_unknown_case_is_answered_with_the_known_ones(small, crossed):
    with pytest.raises(SpecError, match="no case 'shorts'. There are short, degraded. Did"):
        small.plan(crossed, case="shorts")
    with pytest.raises(SpecError, match="no case 'short'. There are none."):
        small.plan(case="short")
    with pytest.raises(SpecError, match="case degraded excludes variant lossless"):
        small.plan(crossed, case="degraded", variant="lossless")


def test_the_product_is_bounded_before_a_pair_is_made(small, crossed, monkeypatch):
    monkeypatch.setattr("pyorch.spec.planning.MOST_RUNS", 5)
    message = "sweep: 3 pairs of case and variant x 2 of seed = 6 runs; at most 5. Sweep less."
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(crossed)


def test_small_tables_say_which_case_a_row_is_of_and_only_if_there_are_cases(
    small, crossed, tmp_path, monkeypatch
):
    class Metric:
        @staticmethod
        def measure(run):
            return pd.DataFrame({"x": [1]})

    planned = [small.plan(text, "smoke") for text in (crossed, small.text)]
    monkeypatch.setattr(plugins, "load", lambda package, name: Metric)
    for runs, columns in zip(planned, (["case", "case_label"], []), strict=True):
        for run in runs:
            (tmp_path / run.folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / run.folder / "flows.parquet").touch()
        table = metrics.collect("any", runs, tmp_path)

        about = ["scenario", "scale", *columns, "variant", "label", "seed", "run"]
        assert list(table.columns) == [*about, "x"]
        if columns:
            assert table["case"].tolist() == ["short", "short", "degraded"]
            assert table["case_label"].tolist() == ["short", "short", "One slow link"]


def test_a_case_or_variant_of_another_scale_is_said_to_be_there(small, crossed):
    chosen = "  laptop: {cases: [short], variants: [lossless]}\n"
    text = crossed.replace("scales:\n", f"scales:\n{chosen}")
    with pytest.raises(
        SpecError, match="no case 'degraded'.* degraded is there with --scale smoke and"
    ):
        small.plan(text, "laptop", case="degraded")
    with pytest.raises(SpecError, match=r"windowed'.*with --scale smoke and --scale paper\.$"):
        small.plan(text, "laptop", variant="windowed")
    with pytest.raises(SpecError, match=r"no case 'none'\. There are short\.$"):
        small.plan(text, "laptop", case="none")
