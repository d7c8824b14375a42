# SPDX-License-Identifier: GPL-2.0-only
"""So many links or switches, drawn at random, that fail or slow down at one time."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from pyorch.draws import stream
from pyorch.failure._outage import NEVER_PS, Outages, check_slower, elements_of
from pyorch.spec.fields import Closed, FieldError, RateBps, TimePs
from pyorch.units import TIME, format_exact


class Params(Closed):
    """From `at` on for `duration` (default: for good) `count` of `what` are cut, or have `rate`.

    More of them are those that fewer were, and others: a sweep of `count` takes away one by one.
    """

    count: Annotated[int, Field(strict=True, ge=0)]
    what: Literal["links", "fabric_links", "switches"] = "fabric_links"
    at_ps: TimePs = Field(0, alias="at")
    duration_ps: Annotated[TimePs, Field(ge=1)] | None = Field(None, alias="duration")
    rate_bps: RateBps | None = Field(None, alias="rate")


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if there are not so many, or the times contradict each other."""
    elements = elements_of(params.what, nodes, links)
    if params.count > len(elements):
        raise FieldError(
            "count", f"{params.count}, but there are {len(elements)} {params.what} here."
            f" Write 0 to {len(elements)}.",
        )  # fmt: skip
    if params.at_ps >= stop_ps:
        raise FieldError(
            "at", f"{format_exact(params.at_ps, TIME)} is not before stop,"
            f" {format_exact(stop_ps, TIME)}. Raise stop.",
        )  # fmt: skip
    if elements:
        check_slower(params.rate_bps, links, np.concatenate(list(elements.values())))


def outages(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int,
    stop_ps: int,
) -> Outages:  # fmt: skip
    """Return one outage for each link that is hit."""
    rows = list(elements_of(params.what, nodes, links).values())
    order = stream(seed, f"failures drawn of {params.what}").permutation(len(rows))
    hit = np.concatenate([np.zeros(0, np.int64), *(rows[i] for i in order[: params.count])])
    hit = np.unique(hit.astype(np.int64))
    end_ps = NEVER_PS if params.duration_ps is None else params.at_ps + params.duration_ps
    return Outages(
        link=hit,
        start_ps=np.full(len(hit), params.at_ps, dtype=np.int64),
        end_ps=np.full(len(hit), end_ps, dtype=np.int64),
        rate_bps=np.full(len(hit), params.rate_bps or 0, dtype=np.int64),
    )
