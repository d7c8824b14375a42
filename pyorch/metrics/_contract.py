# SPDX-License-Identifier: GPL-2.0-only
"""What a metric has: one question, asked of each run."""

from typing import ClassVar, Protocol

import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec


class Contract(Protocol):
    """One file of this folder."""

    OPTIONAL: ClassVar[tuple[str, ...]] = ("refusal", "across")

    @staticmethod
    def measure(run: RunTables) -> pd.DataFrame:
        """Return the answer, one row or many; units are in the names of the columns."""

    @staticmethod
    def refusal(spec: Spec) -> str:
        """Return why runs of a resolved spec cannot be asked; nothing if they can.

        Without it every run can. A sweep makes the metrics that all its runs can be asked.
        """

    @staticmethod
    def across(table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of all runs of a scenario with what only several of them can say."""
