# SPDX-License-Identifier: GPL-2.0-only
"""What kinds of trouble share: outages of links, which links they hit, and what they add up to."""

from collections.abc import Iterable
from dataclasses import dataclass

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


def together(parts: list[Outages]) -> Outages:
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
    rows = []
    for link in np.unique(outages.link):
        hit = outages.link == link
        start_ps, end_ps = outages.start_ps[hit], outages.end_ps[hit]
        rate_bps = np.minimum(outages.rate_bps[hit], links["rate_bps"][link])
        before_bps = int(links["rate_bps"][link])
        for time_ps in np.unique(np.concatenate([start_ps, end_ps])):
            holds = (start_ps <= time_ps) & (time_ps < end_ps)
            now_bps = int(rate_bps[holds].min()) if holds.any() else int(links["rate_bps"][link])
            if now_bps != before_bps and time_ps < NEVER_PS:
                rows.append((int(time_ps), int(link), now_bps))
            before_bps = now_bps
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


def _plane(nodes: dict[str, np.ndarray]) -> np.ndarray:
    """Return the plane of each node, 0 where the topology has but one."""
    return nodes.get("plane", np.zeros(len(nodes["node"]), dtype=np.int64))
