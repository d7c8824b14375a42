# SPDX-License-Identifier: GPL-2.0-only
"""Fat tree of 2, 3 or 4 tiers of alike switches: half the ports of each lead down.

Source: k-ary fat tree, Al-Fares et al., SIGCOMM 2008; with radix k and n tiers 2 (k/2)^n hosts.
Oversubscription r of a tier uses k/2/r ports up instead of k/2; the others stay empty, so the
number of hosts is the same. Node ids and the tables are those of `_clos`.
"""

from fractions import Fraction
from math import gcd
from typing import Annotated, Any

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.spec.fields import (
    FILLED,
    Closed,
    Count,
    DelayPs,
    FieldError,
    Number,
    RateBps,
    written_as,
)
from pyorch.spec.resolved import Link
from pyorch.topology import _clos

MOST_HOSTS = 2**20


class Params(Closed):
    """Numbers of a fat tree; lists have one entry for each tier but the top, edge first.

    `pods` (the children of a top switch) may be less than what fits, for fewer hosts. The links
    above the edge have the rate and delay of `link` unless `uplink_rate`, `uplink_delay` say
    otherwise.
    """

    tiers: Annotated[int, Field(strict=True, ge=2, le=4)]
    radix: Annotated[int, Field(strict=True, ge=2, le=2**20)]
    oversubscription: list[Annotated[Number, Field(ge=1)]] = Field(json_schema_extra=FILLED)
    parallel: list[Count] = Field(json_schema_extra=FILLED)
    pods: Count = Field(json_schema_extra=FILLED)
    planes: Count = 1
    uplink_rate_bps: Annotated[list[RateBps], written_as(RateBps | list[RateBps])] = Field(
        alias="uplink_rate", json_schema_extra=FILLED
    )
    uplink_delay_ps: Annotated[list[DelayPs], written_as(DelayPs | list[DelayPs])] = Field(
        alias="uplink_delay", json_schema_extra=FILLED
    )

    @model_validator(mode="before")
    @classmethod
    def _settle(cls, given: Any, info: ValidationInfo) -> object:
        """Fill in what follows from tiers, radix and link, so that a spec leaves nothing open."""
        tiers = given.get("tiers") if isinstance(given, dict) else None
        if not isinstance(tiers, int) or not 2 <= tiers <= 4:
            return given  # what the fields say of it is better
        ones = [1] * (tiers - 1)
        settled: dict[str, Any] = {"oversubscription": ones, "parallel": ones, **given}
        if info.context:
            link = info.context["link"]
            settled.setdefault("uplink_rate", f"{link.rate_bps} bit/s")
            settled.setdefault("uplink_delay", f"{link.delay_ps} ps")
        for key in ("uplink_rate", "uplink_delay"):
            if isinstance(settled.get(key), str):
                settled[key] = [settled[key]] * (tiers - 1)
        radix, parallel = given.get("radix"), settled["parallel"]
        if isinstance(radix, int) and isinstance(parallel, list) and parallel:
            last = parallel[-1] if isinstance(parallel[-1], int) and parallel[-1] > 0 else 1
            settled.setdefault("pods", max(radix // last, 1))
        return settled

    @model_validator(mode="after")
    def _is_a_fat_tree(self) -> "Params":
        """Refuse what has no such graph, with the key and what is allowed."""
        if self.radix % 2:
            raise FieldError(
                "radix",
                f"{self.radix} is odd: half the ports of a switch lead down and half up."
                f" Write an even number, for example {self.radix + 1}.",
            )
        for key in ("oversubscription", "parallel", "uplink_rate", "uplink_delay"):
            field = {"uplink_rate": "uplink_rate_bps", "uplink_delay": "uplink_delay_ps"}
            n_given = len(getattr(self, field.get(key, key)))
            if n_given != self.tiers - 1:
                raise FieldError(
                    key,
                    f"a list of {n_given}; {self.tiers} tiers need one entry for each tier but"
                    f" the top, edge first: {self.tiers - 1}.",
                )
        half = self.radix // 2
        for tier, (ratio, parallel) in enumerate(
            zip(self.oversubscription, self.parallel, strict=True), 1
        ):
            self._check_tier(tier, half, Fraction(str(ratio)), parallel)
        if self.pods > self.radix // self.parallel[-1]:
            raise FieldError(
                "pods",
                f"{self.pods} pods do not fit: a top switch has {self.radix} ports,"
                f" {self.parallel[-1]} for each pod; at most {self.radix // self.parallel[-1]}.",
            )
        if shape(self).hosts > MOST_HOSTS:
            raise FieldError(
                "radix",
                f"{self.tiers} tiers of radix {self.radix} have {shape(self).hosts} hosts; at most"
                f" {MOST_HOSTS}. Lower radix, tiers or pods.",
            )
        return self

    @staticmethod
    def _check_tier(tier: int, half: int, ratio: Fraction, parallel: int) -> None:
        """Refuse ports of a tier that do not come out as whole numbers."""
        if half % ratio:
            allowed = [str(r) for r in range(1, half + 1) if half % r == 0]
            raise FieldError(
                "oversubscription",
                f"{float(ratio):g} in tier {tier}: {half} ports down over {float(ratio):g} is no"
                f" whole number of ports up. Allowed are {', '.join(allowed)} and fractions that"
                " come out whole.",
            )
        up = int(half / ratio)
        if up % parallel or half % parallel:
            allowed = [str(p) for p in range(1, up + 1) if gcd(up, half) % p == 0]
            raise FieldError(
                "parallel",
                f"{parallel} in tier {tier}: {up} ports up and {half} ports down of the tier above"
                f" cannot be shared out in bundles of {parallel}. Allowed: {', '.join(allowed)}.",
            )


def shape(params: Params) -> _clos.Clos:
    """Return the folded Clos with these numbers."""
    half, parallel = params.radix // 2, params.parallel
    ups = [int(half / Fraction(str(ratio))) for ratio in params.oversubscription]
    return _clos.Clos(
        children=(half, *(half // p for p in parallel[:-1]), params.pods),
        parents=tuple(up // p for up, p in zip(ups, parallel, strict=True)),
        parallel=tuple(parallel),
        planes=params.planes,
    )


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    return _clos.tables(
        shape(params),
        [link.rate_bps, *params.uplink_rate_bps],
        [link.delay_ps, *params.uplink_delay_ps],
        link.loss_ratio,
    )


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    return _clos.counts(shape(params))
