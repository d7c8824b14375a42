# SPDX-License-Identifier: GPL-2.0-only
"""Every number of the two source documents, against values computed by another program.

golden.csv is that program's table (seven digits). The package never reads it.
"""

import csv
import math
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pyorch.cli.theory.app import app
from pyorch.theory import golden
from pyorch.theory.golden import claims, status

ORACLE = Path(__file__).with_name("golden.csv")
#: Means over random draws, with what the multiplier of another 20 draws may differ by.
MONTE_CARLO = {"p.fct.single_path": 1.0}


def oracle():
    with ORACLE.open(encoding="utf-8") as lines:
        return {row["id"]: row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def computed():
    return {row.claim.id: row for row in golden.rows()}


def test_no_row_is_missing_and_none_is_added(computed):
    assert list(computed) == list(oracle())
    assert len(computed) == 327


@pytest.mark.parametrize("row", oracle().values(), ids=oracle())
def test_value_and_status_agree(row, computed):
    ours = computed[row["id"]]

    assert ours.status == row["note"].split(";")[0]
    if row["computed_value"] == "":
        assert ours.computed is None
    elif row["computed_value"] == "never":
        assert ours.computed == math.inf
    elif row["id"] in MONTE_CARLO:
        expected = float(row["computed_value"])
        assert ours.computed == pytest.approx(expected, abs=MONTE_CARLO[row["id"]])
    else:
        assert ours.computed == pytest.approx(float(row["computed_value"]), rel=1e-6)


@pytest.mark.parametrize("row", oracle().values(), ids=oracle())
def test_what_the_document_prints_is_copied_right(row):
    claim = claims.read_claims()[row["id"]]

    assert (claim.source_section, claim.quantity, claim.unit) == (
        row["source_section"], row["quantity"], row["unit"],
    )  # fmt: skip
    if row["document_value"]:
        assert claim.document_value == pytest.approx(float(row["document_value"]), rel=5e-7)
    else:
        assert claim.document_value is None


def test_statuses_are_as_many_as_the_oracle_has(computed):
    expected = Counter(row["note"].split(";")[0] for row in oracle().values())

    assert Counter(row.status for row in computed.values()) == expected


def test_no_inferred_or_contradicted_row_counts_as_reproduced(computed):
    # By the rule of its row in the claims, not by the status that the package found.
    for row in computed.values():
        if row.claim.rule in ("hypothesis", "doc_error", "rejected", "derived", "input"):
            assert row.status not in status.REPRODUCED, row.claim.id


def claim(document, rule, unit=None):
    return claims.Claim("p.x", "", "", "", document, rule, unit, "", "")


@pytest.mark.parametrize(
    ("document", "rule", "unit", "value", "expected"),
    [
        # 4.16 printed to 0.01: 4.155 to 4.165 round to it; 4.1699 truncates to it.
        (4.16, "printed", 0.01, 4.1649, "MATCH"),
        (4.16, "printed", 0.01, 4.165, "MATCH"),
        (4.16, "printed", 0.01, 4.1551, "MATCH"),
        (4.16, "printed", 0.01, 4.1699, "TRUNC"),
        (4.16, "printed", 0.01, 4.17, "CLOSE"),
        (4.16, "printed", 0.01, 4.1549, "CLOSE"),
        # 1 % of 4.16 is 0.0416.
        (4.16, "printed", 0.01, 4.2015, "CLOSE"),
        (4.16, "printed", 0.01, 4.2017, "DEVIATES"),
        (4.16, "printed", 0.01, 4.1183, "DEVIATES"),
        (20, "within 2.5 points", None, 17.5, "ANCHOR_OK"),
        (20, "within 2.5 points", None, 17.4, "ANCHOR_MISS"),
        (40, ">", None, 40, "ANCHOR_MISS"),
        (40, ">", None, 40.1, "ANCHOR_OK"),
        (5, "<", None, 5, "ANCHOR_MISS"),
        (20, "<=", None, 20, "ANCHOR_OK"),
        (20, "<=", None, 20.1, "ANCHOR_MISS"),
        (5, "hypothesis", None, 5, "HYPOTHESIS"),
        (66.1, "doc_error", None, 66.1, "DOC_ERROR"),
    ],
)
def test_one_rule_gives_the_status(document, rule, unit, value, expected):
    assert status.judge(claim(document, rule, unit), value) == expected


def test_an_unknown_rule_is_an_error():
    with pytest.raises(ValueError, match="unknown rule 'about'"):
        status.judge(claim(1, "about"), 1)


def test_the_command_prints_every_row():
    result = CliRunner().invoke(app, ["golden", "--format", "csv"])
    rows = list(csv.DictReader(result.stdout.splitlines()))

    assert result.exit_code == 0
    assert list(rows[0]) == [
        "id", "quantity", "unit", "document_value", "computed_value", "status", "source"
    ]  # fmt: skip
    assert [row["id"] for row in rows] == list(oracle())
    (stage,) = (row for row in rows if row["id"] == "p.moe.stage4")
    assert (stage["document_value"], stage["unit"], stage["source"]) == ("66.1", "ms", "P§5")
    found = {row["id"]: row["computed_value"] for row in rows}
    assert found["p.wan.thr.once-rtt.moe.1"] == "never"
    assert found["p.fct.roce"] == ""
    assert float(found["p.exp.dense"]) == pytest.approx(4.949095, rel=1e-6)
