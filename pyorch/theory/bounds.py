# SPDX-License-Identifier: GPL-2.0-only
"""The least time in which any transport can deliver a set of messages: bytes over capacity of cuts.

A cut is a host, or the hosts of an edge switch together with it: what its hosts send to others has
to leave it, and what they are sent has to come in. The bound is strict for every transport and
every choice of paths, and near where those are the narrowest places.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

BITS_PS = 8e12  # a byte over a rate of 1 bit/s [ps]
OUTSIDE = -1

Table = Mapping[str, np.ndarray]


def least_time_ps(
    tables: Mapping[str, Table], wire_bytes: np.ndarray, unloaded_fct_ps: np.ndarray
) -> float:
    """Return the least time from the first start until the last message is delivered [ps].

    Parameters
    ----------
    tables : mapping of str to table
        ``nodes``, ``links``, ``flows`` and maybe ``link_events`` of a run.
    wire_bytes : ndarray, n_flows
        What each message takes of a link, with headers and framing [byte].
    unloaded_fct_ps : ndarray, n_flows
        What each message takes alone [ps].

    Returns
    -------
    float
        Infinite if links that are cut for good leave no capacity.
    """
    flows = tables["flows"]
    first_ps = int(flows["start_ps"].min())
    alone_ps = float((flows["start_ps"] - first_ps + unloaded_fct_ps).max())
    return max([alone_ps, *(_slowest_cut_ps(tables, sides, wire_bytes) for sides in _cuts(tables))])


def _cuts(tables: Mapping[str, Table]) -> list[np.ndarray]:
    """Return for each kind of cut which one a node belongs to, or OUTSIDE."""
    nodes, links = tables["nodes"], tables["links"]
    n_nodes = int(nodes["node"].max()) + 1
    is_host = np.zeros(n_nodes, dtype=bool)
    is_host[nodes["node"]] = nodes["is_switch"] == 0
    a, b = links["node_a"], links["node_b"]
    access = is_host[a] | is_host[b]
    graph = coo_array((np.ones(access.sum()), (a[access], b[access])), shape=(n_nodes, n_nodes))
    _, together = connected_components(graph, directed=False)
    has_host = np.isin(together, together[is_host])
    return [
        np.where(is_host, np.arange(n_nodes), OUTSIDE),
        np.where(has_host, together, OUTSIDE),
    ]


def _slowest_cut_ps(
    tables: Mapping[str, Table], sides: np.ndarray, wire_bytes: np.ndarray
) -> float:
    """Return the longest time that the messages through one cut need, either way [ps]."""
    flows, links = tables["flows"], tables["links"]
    n_sides = int(sides.max()) + 1
    source, target = sides[flows["src"]], sides[flows["dst"]]
    crosses = source != target
    left = np.concatenate(
        [
            np.bincount(end[crosses], wire_bytes[crosses] * BITS_PS, minlength=n_sides)
            for end in (source, target)
        ]
    )
    side_a, side_b = sides[links["node_a"]], sides[links["node_b"]]
    between = side_a != side_b
    passed_ps = 0.0
    for length_ps, rate_bps in _epochs(tables):
        capacity = sum(
            np.bincount(
                side[between & (side != OUTSIDE)],
                rate_bps[between & (side != OUTSIDE)],
                minlength=n_sides,
            )
            for side in (side_a, side_b)
        )
        capacity = np.tile(capacity, 2)  # a link is as fast out as in
        with np.errstate(divide="ignore", invalid="ignore"):
            needed_ps = np.where(left > 0, left / capacity, 0).max()
        if needed_ps <= length_ps:
            return passed_ps + needed_ps
        left = np.maximum(left - capacity * length_ps, 0)
        passed_ps += length_ps
    return np.inf


def _epochs(tables: Mapping[str, Table]) -> Iterator[tuple[float, np.ndarray]]:
    """Yield how long the links keep their rates from the first start on [ps], and these [bit/s]."""
    links, events = tables["links"], tables.get("link_events")
    rate_bps = links["rate_bps"].astype(np.float64)
    now_ps = int(tables["flows"]["start_ps"].min())
    if events is not None and len(events["time_ps"]):
        ends = ("node_a", "node_b", "parallel")
        rows = {key: row for row, key in enumerate(zip(*(links[end] for end in ends), strict=True))}
        # Of directions that differ the faster one: a bound on times holds with it.
        now_bps = np.maximum(events["rate_bps"], events.get("rate_back_bps", 0))
        order = np.argsort(events["time_ps"], kind="stable")
        for at in order:
            time_ps = int(events["time_ps"][at])
            if time_ps > now_ps:
                yield time_ps - now_ps, rate_bps
                now_ps = time_ps
            rate_bps[rows[tuple(events[end][at] for end in ends)]] = now_bps[at]
    yield np.inf, rate_bps
