# SPDX-License-Identifier: GPL-2.0-only
"""Demands as sources have shown them in the last epoch, served max-min fair as by `wan-te`."""

from typing import Annotated, Any

from pydantic import Field

from pyorch.spec.fields import Closed, Number, RateBps
from pyorch.wan import maxmin
from pyorch.wan import plan as max_min_fair
from pyorch.wan.online import Seen
from pyorch.wan.plan import Plan
from pyorch.wan.request import Demand, Point, Request


class Params(Closed):
    """A demand is taken for what it has sent and `margin` of that, and what waits; or `least`.

    The margin is for what it grows by until the next epoch; what waits is to go in one epoch.
    """

    margin: Annotated[Number, Field(ge=0, le=10)] = 0.1
    least_bps: RateBps = Field(1_000_000, alias="least")


def plan(params: Params, request: Request, seen: Seen, memory: dict[str, Any]) -> Plan:
    """Return the max-min fair rates of what demands are taken for."""
    demands = [_shown(params, demand, seen) for demand in request.demands]
    return max_min_fair(request.model_copy(update={"demands": demands}), possible=False)


def _shown(params: Params, demand: Demand, seen: Seen) -> Demand:
    """Return a demand with the same claim to each share, up to what it has shown."""
    waiting_bps = seen.waiting_bits[demand.name] / (seen.interval_ps / 1e12)
    shown_bps = seen.sent_bps[demand.name] * (1 + params.margin) + waiting_bps
    most_bps = max(params.least_bps, round(shown_bps))
    if not demand.function:
        return demand.model_copy(update={"demand_bps": most_bps})
    points = [
        Point.model_construct(share=share, rate_bps=round(rate_bps))
        for share, rate_bps in maxmin.capped(
            demand.points(), min(most_bps, demand.points()[-1][1])
        )[1:]
    ]
    return demand.model_copy(update={"function": points})
