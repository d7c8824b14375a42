# SPDX-License-Identifier: GPL-2.0-only
"""Links, switches or planes that fail or slow down at given times, once or again and again."""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.failure._outage import (
    NEVER_PS,
    Outages,
    check_slower,
    links_between,
    links_of,
    planes,
    switches_of,
)
from pyorch.spec.fields import Closed, Count, FieldError, RateBps, TimePs
from pyorch.spec.limits import MOST_OUTAGES
from pyorch.units import TIME, format_exact

Node = Annotated[int, Field(strict=True, ge=0)]
Period = Annotated[TimePs, Field(ge=1)]


class Params(Closed):
    """What fails (`links` as pairs of node ids, `switches`, `planes`), when, and how badly.

    From `at` on for `duration` (default: for good) the links are cut, or run at `rate`. With
    `times` and `every` the same happens again: a link that flaps.
    """

    links: tuple[tuple[Node, Node], ...] = ()
    switches: tuple[Node, ...] = ()
    planes: tuple[Node, ...] = ()
    at_ps: TimePs = Field(alias="at")
    duration_ps: Period | None = Field(None, alias="duration")
    rate_bps: RateBps | None = Field(None, alias="rate")
    times: Count = 1
    every_ps: Period | None = Field(None, alias="every")


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if what fails does not exist, or the times contradict each other."""
    if not (params.links or params.switches or params.planes):
        raise FieldError("links", "nothing fails. Name links, switches or planes.")
    for a, b in params.links:
        if not len(links_between(links, a, b)):
            raise FieldError(
                "links",
                f"there is no link between nodes {a} and {b}. {_neighbours(nodes, links, a)}",
            )
    switches = set(switches_of(nodes).tolist())
    if missing := sorted(set(params.switches) - switches):
        raise FieldError(
            "switches", f"node {missing[0]} is no switch. Switches: {min(switches)} to"
            f" {max(switches)}.",
        )  # fmt: skip
    known = planes(nodes)
    if missing := sorted(set(params.planes) - set(known)):
        raise FieldError("planes", f"there is no plane {missing[0]}. Planes: {known}.")
    if params.at_ps >= stop_ps:
        raise FieldError(
            "at", f"{format_exact(params.at_ps, TIME)} is not before stop,"
            f" {format_exact(stop_ps, TIME)}. Raise stop.",
        )  # fmt: skip
    last_ps = params.at_ps + (params.times - 1) * (params.every_ps or 0)
    if last_ps + (params.duration_ps or 0) >= NEVER_PS:
        raise FieldError(
            "at", f"the last outage would end later than {NEVER_PS} ps. Leave `duration` out for an"
            " outage for good, or make `times` or `every` less.",
        )  # fmt: skip
    if params.times > 1 and (params.every_ps is None or params.duration_ps is None):
        raise FieldError("times", "what fails again needs `duration` and `every`.")
    if params.times > 1 and params.every_ps <= params.duration_ps:
        raise FieldError("every", "must be longer than `duration`, or the link never comes back.")
    if last_ps >= stop_ps:
        raise FieldError(
            "times", f"the last of {params.times} outages would begin at"
            f" {format_exact(last_ps, TIME)}, which is not before stop,"
            f" {format_exact(stop_ps, TIME)}. Raise stop, or write less.",
        )  # fmt: skip
    hit = _hit(params, nodes, links)
    if params.times * len(hit) > MOST_OUTAGES:
        raise FieldError(
            "times", f"{params.times} times {len(hit)} links are {params.times * len(hit):,}"
            f" outages; at most {MOST_OUTAGES:,}. Write less.",
        )  # fmt: skip
    check_slower(params.rate_bps, links, hit)


def _hit(params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]) -> np.ndarray:
    """Return the rows of the links that fail, each once."""
    down = set(params.switches)
    for plane in params.planes:
        down.update(switches_of(nodes, plane).tolist())
    hit = [links_between(links, a, b) for a, b in params.links]
    return np.unique(np.concatenate([*hit, links_of(links, down)]))


def _neighbours(nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], node: int) -> str:
    """Return what a node has links to, in words."""
    if node not in nodes["node"]:
        return f"There is no node {node}."
    own = links_of(links, [node])
    ends = np.unique([links["node_a"][own], links["node_b"][own]])
    others = ends[ends != node].tolist()
    shown = ", ".join(map(str, others[:8])) + (", ..." if len(others) > 8 else "")
    return f"Node {node} has links to {shown}."


def outages(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int,
    stop_ps: int,
) -> Outages:  # fmt: skip
    """Return the outages; the seed decides nothing here."""
    link = _hit(params, nodes, links)
    start_ps = params.at_ps + np.arange(params.times) * (params.every_ps or 0)
    end_ps = np.full(len(start_ps), NEVER_PS)
    if params.duration_ps is not None:
        end_ps = start_ps + params.duration_ps
    return Outages(
        link=np.repeat(link, len(start_ps)),
        start_ps=np.tile(start_ps, len(link)),
        end_ps=np.tile(end_ps, len(link)),
        rate_bps=np.full(len(link) * len(start_ps), params.rate_bps or 0),
    )
