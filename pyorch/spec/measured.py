# SPDX-License-Identifier: GPL-2.0-only
"""The section ``measured`` of a scenario: values that somebody has measured on hardware.

It changes no run. `pyorch measured` makes the runs and sets their values beside these.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from pyorch.spec.fields import Closed, MessageBytes, Number, quantity
from pyorch.units import SHARE

#: What a value is in, and what ours are divided by to be in it: ps, or bit/s.
UNITS = {"ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12, "Gb/s": 1e9, "GB/s": 8e9, "ratio": 1.0}
TIMES = ("ns", "us", "ms", "s")
RATES = ("Gb/s", "GB/s")
SharePpm = Annotated[int, quantity(SHARE), Field(ge=0, le=1_000_000)]
Text = Annotated[str, Field(min_length=1, max_length=1000)]


class Of(Closed):
    """Which runs: of a variant, of a case, of both; nothing is all."""

    variant: Text | None = None
    case: Text | None = None


class Ours(Of):
    """A column of a metric, as the mean of these runs.

    `over` divides it by the same column of other runs, `minus` subtracts that. `bytes` over a time
    are a rate. `where` chooses rows of the metric.
    """

    metric: Text
    column: Text
    where: dict[str, str | int] = {}
    over: Of | None = None
    minus: Of | None = None
    data_bytes: MessageBytes | None = Field(None, alias="bytes")

    @model_validator(mode="after")
    def _one(self) -> "Ours":
        if self.over and self.minus:
            raise ValueError("over and minus: write one of them.")
        return self


class Value(Closed):
    """A value that was measured; `uncertainty` is a share of it that its source states."""

    what: Text
    value: Annotated[Number, Field(gt=0)]
    unit: Literal["ns", "us", "ms", "s", "Gb/s", "GB/s", "ratio"]
    uncertainty_ppm: SharePpm = Field(0, alias="uncertainty")
    ours: Ours

    @model_validator(mode="after")
    def _fits(self) -> "Value":
        column, rate = self.ours.column, self.ours.data_bytes is not None
        has = "times" if column.endswith("_ps") else "rates" if column.endswith("_bps") else "none"
        wants = "times" if self.unit in TIMES else "rates" if self.unit in RATES else "none"
        if rate:
            has = "rates" if has == "times" else "none"
        if self.ours.over:
            has = "none"
        if has != wants:
            raise ValueError(
                f"unit: {self.unit} is no unit of {column}. Times are in {', '.join(TIMES)}, rates"
                f" in {', '.join(RATES)}, and all else is a ratio."
            )
        return self


class Measured(Closed):
    """What was measured, where that is published, and how far ours may be from it.

    `stated` are parameters that the source states, `assumed` those that it does not. `tolerance`
    was written down before the first run; a larger `uncertainty` of a value takes its place.
    `explained` says why ours differ.
    """

    source: Text
    setup: Text
    stated: Annotated[list[Text], Field(min_length=1)]
    assumed: list[Text] = []
    tolerance_ppm: SharePpm = Field(100_000, alias="tolerance")
    values: Annotated[list[Value], Field(min_length=1)]
    explained: Text | None = None
