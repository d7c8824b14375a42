# SPDX-License-Identifier: GPL-2.0-only
"""What failure models share: outages of links, which links they hit, and what they add up to."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.units import RATE, format_exact

#: End of an outage that outlasts every run [ps].
NEVER_PS = 2**62


@dataclass(frozen=True)
class Outages:
    """Links that are cut or slower for a while, one row each.

    Attributes
    ----------
    link : int64, n_outages
        Row in the link table.
    start_ps, end_ps : int64, n_outages
        First moment of the outage and first moment after it [ps].
    rate_bps : int64, n_outages
        Rate during the outage; 0 is a cut [bit/s].
    """

    link: np.ndarray
    start_ps: np.ndarray
    end_ps: np.ndarray
    rate_bps: np.ndarray


def merged(parts: list[Outages]) -> Outages:
    """Return the outages of several causes as one."""
    return Outages(
        *(
            np.concatenate([getattr(part, name) for part in parts]).astype(np.int64)
            for name in ("link", "start_ps", "end_ps", "rate_bps")
        )
    )


def link_events(outages: Outages, links: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the moments at which links change, as the engine's table ``link_events``.

    Where outages of one link overlap, the slowest holds; where none holds, the link has the rate
    of the link table.

    Parameters
    ----------
    outages : Outages
        From any number of causes.
    links : dict of int64 arrays
        Link table.

    Returns
    -------
    dict of int64 arrays
        ``time_ps, node_a, node_b, parallel, rate_bps``, by link and then by time; a row only
        where the rate differs from what it was.
    """
    order = np.lexsort((outages.start_ps, outages.link))
    found = [column[order].tolist() for column in (
        outages.link, outages.start_ps, outages.end_ps, outages.rate_bps)]  # fmt: skip
    rows = []
    for link, group in groupby(zip(*found, strict=True), key=lambda outage: outage[0]):
        changes = _changes([outage[1:] for outage in group], int(links["rate_bps"][link]))
        rows += [(time_ps, link, rate_bps) for time_ps, rate_bps in changes]
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 3)
    link = table[:, 1]
    parallel = links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))
    return {
        "time_ps": table[:, 0],
        "node_a": links["node_a"][link],
        "node_b": links["node_b"][link],
        "parallel": parallel[link],
        "rate_bps": table[:, 2],
    }


def _changes(outages: list[tuple[int, int, int]], whole_bps: int) -> list[tuple[int, int]]:
    """Return when the rate of one link changes, and to what.

    Parameters
    ----------
    outages : list of (start_ps, end_ps, rate_bps)
        By start.
    whole_bps : int
        Rate of the link without any; an outage does not make it faster.
    """
    found, holding, following, before_bps = [], [], 0, whole_bps
    for time_ps in sorted({time for start, end, _ in outages for time in (start, end)}):
        while following < len(outages) and outages[following][0] <= time_ps:
            _, end_ps, rate_bps = outages[following]
            heapq.heappush(holding, (min(rate_bps, whole_bps), end_ps))
            following += 1
        while holding and holding[0][1] <= time_ps:
            heapq.heappop(holding)  # others that are over stay until they would be the slowest
        now_bps = holding[0][0] if holding else whole_bps
        if now_bps != before_bps and time_ps < NEVER_PS:
            found.append((time_ps, now_bps))
        before_bps = now_bps
    return found


def check_slower(rate_bps: int | None, links: dict[str, np.ndarray], rows: np.ndarray) -> None:
    """Raise FieldError if links that fail to a rate would all be as fast as before, or faster."""
    fastest_bps = int(links["rate_bps"][rows].max(initial=0))
    if rate_bps is not None and rate_bps >= fastest_bps:
        raise FieldError(
            "rate",
            f"{format_exact(rate_bps, RATE)} is not slower than these links,"
            f" {format_exact(fastest_bps, RATE)}. Write less, or leave `rate` out for a cut.",
        )


def links_between(links: dict[str, np.ndarray], a: int, b: int) -> np.ndarray:
    """Return the rows of all parallel links between two nodes."""
    ends = np.sort(np.stack([links["node_a"], links["node_b"]]), axis=0)
    return np.flatnonzero((ends[0] == min(a, b)) & (ends[1] == max(a, b)))


def links_of(links: dict[str, np.ndarray], ids: Iterable[int]) -> np.ndarray:
    """Return the rows of all links that end at any of some nodes."""
    nodes = np.asarray(sorted(ids), dtype=np.int64)
    return np.flatnonzero(np.isin(links["node_a"], nodes) | np.isin(links["node_b"], nodes))


def switches_of(nodes: dict[str, np.ndarray], plane: int | None = None) -> np.ndarray:
    """Return the ids of all switches, or of those in one plane, in the order of the table."""
    here = nodes["is_switch"] == 1
    return nodes["node"][here if plane is None else here & (_plane(nodes) == plane)]


def planes(nodes: dict[str, np.ndarray]) -> list[int]:
    """Return the planes that have a switch, ascending."""
    return np.unique(_plane(nodes)[nodes["is_switch"] == 1]).tolist()


def elements_of(
    what: str, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return what may fail: the name of each element, and the rows of the links it takes along."""
    if what == "switches":
        return {f"switch {i}": links_of(links, [i]) for i in switches_of(nodes)}
    if what == "planes":
        return {
            f"plane {plane}": links_of(links, switches_of(nodes, plane)) for plane in planes(nodes)
        }
    joins_switches = np.isin([links["node_a"], links["node_b"]], switches_of(nodes)).all(axis=0)
    parallel = links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))
    return {
        f"link {links['node_a'][row]}-{links['node_b'][row]}-{parallel[row]}": np.array([row])
        for row in np.flatnonzero(joins_switches | (what == "links"))
    }


def _plane(nodes: dict[str, np.ndarray]) -> np.ndarray:
    """Return the plane of each node, 0 where the topology has but one."""
    return nodes.get("plane", np.zeros(len(nodes["node"]), dtype=np.int64))
