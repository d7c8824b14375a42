# SPDX-License-Identifier: GPL-2.0-only
"""Gives a claim and its computed value one status by one rule; no row has a tolerance.

The rule looks at the precision a document prints, so a miss cannot be tuned away. What was chosen
because it lands near the document, or where the document contradicts itself, is declared so in
claims.csv and never counts as reproduced.
"""

import math

from pyorch.theory.golden.claims import Claim

MATCH = "MATCH"
TRUNC = "TRUNC"
CLOSE = "CLOSE"
DEVIATES = "DEVIATES"
ANCHOR_OK = "ANCHOR_OK"
ANCHOR_MISS = "ANCHOR_MISS"

#: Statuses that a rule finds out, and what each says; the rest are declared.
FOUND = {
    MATCH: "rounds to the printed digits",
    TRUNC: "truncates to the printed digits",
    CLOSE: "other digits, but within 1 %",
    DEVIATES: "more than 1 % off",
    ANCHOR_OK: "meets what the text says about a plot",
    ANCHOR_MISS: "does not meet what the text says about a plot",
}
DECLARED = {
    "HYPOTHESIS": "inferred: a free choice that lands near the document; not reproduced",
    "DOC_ERROR": "the document contradicts itself; computed is the consistent value",
    "REJECTED": "a reading that was tried and discarded",
    "QUALITATIVE": "said in words, not scored",
    "DERIVED": "follows from the model; the document prints no value",
    "NOT_DERIVABLE": "no formula gives it",
    "INPUT": "given",
    "EXTERNAL": "check against a third source",
}
MEANING = FOUND | DECLARED
REPRODUCED = frozenset({MATCH, TRUNC, ANCHOR_OK})

#: Half a unit, with room for the rounding of binary floating point and nothing else.
_HALF = 0.5 * (1 + 1e-9)
_CLOSE_RATIO = 0.01


def judge(claim: Claim, computed: float | None) -> str:
    """Return the status of one row.

    Rules: ``printed`` compares digits; ``within x points`` and ``<``, ``<=``, ``>`` are what the
    text says about a plot; everything else is declared and returned in capitals.

    Parameters
    ----------
    claim : Claim
        The row.
    computed : float or None
        In the unit of the row; None where nothing can be computed.
    """
    if claim.rule.upper() in DECLARED:
        return claim.rule.upper()
    if claim.document_value is None or computed is None:
        raise ValueError(f"{claim.id}: rule '{claim.rule}' needs a printed and a computed value")
    if claim.rule == "printed":
        return _digits(claim.document_value, computed, claim.printed_unit)
    return ANCHOR_OK if _meets(claim.rule, claim.document_value, computed) else ANCHOR_MISS


def _digits(document: float, computed: float, unit: float | None) -> str:
    """Return the status by the last printed digit."""
    if unit is None:
        raise ValueError("a row with rule 'printed' needs the unit of its last digit")
    if abs(computed - document) <= _HALF * unit:
        return MATCH
    # document <= computed < document + unit, with the same room for binary rounding.
    steps = (computed - document) / unit
    if -1e-6 <= steps < 1 - 1e-9:
        return TRUNC
    off = abs(computed - document) / abs(document) if document else math.inf
    return CLOSE if off <= _CLOSE_RATIO else DEVIATES


def _meets(rule: str, document: float, computed: float) -> bool:
    """Return whether a statement about a plot holds."""
    match rule.split():
        case ["within", points, "points"]:
            return abs(computed - document) <= float(points)
        case [">"]:
            return computed > document
        case ["<"]:
            return computed < document
        case ["<="]:
            return computed <= document
    raise ValueError(f"unknown rule '{rule}'")
