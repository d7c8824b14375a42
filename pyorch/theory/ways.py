# SPDX-License-Identifier: GPL-2.0-only
"""Takes a network and the ends of flows, returns what all their shortest paths have together.

A message that is spread over paths leaves its host by one hop after another, and at each hop all
links of its paths carry it side by side. These links are counted for all pairs of switches at once:
link u -> v is hop k of a path of D links from s to t if u is k links from s and t is D - k - 1
links from v. Where the links of a hop differ, the narrowest place need not be a single hop; it is
then found as a maximum flow.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, maximum_flow

from pyorch.theory.paths import Network

#: Of so many pairs of switches with unequal links a maximum flow is found, a millisecond each; of
#: more, the hops alone tell the time.
MOST_FLOWS = 4096
#: scipy finds maximum flows in int32.
_MOST_CAPACITY = 2**31 - 1
#: What capacities in whole units may make of a flow [1].
_ROUNDING = 1e-6


class Ways(NamedTuple):
    """The shortest paths of flows; one row for each flow, one column for each hop.

    Attributes
    ----------
    links : int64, n_flows x n_hops
        How many links the paths have at this hop; 0 beyond the last one.
    fastest_bps : int64, n_flows x n_hops
        Rate of the fastest of them [bit/s].
    total_bps : int64, n_flows x n_hops
        Their rates, added up [bit/s].
    delay_ps, fixed_ps : int64, n_flows
        The least propagation of a path; the least propagation and processing of one [ps].
    between_bps : float64, n_flows
        Maximum flow from the switches of one host to those of the other, where that is less than
        every hop has; else infinite, for the narrowest hop is the narrowest place [bit/s].
    """

    links: np.ndarray
    fastest_bps: np.ndarray
    total_bps: np.ndarray
    delay_ps: np.ndarray
    fixed_ps: np.ndarray
    between_bps: np.ndarray

    def one_path(self, rows: np.ndarray) -> "Ways":
        """Return the same, but these flows keep to one path, which no path of theirs beats."""
        links, total = self.links.copy(), self.total_bps.copy()
        links[rows] = np.minimum(links[rows], 1)
        total[rows] = self.fastest_bps[rows]
        between = np.where(rows, np.inf, self.between_bps)
        return self._replace(links=links, total_bps=total, between_bps=between)

    @property
    def rate_bps(self) -> np.ndarray:
        """What a message that is alone gets at most [bit/s]."""
        hops = np.where(self.links > 0, self.total_bps, np.inf).min(axis=1, initial=np.inf)
        return np.minimum(hops, self.between_bps)


def ways(network: Network, src: np.ndarray, dst: np.ndarray, processing_ps: np.ndarray) -> Ways:
    """Return the shortest paths of flows between hosts behind switches.

    Parameters
    ----------
    network : Network
        Its directed links.
    src, dst : ndarray, n_flows
        Hosts, none its own destination.
    processing_ps : ndarray, one for each node
        Of a frame that has come to it; 0 of hosts [ps].
    """
    out, back = network.exits(src, dst), network.exits(dst, src)
    group, members = np.unique(network.access_switches, axis=0, return_inverse=True)
    ends = members.ravel()[src] * len(group) + members.ravel()[dst]
    pairs, which = np.unique(ends, return_inverse=True)
    inner = _Between(network, group, np.column_stack(np.divmod(pairs, len(group))))
    n_hops = inner.links.shape[1] + 2
    columns = [np.zeros((len(src), n_hops), dtype=np.int64) for _ in range(3)]
    last = inner.distance[which] + 1
    for column, within, first_hop, last_hop in zip(
        columns,
        (inner.links, inner.fastest_bps, inner.total_bps),
        (out.number, out.fastest_bps, out.rate_bps),
        (back.number, back.fastest_bps, back.rate_bps),
        strict=True,
    ):
        column[:, 0] = first_hop
        column[:, 1:-1] = within[which]
        column[np.arange(len(src)), last] = last_hop
    delay_ps, fixed_ps = (
        _least_ps(network, src, dst, inner.distance[which], link_ps)
        for link_ps in (network.delay_ps, network.delay_ps + processing_ps[network.head])
    )
    links, fastest_bps, total_bps = columns
    return Ways(links, fastest_bps, total_bps, delay_ps, fixed_ps, inner.maximum_flows()[which])


def _least_ps(
    network: Network, src: np.ndarray, dst: np.ndarray, distance: np.ndarray, link_ps: np.ndarray
) -> np.ndarray:
    """Return the least time of a shortest path of each flow, given that of all links [ps].

    `distance` is the number of links between the switches of both hosts.
    """
    hop_ps = (link_ps.max() + 1.0) * (len(network.switch_hops) + 3)  # no detour is worth a hop
    up = ~network.is_switch[network.tail] & network.is_switch[network.head]
    down = network.is_switch[network.tail] & ~network.is_switch[network.head]
    out_ps = _access_ps(network, network.tail[up], network.head[up], link_ps[up])
    in_ps = _access_ps(network, network.head[down], network.tail[down], link_ps[down])
    between_ps = _between_ps(network, src, link_ps, hop_ps)
    least = np.empty(len(src), dtype=np.int64)
    for rows in np.array_split(np.arange(len(src)), len(src) // 65536 + 1):
        ports = network.access_switches[src[rows]][:, :, None]
        others = network.access_switches[dst[rows]][:, None, :]
        whole_ps = out_ps[src[rows]][:, :, None] + in_ps[dst[rows]][:, None, :]
        shortest_ps = (whole_ps + between_ps(ports, others)).min(axis=(1, 2))
        least[rows] = np.rint(shortest_ps - distance[rows] * hop_ps)
    return least


def _access_ps(
    network: Network, host: np.ndarray, switch: np.ndarray, link_ps: np.ndarray
) -> np.ndarray:
    """Return the least time of a link of each node to each of its `access_switches` [ps]."""
    n_switches = len(network.switch_hops)
    keys, place = np.unique(host * n_switches + network.switch_row[switch], return_inverse=True)
    least = np.full(len(keys), np.iinfo(np.int64).max)
    np.minimum.at(least, place, link_ps)
    wanted = np.arange(network.n_nodes)[:, None] * n_switches + network.access_switches
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[at] == wanted, least[at], 0)


def _between_ps(
    network: Network, src: np.ndarray, link_ps: np.ndarray, hop_ps: float
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function of two switches: the least time of a shortest path, and `hop_ps` a link."""
    inside = network.is_switch[network.tail] & network.is_switch[network.head]
    link_ps = link_ps[inside]
    if len(np.unique(link_ps)) <= 1:
        each_ps = hop_ps + (link_ps[0] if len(link_ps) else 0)
        return lambda ports, others: network.switch_hops[ports, others].astype(float) * each_ps
    ends = [network.switch_row[of[inside]] for of in (network.tail, network.head)]
    order = np.lexsort((link_ps, ends[1], ends[0]))
    _, first = np.unique(np.column_stack(ends)[order], axis=0, return_index=True)
    rows = order[first]
    n_switches = len(network.switch_hops)
    graph = csr_array(
        (link_ps[rows] + hop_ps, (ends[0][rows], ends[1][rows])), shape=(n_switches, n_switches)
    )
    sources = np.unique(network.access_switches[src])
    far = dijkstra(graph, indices=sources)
    return lambda ports, others: far[np.searchsorted(sources, ports), others]


class _Between:
    """The hops between the switches of pairs of groups of hosts: what `Ways` has, by pair."""

    def __init__(self, network: Network, group: np.ndarray, pairs: np.ndarray):
        self._group, self._pairs = group, pairs
        self._distances = network.switch_hops[group[:, 0]]  # groups x switches
        for column in group.T[1:]:
            self._distances = np.minimum(self._distances, network.switch_hops[column])
        ends = self._distances[pairs[:, 0][:, None], group[pairs[:, 1]]]
        self.distance = ends.min(axis=1).astype(np.int64)
        self._inside = network.is_switch[network.tail] & network.is_switch[network.head]
        self._tail = network.switch_row[network.tail[self._inside]]
        self._head = network.switch_row[network.head[self._inside]]
        self._rate_bps = network.rate_bps[self._inside]
        shape = (len(pairs), int(self.distance.max(initial=0)))
        self.links, self.fastest_bps, self.total_bps = np.zeros((3, *shape), dtype=np.int64)
        self._count_links()

    def _count_links(self) -> None:
        """Count the links of each hop, one rate after the other, slow ones first."""
        n_switches = self._distances.shape[1]
        for rate_bps in np.unique(self._rate_bps):
            of_rate = self._rate_bps == rate_bps
            shape = (n_switches, n_switches)
            ends = (self._tail[of_rate], self._head[of_rate])
            links = csr_array((np.ones(of_rate.sum(), dtype=np.float32), ends), shape=shape)
            for hop in range(self.links.shape[1]):
                from_source = self._distances == hop
                reached = (links.T @ from_source.T.astype(np.float32)).T
                for distance in np.unique(self.distance[self.distance > hop]):
                    rows = np.flatnonzero(self.distance == distance)
                    to_target = (self._distances == distance - hop - 1).astype(np.float32)
                    count = _products(reached, to_target, self._pairs[rows])
                    self.links[rows, hop] += count
                    self.total_bps[rows, hop] += count * rate_bps
                    self.fastest_bps[rows[count > 0], hop] = rate_bps

    def maximum_flows(self) -> np.ndarray:
        """Return the maximum flow of each pair that is less than its hops have [bit/s]."""
        found = np.full(len(self._pairs), np.inf)
        unequal = (self.links * self.fastest_bps != self.total_bps).any(axis=1)
        rows = np.flatnonzero(unequal & (self.distance > 1))
        for row in rows.tolist() if len(rows) <= MOST_FLOWS else ():
            flow_bps = self._maximum_flow(row)
            hops_bps = self.total_bps[row][self.links[row] > 0]
            if flow_bps < hops_bps.min() * (1 - _ROUNDING):
                found[row] = flow_bps
        return found

    def _maximum_flow(self, row: int) -> float:
        """Return the maximum flow of one pair over its shortest paths [bit/s]."""
        source, target = self._pairs[row]
        on_way = (
            self._distances[source][self._tail] + 1 + self._distances[target][self._head]
            == self.distance[row]
        )
        tail, head, rate_bps = (
            column[on_way] for column in (self._tail, self._head, self._rate_bps)
        )
        unit_bps = -(-int(rate_bps.sum()) // _MOST_CAPACITY)  # of capacity, so that none is too big
        n = self._distances.shape[1]
        starts = np.unique(tail[self._distances[source][tail] == 0])
        ends = np.unique(head[self._distances[target][head] == 0])
        tails = np.concatenate([tail, np.full(len(starts), n), ends])
        heads = np.concatenate([head, starts, np.full(len(ends), n + 1)])
        ample = np.full(len(starts) + len(ends), _MOST_CAPACITY)
        capacity = np.concatenate([-(-rate_bps // unit_bps), ample])
        together, place = np.unique(tails * (n + 2) + heads, return_inverse=True)
        totals = np.bincount(place.ravel(), capacity).clip(max=_MOST_CAPACITY)
        ends_of = np.divmod(together, n + 2)
        graph = csr_array((totals.astype(np.int32), ends_of), shape=(n + 2, n + 2))
        return float(maximum_flow(graph.tocsr(), n, n + 1).flow_value) * unit_bps


def _products(left: np.ndarray, right: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return left[a] . right[b] of each pair: of all at once where most are asked for."""
    if len(pairs) * 8 > len(left) * len(right):
        return np.rint((left @ right.T)[pairs[:, 0], pairs[:, 1]]).astype(np.int64)
    found = np.empty(len(pairs), dtype=np.int64)
    step = max(1, 2**24 // left.shape[1])
    for begin in range(0, len(pairs), step):
        a, b = pairs[begin : begin + step].T
        found[begin : begin + step] = np.rint(np.einsum("ij,ij->i", left[a], right[b]))
    return found
