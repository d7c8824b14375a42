# SPDX-License-Identifier: GPL-2.0-only
"""Links, switches or planes that fail, slow down or lose frames at given times, once or more."""

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from pyorch.failure._outage import (
    BOTH,
    FROM_A,
    FROM_B,
    NEVER_PS,
    WHOLE_BPS,
    Outages,
    check_slower,
    links_between,
    links_of,
    merged,
    planes,
    switches_of,
)
from pyorch.spec.fields import Count, FieldError, Grown, Number, RateBps, TimePs
from pyorch.spec.limits import MOST_OUTAGES
from pyorch.units import TIME, format_exact

Node = Annotated[int, Field(strict=True, ge=0)]
Period = Annotated[TimePs, Field(ge=1)]


class Params(Grown):
    """What fails (`links` as pairs of node ids, `switches`, `planes`), when, and how badly.

    From `at` on for `duration` (default: for good) the links are cut, or run at `rate`. With
    `times` and `every` the same happens again: a link that flaps.

    With `loss` or `bit_error_ratio` the links are not cut: they lose this share of their frames,
    or these bits are wrong, and no routing hears of it; switches and planes fail in what they send.
    `heard_after` so long the links are cut, as by a protocol that watches them. `directions` are
    pairs of a sender and a receiver: links that fail in this direction alone.
    """

    LATER: ClassVar[tuple[str, ...]] = (
        "directions", "loss_ratio", "bit_error_ratio", "heard_after_ps",
    )  # fmt: skip

    links: tuple[tuple[Node, Node], ...] = ()
    directions: tuple[tuple[Node, Node], ...] = ()
    switches: tuple[Node, ...] = ()
    planes: tuple[Node, ...] = ()
    at_ps: TimePs = Field(alias="at")
    duration_ps: Period | None = Field(None, alias="duration")
    rate_bps: RateBps | None = Field(None, alias="rate")
    loss_ratio: Annotated[Number, Field(gt=0, le=1)] | None = Field(None, alias="loss")
    bit_error_ratio: Annotated[Number, Field(gt=0, lt=1)] | None = None
    heard_after_ps: Period | None = Field(None, alias="heard_after")
    times: Count = 1
    every_ps: Period | None = Field(None, alias="every")

    @property
    def loses(self) -> bool:
        """Whether frames are lost on links that are not cut."""
        return self.loss_ratio is not None or self.bit_error_ratio is not None


def check(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], stop_ps: int
) -> None:
    """Raise FieldError if what fails does not exist, or the times contradict each other."""
    if not (params.links or params.directions or params.switches or params.planes):
        raise FieldError("links", "nothing fails. Name links, directions, switches or planes.")
    for key in ("links", "directions"):
        for a, b in getattr(params, key):
            if not len(links_between(links, a, b)):
                raise FieldError(
                    key,
                    f"there is no link between nodes {a} and {b}. {_neighbours(nodes, links, a)}",
                )
    _check_silent(params)
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
    hit, _ = _hit(params, nodes, links)
    if params.times * len(hit) > MOST_OUTAGES:
        raise FieldError(
            "times", f"{params.times} times {len(hit)} links are {params.times * len(hit):,}"
            f" outages; at most {MOST_OUTAGES:,}. Write less.",
        )  # fmt: skip
    check_slower(params.rate_bps, links, hit)


def _check_silent(params: Params) -> None:
    """Raise FieldError for a cut in one direction, and for what cannot be heard of."""
    if params.directions and not (params.loses or params.rate_bps):
        raise FieldError(
            "directions", "a cut takes both directions of a link. Write `loss: 1` for one that"
            " loses all, and `heard_after` if routing hears of it.",
        )  # fmt: skip
    if params.heard_after_ps is None:
        return
    if not params.loses:
        raise FieldError(
            "heard_after", "is for `loss` and `bit_error_ratio`: of a cut routing hears after"
            " `switch.convergence`.",
        )  # fmt: skip
    if params.duration_ps is not None and params.heard_after_ps >= params.duration_ps:
        raise FieldError("heard_after", "must be shorter than `duration`, or nobody hears of it.")


def _hit(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of the links that fail, each once, and in which directions."""
    down = set(params.switches)
    for plane in params.planes:
        down.update(switches_of(nodes, plane).tolist())
    ways = np.zeros(len(links["node_a"]), dtype=np.int64)
    for a, b in params.links:
        ways[links_between(links, a, b)] = BOTH
    for sender, receiver in params.directions:
        rows = links_between(links, sender, receiver)
        ways[rows] |= np.where(links["node_a"][rows] == sender, FROM_A, FROM_B)
    if params.loses:
        ways |= FROM_A * np.isin(links["node_a"], list(down))
        ways |= FROM_B * np.isin(links["node_b"], list(down))
    else:
        ways[links_of(links, down)] = BOTH
    rows = np.flatnonzero(ways)
    return rows, ways[rows]


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
    link, ways = _hit(params, nodes, links)
    start_ps = params.at_ps + np.arange(params.times) * (params.every_ps or 0)
    end_ps = np.full(len(start_ps), NEVER_PS)
    if params.duration_ps is not None:
        end_ps = start_ps + params.duration_ps
    n_times = len(start_ps)
    rate_bps = params.rate_bps or (WHOLE_BPS if params.loses else 0)
    found = Outages(
        link=np.repeat(link, n_times),
        start_ps=np.tile(start_ps, len(link)),
        end_ps=np.tile(end_ps, len(link)),
        rate_bps=np.full(len(link) * n_times, rate_bps),
        direction=np.repeat(ways, n_times),
        loss_ratio=params.loss_ratio or 0.0,
        bit_error_ratio=params.bit_error_ratio or 0.0,
    )
    if params.heard_after_ps is None:
        return found
    cut_ps = found.start_ps + params.heard_after_ps
    return merged([found, Outages(found.link, cut_ps, found.end_ps, 0 * found.rate_bps)])
