# SPDX-License-Identifier: GPL-2.0-only
"""Reads claims.csv: what the two documents print, row by row, and how each row is judged."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "claims.csv"


@dataclass(frozen=True)
class Claim:
    """One quantity of a document.

    Attributes
    ----------
    id : str
        ``p.`` the paper, ``b.`` the blog; then the topic.
    source_section, quantity, unit : str
        Where it is printed, what it is, and the unit of both values.
    document_value : float or None
        None where the document prints nothing.
    rule : str
        How computed and printed value are compared; see `status.judge`.
    printed_unit : float or None
        One in the last printed digit.
    formula, remark : str
        How it is computed, and what a reader should know.
    """

    id: str
    source_section: str
    quantity: str
    unit: str
    document_value: float | None
    rule: str
    printed_unit: float | None
    formula: str
    remark: str

    @property
    def document(self) -> str:
        """Which document prints it."""
        return "paper" if self.id.startswith("p.") else "blog"

    @property
    def topic(self) -> str:
        """Second part of the id."""
        return self.id.split(".")[1]


@cache
def read_claims() -> dict[str, Claim]:
    """Return every row by its id, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: _claim(row) for row in csv.DictReader(lines)}


def _claim(row: dict[str, str]) -> Claim:
    values: dict[str, Any] = dict(row)
    for key in ("document_value", "printed_unit"):
        values[key] = float(row[key]) if row[key] else None
    return Claim(**values)


def printed(claim_id: str) -> float:
    """Return the value that a document prints, for rows that compute with it."""
    value = read_claims()[claim_id].document_value
    if value is None:
        raise KeyError(f"the document prints no value for {claim_id}")
    return value
