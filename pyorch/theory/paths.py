# SPDX-License-Identifier: GPL-2.0-only
"""Takes node, link and flow tables, returns the directed links that each flow crosses.

Shortest paths by hops, as the engine forwards; or the very paths that a run has recorded.
Directed link 2 i leads from node_a to node_b of row i of the link table, 2 i + 1 back.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from pyorch.errors import TheoryError

#: Given the hop (0 = host), the rows of the flows and the number of members, return an index.
Choose = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


class Exits(NamedTuple):
    """The links by which flows may leave their hosts; one row for each flow.

    Attributes
    ----------
    link : ndarray
        The first of them, which is the same for all flows that share them.
    number : ndarray
        How many there are.
    rate_bps : ndarray
        Their rates, added up [bit/s].
    fastest_bps : ndarray
        The highest of these rates [bit/s].
    """

    link: np.ndarray
    number: np.ndarray
    rate_bps: np.ndarray
    fastest_bps: np.ndarray


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first of all rows that are alike, and which of these each row is.

    Parameters
    ----------
    *columns : ndarray, n_rows

    Returns
    -------
    first : ndarray
        Rows, in their order.
    which : ndarray, n_rows
        Places in ``first``.

    Examples
    --------
    >>> distinct(np.array([7, 5, 7]), np.array([1, 1, 1]))
    (array([0, 1]), array([0, 1, 0]))
    """
    which = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        codes, values = pd.factorize(column)
        which, _ = pd.factorize(which * len(values) + codes)
    first = np.zeros(which.max(initial=-1) + 1, dtype=np.int64)
    first[which[::-1]] = np.arange(len(which))[::-1]  # the last one that is written stays
    return first, which


class Network:
    """The directed links of a fabric, ready to be walked.

    Attributes
    ----------
    tail, head, rate_bps, delay_ps, parallel : ndarray, one for each directed link
        From where to where, rate [bit/s], propagation [ps], index among links of the same ends.
    is_switch, switch_row : ndarray, one for each node
        Whether it is a switch, and its row in ``switch_hops``.
    switch_hops : float32, n_switches x n_switches
        Number of links between any two switches; infinite where there is no path.
    access_switches : ndarray, n_nodes x most ports of a host
        Rows of the switches of each host, repeated.
    """

    def __init__(self, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]):
        self.n_nodes = int(nodes["node"].max()) + 1
        self.is_switch = np.zeros(self.n_nodes, dtype=bool)
        self.is_switch[nodes["node"]] = nodes["is_switch"] == 1
        self.tail = np.stack([links["node_a"], links["node_b"]], axis=1).ravel()
        self.head = np.stack([links["node_b"], links["node_a"]], axis=1).ravel()
        self.rate_bps = np.repeat(links["rate_bps"], 2)
        self.delay_ps = np.repeat(links["delay_ps"], 2)
        parallel = np.repeat(links["parallel"], 2)
        self.parallel = parallel
        self._out = np.lexsort((parallel, self.head, self.tail))
        self._first = np.searchsorted(self.tail[self._out], np.arange(self.n_nodes + 1))
        self.switch_row = np.cumsum(self.is_switch) - 1
        self.access_switches, self._attached = self._access_rows()
        self.switch_hops = self._hops_of_switches()

    @cached_property
    def kinds(self) -> np.ndarray:
        """The kind of each node: hosts of one kind have links of equal rate and delay to the same
        switches. A host that has a link to another host is of a kind of its own.
        """
        ports = np.diff(self._first)
        columns = [ports]
        own = np.zeros(self.n_nodes, dtype=bool)
        for port in range(int(ports[~self.is_switch].max(initial=0))):
            there = (ports > port) & ~self.is_switch
            link = self._out[np.where(there, self._first[:-1] + port, 0)]
            own |= there & ~self.is_switch[self.head[link]]
            columns += [
                np.where(there, of[link], -1) for of in (self.head, self.rate_bps, self.delay_ps)
            ]
        return distinct(*columns, np.where(own | self.is_switch, np.arange(self.n_nodes), -1))[1]

    def out_links(self, node: int) -> np.ndarray:
        """Return the links that leave a node, by peer and parallel index."""
        return self._out[self._first[node] : self._first[node + 1]]

    def _hops_of_switches(self) -> np.ndarray:
        """Return the number of links between any two switches; infinite where there is no path."""
        between = self.is_switch[self.tail] & self.is_switch[self.head]
        rows, columns = self.switch_row[self.tail[between]], self.switch_row[self.head[between]]
        n = int(self.is_switch.sum())
        graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        hops = np.full((n, n), np.inf, dtype=np.float32)
        n_parts, part = connected_components(graph, directed=False)
        for own in range(n_parts):  # a plane, for example: the others are not searched
            switches = np.flatnonzero(part == own)
            inside = graph[switches][:, switches]
            hops[np.ix_(switches, switches)] = shortest_path(inside, unweighted=True)
        return hops

    def routes(self, src: np.ndarray, dst: np.ndarray, choose: Choose) -> np.ndarray:
        """Return the directed links of each flow, one row per flow, padded with -1.

        Parameters
        ----------
        src, dst : ndarray, n_flows rows
            Hosts.
        choose : callable
            ``choose(hop, flows, n_members)`` returns which member of its group each flow takes;
            it is asked only where there are at least two.

        Raises
        ------
        TheoryError
            No path from a source to its destination.
        """
        at, hops = src.copy(), []
        while np.any(at != dst):
            step = np.full(len(src), -1)
            if not hops:  # most hosts have one link: nothing to choose
                single = (at != dst) & (self._first[at + 1] - self._first[at] == 1)
                step[single] = self._out[self._first[at[single]]]
            for node in np.unique(at[(at != dst) & (step < 0)]):
                flows = np.flatnonzero((at == node) & (at != dst))
                step[flows] = self._step(node, flows, dst[flows], choose, len(hops))
            at = np.where(step >= 0, self.head[step], at)
            hops.append(step)
        return np.stack(hops, axis=1) if hops else np.empty((len(src), 0), dtype=np.int64)

    def lengths(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the number of links of the shortest paths of each flow.

        Parameters
        ----------
        src, dst : ndarray, n_flows rows
            Hosts below switches; no flow stays at its host.

        Returns
        -------
        ndarray of float64, n_flows
            Infinite where there is no path.
        """
        first, place = distinct(self.kinds[src], self.kinds[dst])
        src, dst = src[first], dst[first]
        result = np.full(len(first), np.inf)
        for rows in np.array_split(np.arange(len(first)), len(first) // 65536 + 1):
            ways = self.switch_hops[
                self.access_switches[src[rows]][:, :, None],
                self.access_switches[dst[rows]][:, None, :],
            ]
            result[rows] = ways.min(axis=(1, 2)) + 2
        return np.where(self._attached[src] & self._attached[dst], result, np.inf)[place]

    def exits(self, src: np.ndarray, dst: np.ndarray) -> Exits:
        """Return the links by which the shortest paths of each flow leave its host.

        Parameters
        ----------
        src, dst : ndarray, n_flows rows
            Hosts; no flow stays at its host.
        """
        ports = self._first[src + 1] - self._first[src]
        parts = []
        for rows in np.array_split(np.arange(len(src)), len(src) // 65536 + 1):
            port = np.arange(ports[rows].max(initial=1))
            there = port < ports[rows][:, None]
            link = self._out[self._first[src[rows]][:, None] + np.where(there, port, 0)]
            far = np.where(there, self._distance(self.head[link], dst[rows][:, None]), np.inf)
            member = there & (far == far.min(axis=1, keepdims=True))
            rate_bps = member * self.rate_bps[link]
            first = np.take_along_axis(link, member.argmax(axis=1)[:, None], axis=1)[:, 0]
            parts.append((first, member.sum(axis=1), rate_bps.sum(axis=1), rate_bps.max(axis=1)))
        return Exits(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _step(
        self, node: int, flows: np.ndarray, dst: np.ndarray, choose: Choose, hop: int
    ) -> np.ndarray:
        """Return the next link of flows that are all at one node."""
        out = self.out_links(node)
        far = self._distance(self.head[out][:, None], dst)  # a row per link, a column per flow
        nearest = far.min(axis=0)
        if np.isinf(nearest).any():
            lost = int(flows[np.isinf(nearest)][0])
            raise TheoryError(f"no path from node {node} to the target of flow row {lost}.")
        member = far == nearest
        n_members = member.sum(axis=0)
        index = np.zeros(len(flows), dtype=np.int64)
        several = n_members > 1
        if several.any():
            index[several] = choose(hop, flows[several], n_members[several])
        rank = np.cumsum(member, axis=0) - 1
        return out[np.argmax(member & (rank == index), axis=0)]

    def _distance(self, nodes: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the hops from nodes to hosts, element by element of both, which are broadcast;
        from a host that is not the target there is no path.
        """
        row, access = self.switch_row[nodes], self.access_switches[dst]
        near = self.switch_hops[row, access[..., 0]]
        for port in range(1, access.shape[-1]):
            near = np.minimum(near, self.switch_hops[row, access[..., port]])
        found = np.where(self.is_switch[nodes] & self._attached[dst], near + 1, np.inf)
        return np.where(nodes == dst, 0, found)

    def _access_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, per node, the rows of the switches of a host, repeated, and if it has any."""
        up = self._out[~self.is_switch[self.tail[self._out]]]
        up = up[self.is_switch[self.head[up]]]
        row = np.append(self.switch_row[self.head[up]], 0)
        first = np.searchsorted(self.tail[up], np.arange(self.n_nodes + 1))
        count = np.diff(first)
        place = first[:-1, None] + np.arange(count.max(initial=1)) % np.maximum(count, 1)[:, None]
        return row[place], count > 0

    def recorded_routes(self, flow: np.ndarray, paths: dict[str, np.ndarray]) -> np.ndarray:
        """Return the directed links of each flow as a run has recorded them, padded with -1.

        Parameters
        ----------
        flow : ndarray, n_flows
            Ids of the flows.
        paths : dict of ndarray
            Columns flow, hop, node, peer and parallel of the run.

        Raises
        ------
        TheoryError
            A flow has no recorded path (it was sprayed), or a link that the topology has not.
        """
        row = pd.Index(flow).get_indexer(pd.Index(paths["flow"]))
        chosen = np.flatnonzero(row >= 0)
        row = row[chosen]
        is_recorded = np.zeros(len(flow), dtype=bool)
        is_recorded[row] = True
        if not is_recorded.all():
            without = flow[~is_recorded]
            raise TheoryError(
                f"{len(without)} of {len(flow)} flows, flow {without.min()} among them, keep to no"
                " single path; only flows that do have a fluid value."
            )
        routes = np.full((len(flow), int(paths["hop"][chosen].max(initial=-1)) + 1), -1)
        routes[row, paths["hop"][chosen]] = self._links_of(
            paths["node"][chosen], paths["peer"][chosen], paths["parallel"][chosen]
        )
        return routes

    def _links_of(self, tail: np.ndarray, head: np.ndarray, parallel: np.ndarray) -> np.ndarray:
        """Return the directed links with these ends."""
        keys = pd.Index(self._keys(self.tail, self.head, self.parallel))
        found = keys.get_indexer(pd.Index(self._keys(tail, head, parallel)))
        if (wrong := found < 0).any():
            at = int(np.argmax(wrong))
            raise TheoryError(f"the topology has no link from node {tail[at]} to {head[at]}.")
        return found

    def _keys(self, tail: np.ndarray, head: np.ndarray, parallel: np.ndarray) -> np.ndarray:
        widest = int(self.parallel.max(initial=0)) + 1
        return (tail * self.n_nodes + head) * widest + np.minimum(parallel, widest - 1)


def random_choice(random: np.random.Generator) -> Choose:
    """Return a choice that is uniform and independent for each flow and group: ideal hashing."""
    return lambda hop, flows, n_members: random.integers(n_members)
