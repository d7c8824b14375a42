# SPDX-License-Identifier: GPL-2.0-only
"""Computes every number that the two documents print, and gives each an honest status.

claims.csv holds what is printed; the modules here compute, from the presets and the formulas of
pyorch.theory, one value for each row. Nothing here holds a computed number.
"""

from dataclasses import dataclass

from pyorch.theory.golden import (
    blog_inference,
    blog_training,
    exposed,
    infrastructure,
    materialization,
    scaling,
    stages,
    status,
    topology,
    transport,
)
from pyorch.theory.golden.claims import Claim, read_claims

_TOPICS = (
    infrastructure, scaling, materialization, stages, exposed, transport, topology,
    blog_training, blog_inference,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One row: what is printed, what we compute, and how they compare."""

    claim: Claim
    computed: float | None  #: unit of the claim; infinite where no rate is enough
    status: str

    @property
    def deviation(self) -> float | None:
        """Computed over printed, less one [1]; None where one of them does not exist."""
        document = self.claim.document_value
        if document is None or self.computed is None or not document:
            return None
        return self.computed / document - 1


def rows() -> list[Row]:
    """Return all rows in the order of the documents."""
    computed: dict[str, float] = {}
    for topic in _TOPICS:
        computed |= topic.rows()
    if unknown := computed.keys() - read_claims().keys():
        raise KeyError(f"rows that no document has: {', '.join(sorted(unknown))}")
    return [_row(claim, computed) for claim in read_claims().values()]


def _row(claim: Claim, computed: dict[str, float]) -> Row:
    """Return one row; a number that is only an input is computed by reading it."""
    value = computed.get(claim.id)
    if value is None and claim.rule == "input":
        value = claim.document_value
    value = None if value is None else float(value)
    return Row(claim, value, status.judge(claim, value))
