# SPDX-License-Identifier: GPL-2.0-only
"""What failure models share: outages of links, which links they hit, and what they add up to."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pyorch.errors import SpecError
from pyorch.spec.fields import FieldError
from pyorch.units import RATE, format_exact

#: End of an outage that outlasts every run [ps].
NEVER_PS = 2**62
#: Rate of an outage that leaves links as fast as they are [bit/s].
WHOLE_BPS = 2**62
#: Directions of a link: what `node_a` sends, what `node_b` sends, and both.
FROM_A, FROM_B = 1, 2
BOTH = FROM_A | FROM_B
#: What is lost on wires.
RATIOS = ("loss_ratio", "bit_error_ratio")


@dataclass(frozen=True)
class Outages:
    """Links that are cut, slower or lossy for a while, one row each.

    Attributes
    ----------
    link : int64, n_outages
        Row in the link table.
    start_ps, end_ps : int64, n_outages
        First moment of the outage and first moment after it [ps].
    rate_bps : int64, n_outages
        Rate during the outage; 0 is a cut, of both directions [bit/s].
    direction : int64, n_outages
        FROM_A, FROM_B or BOTH: what suffers.
    loss_ratio, bit_error_ratio : float64, n_outages
        Share of the frames that are lost, and of the bits that are wrong. No routing hears of
        these [1].
    """

    link: np.ndarray
    start_ps: np.ndarray
    end_ps: np.ndarray
    rate_bps: np.ndarray
    direction: np.ndarray | int = BOTH
    loss_ratio: np.ndarray | float = 0.0
    bit_error_ratio: np.ndarray | float = 0.0


#: Columns of outages, and what they hold.
_COLUMNS = {
    "link": np.int64, "start_ps": np.int64, "end_ps": np.int64, "rate_bps": np.int64,
    "direction": np.int64, "loss_ratio": np.float64, "bit_error_ratio": np.float64,
}  # fmt: skip


def merged(parts: list[Outages]) -> Outages:
    """Return the outages of several causes as one, with all columns as long."""
    return Outages(
        *(
            np.concatenate([np.broadcast_to(getattr(p, name), p.link.shape) for p in parts])
            .astype(kind)
            for name, kind in _COLUMNS.items()
        )
    )  # fmt: skip


def link_events(outages: Outages, links: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the moments at which links change, as the engine's table ``link_events``.

    Where outages of one direction overlap, the slowest holds; where none holds, the link has the
    rate of the link table.

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
        where the rate differs from what it was. Where directions differ, ``rate_back_bps`` is that
        of what ``node_b`` sends.
    """
    rows: list[tuple] = []
    for link, own in _by_link(outages, "rate_bps"):
        whole_bps = int(links["rate_bps"][link])
        changes = [
            _changes([outage[:3] for outage in own if outage[3] & way], whole_bps)
            for way in (FROM_A, FROM_B)
        ]
        rows += [(time_ps, link, *rates) for time_ps, *rates in _together(changes, [whole_bps] * 2)]
    table = np.asarray(rows, dtype=np.int64).reshape(-1, 4)
    time_ps, hit, rate_bps, back_bps = table.T
    if ((rate_bps == 0) != (back_bps == 0)).any():
        raise SpecError(
            "failures: a cut takes both directions of a link. Write loss_ratio 1 for one that loses"
            " all."
        )
    found = {
        "time_ps": time_ps,
        "node_a": links["node_a"][hit],
        "node_b": links["node_b"][hit],
        "parallel": _parallel(links)[hit],
        "rate_bps": rate_bps,
    }
    return found if (rate_bps == back_bps).all() else found | {"rate_back_bps": back_bps}


def loss_changes(outages: Outages, links: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the moments at which directions lose more or less: the table ``loss_changes``.

    Where outages of one direction overlap, the highest of each ratio holds; where none holds, the
    link has the ratios of the link table.

    Returns
    -------
    dict of arrays
        ``time_ps, node, peer, parallel`` of int64, ``loss_ratio, bit_error_ratio`` of float64; no
        columns if nothing is lost.
    """
    least = [links.get(name, np.zeros(len(links["node_a"]))) for name in RATIOS]
    rows: list[tuple] = []
    for way, ends in ((FROM_A, ("node_a", "node_b")), (FROM_B, ("node_b", "node_a"))):
        found = [
            _highest(outages, name, way, column) for name, column in zip(RATIOS, least, strict=True)
        ]
        for link in sorted({*found[0], *found[1]}):
            where = (*(links[end][link] for end in ends), _parallel(links)[link])
            changes = [its.get(link, []) for its in found]
            starts = [float(column[link]) for column in least]
            rows += [
                (time_ps, *where, *ratios) for time_ps, *ratios in _together(changes, starts)
            ]  # fmt: skip
    if not rows:
        return {}
    columns = list(zip(*rows, strict=True))
    whole, real = columns[:4], columns[4:]
    names = ("time_ps", "node", "peer", "parallel")
    found_whole = {n: np.array(c, dtype=np.int64) for n, c in zip(names, whole, strict=True)}
    return found_whole | {
        n: np.array(c, dtype=np.float64) for n, c in zip(RATIOS, real, strict=True)
    }


def _highest(
    outages: Outages, name: str, way: int, least: np.ndarray
) -> dict[int, list[tuple[int, float]]]:
    """Return by link when a ratio of one direction changes, and to what."""
    found = {}
    for link, own in _by_link(outages, name):
        # The worst of ratios is the highest: the lowest of what is below zero.
        hit = [(start, end, -ratio) for start, end, ratio, direction in own if direction & way]
        changes = _changes(hit, -float(least[link]))
        if changes:
            found[link] = [(time_ps, -ratio) for time_ps, ratio in changes]
    return found


def _by_link(outages: Outages, name: str) -> Iterator[tuple[int, list[tuple]]]:
    """Yield each link with its outages by start: start_ps, end_ps, a column, direction.

    Those that leave the column as it is are passed over.
    """
    whole = merged([outages])
    column: np.ndarray = getattr(whole, name)
    matters = (column < WHOLE_BPS) if name == "rate_bps" else (column > 0)
    order = np.lexsort((whole.start_ps, whole.link))
    order = order[matters[order]]
    names = ("link", "start_ps", "end_ps", name, "direction")
    found = [getattr(whole, name)[order].tolist() for name in names]
    for link, group in groupby(zip(*found, strict=True), key=lambda outage: outage[0]):
        yield link, [outage[1:] for outage in group]


def _changes(outages: list[tuple[int, int, float]], whole: float) -> list[tuple[int, float]]:
    """Return when the rate of one direction changes, and to what.

    Parameters
    ----------
    outages : list of (start_ps, end_ps, rate)
        By start.
    whole : int or float
        Rate of the link without any; an outage does not make it faster.
    """
    found, holding, following, before = [], [], 0, whole
    for time_ps in sorted({time for start, end, _ in outages for time in (start, end)}):
        while following < len(outages) and outages[following][0] <= time_ps:
            _, end_ps, rate = outages[following]
            heapq.heappush(holding, (min(rate, whole), end_ps))
            following += 1
        while holding and holding[0][1] <= time_ps:
            heapq.heappop(holding)  # others that are over stay until they would be the slowest
        now = holding[0][0] if holding else whole
        if now != before and time_ps < NEVER_PS:
            found.append((time_ps, now))
        before = now
    return found


def _together(
    changes: list[list[tuple[int, float]]], now: list[float]
) -> Iterator[tuple[int, float, float]]:
    """Yield when one of two values changes: the time, and what both are from then on."""
    by_time = [dict(its) for its in changes]
    for time_ps in sorted({*by_time[0], *by_time[1]}):
        now = [its.get(time_ps, before) for its, before in zip(by_time, now, strict=True)]
        yield time_ps, now[0], now[1]


def _parallel(links: dict[str, np.ndarray]) -> np.ndarray:
    """Return which of the links of its pair each link is."""
    return links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))


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
