# SPDX-License-Identifier: GPL-2.0-only
"""Runs are chosen by what they are, and of what is known of them by name."""

import re
from pathlib import Path

import pandas as pd
import pytest

from pyorch.errors import SpecError
from pyorch.runs import summary
from pyorch.runs.select import Known, table, where

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def run(variant, seed, rate_bps, rto="4ms", **others):
    parameters = {"link.rate_bps": rate_bps, "transport.0.attributes.Rto": rto, **others}
    return Known(
        {"variant": variant, "seed": seed}, parameters, lambda: {"slowest_fct_ps": 100 * seed}
    )


RUNS = [
    run("ndp", 1, 4 * 10**11, **{"link.flow_control": None, "workload.1.message_bytes": 2000}),
    run("ndp", 2, 8 * 10**11, **{"workload.0.message_bytes": 2000}),
    run("roce", 1, 8 * 10**11, "1ms", **{"transport.0.type": "ns3::Roce",
                                         "workload.0.file.path": "a.csv"}),
    run("roce", 2, 8 * 10**11, "1ms", **{"link.flow_control.type": "ns3::Pfc"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "places"),
    [
        ({}, [0, 1, 2, 3]),
        ({"variant": "ndp"}, [0, 1]),
        ({"variant": "ndp", "seed": 2}, [1]),
        ({"variant": ["ndp", "roce"], "seed": range(2)}, [0, 2]),
        ({"link.rate": "400 Gb/s"}, [0]),
        ({"link.rate_bps": 8 * 10**11}, [1, 2, 3]),
        ({"link.rate": ["0.4 Tb/s", "800 Gb/s"], "seed": "1"}, [0, 2]),
        ({"transport.attributes.Rto": "1 ms"}, [2, 3]),
        ({"transport.0.attributes.Rto": "4ms"}, [0, 1]),
        ({"link.flow_control.type": "ns3::Pfc"}, [3]),
        ({"link.flow_control.type": "none"}, [0, 1, 2]),
        ({"link.flow_control.type": None}, [0, 1, 2]),
        ({"link.flow_control": "none"}, [0, 1, 2]),
        ({"link.flow_control": "ns3::Pfc"}, [3]),
        ({"transport": "ns3::Roce"}, [2]),
        ({"workload.0.message": "2 kB"}, [1]),
        ({"workload.1.message": "2 kB"}, [0]),
        ({"workload.message": "2 kB"}, [1]),
        ({"workload.file": "a.csv"}, [2]),
        ({"slowest_fct_ps": "200 ps"}, [1, 3]),
        ({"variant": "swift"}, []),
        ({"seed": []}, []),
    ],
    ids=str,
)
def test_conditions_leave_the_runs_that_meet_all_of_them(conditions, places):
    assert where(RUNS, conditions) == places


def test_columns_have_their_full_names_and_whole_numbers():
    found = table(RUNS, ["seed", "link.rate", "link.flow_control.type", "slowest_fct_ps"])

    assert found.columns.tolist() == [
        "seed", "link.rate_bps", "link.flow_control.type", "slowest_fct_ps"
    ]  # fmt: skip
    assert found["link.rate_bps"].dtype == found["slowest_fct_ps"].dtype == pd.Int64Dtype()
    assert found["slowest_fct_ps"].tolist() == [100, 200, 100, 200]
    assert found["link.flow_control.type"].isna().tolist() == [True, True, True, False]
    assert table([], ["seed"]).empty and table(RUNS, []).empty


@pytest.mark.parametrize(
    ("conditions", "says"),
    [
        ({"varient": "ndp"}, "no run has a column 'varient'. There are variant, seed, the numbers"
         " of the summary, and the key paths of scenarios. Did you mean variant?"),
        ({"link.rte": 1}, "no run has a column 'link.rte'."),
        ({"link.rate": "400"}, "link.rate_bps: '400' has no unit I can read as a rate."),
    ],
)  # fmt: skip
def test_a_name_or_a_unit_that_there_is_not_is_one_line(conditions, says):
    with pytest.raises(SpecError, match=re.escape(says)) as found:
        where(RUNS, conditions)
    assert "\n" not in str(found.value)
    with pytest.raises(SpecError, match="no run has a column 'x'"):
        table(RUNS, ["x"])


def test_the_page_has_all_numbers_of_a_summary():
    section = PAGE.read_text().partition("\n## Summary\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert re.findall(r"`(\w+)`", " ".join(rows)) and summary.NAMES
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(summary.NAMES)
