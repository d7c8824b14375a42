# SPDX-License-Identifier: GPL-2.0-only
"""Takes node, link and flow tables, leaves the directed links that each flow crosses.

Shortest paths by hops, as the engine forwards. Directed link 2 i leads from node_a to node_b of
row i of the link table, 2 i + 1 back. The members of a group are in order of peer and parallel
index, as in the engine, so the column path_hash_port of a run is an index into them.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from pyorch.errors import TheoryError

#: Given the hop (0 = host), the rows of the flows and the number of members, return an index.
Choose = Callable[[int, np.ndarray, np.ndarray], np.ndarray]


class Network:
    """The directed links of a fabric, ready to be walked."""

    def __init__(self, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]):
        self.n_nodes = int(nodes["node"].max()) + 1
        self.is_switch = np.zeros(self.n_nodes, dtype=bool)
        self.is_switch[nodes["node"]] = nodes["is_switch"] == 1
        self.tail = np.stack([links["node_a"], links["node_b"]], axis=1).ravel()
        self.head = np.stack([links["node_b"], links["node_a"]], axis=1).ravel()
        self.rate_bps = np.repeat(links["rate_bps"], 2)
        self.delay_ps = np.repeat(links["delay_ps"], 2)
        parallel = np.repeat(links["parallel"], 2)
        self._out = np.lexsort((parallel, self.head, self.tail))
        self._first = np.searchsorted(self.tail[self._out], np.arange(self.n_nodes + 1))
        self._switch_row = np.cumsum(self.is_switch) - 1
        self._hops = self._switch_hops()

    def out_links(self, node: int) -> np.ndarray:
        """Return the links that leave a node, by peer and parallel index."""
        return self._out[self._first[node] : self._first[node + 1]]

    def _switch_hops(self) -> np.ndarray:
        """Return the number of links between any two switches; infinite where there is no way."""
        between = self.is_switch[self.tail] & self.is_switch[self.head]
        rows, columns = self._switch_row[self.tail[between]], self._switch_row[self.head[between]]
        n = int(self.is_switch.sum())
        graph = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
        return shortest_path(graph, unweighted=True)

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
            No way leads from a source to its destination.
        """
        at, hops = src.copy(), []
        while np.any(at != dst):
            step = np.full(len(src), -1)
            for node in np.unique(at[at != dst]):
                flows = np.flatnonzero((at == node) & (at != dst))
                step[flows] = self._step(node, flows, dst[flows], choose, len(hops))
            at = np.where(step >= 0, self.head[step], at)
            hops.append(step)
        return np.stack(hops, axis=1) if hops else np.empty((len(src), 0), dtype=np.int64)

    def _step(
        self, node: int, flows: np.ndarray, dst: np.ndarray, choose: Choose, hop: int
    ) -> np.ndarray:
        """Return the next link of flows that are all at one node."""
        out = self.out_links(node)
        if len(out) == 1 and hop == 0:
            return np.full(len(flows), out[0])
        far = self._distance(self.head[out], dst)  # one row per link, one column per flow
        nearest = far.min(axis=0)
        if np.isinf(nearest).any():
            lost = int(flows[np.isinf(nearest)][0])
            raise TheoryError(f"no way leads from node {node} to the target of flow row {lost}.")
        member = far == nearest
        n_members = member.sum(axis=0)
        index = np.zeros(len(flows), dtype=np.int64)
        several = n_members > 1
        if several.any():
            index[several] = choose(hop, flows[several], n_members[several])
        rank = np.cumsum(member, axis=0) - 1
        return out[np.argmax(member & (rank == index), axis=0)]

    def _distance(self, nodes: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the hops from each node to each host; a host other than the target is no way."""
        result = np.full((len(nodes), len(dst)), np.inf)
        switches = self.is_switch[nodes]
        rows = self._switch_row[nodes[switches]]
        targets, column = np.unique(dst, return_inverse=True)
        near = np.stack(
            [self._hops[np.ix_(rows, self._access(t))].min(axis=1) for t in targets], axis=1
        )
        result[switches] = near[:, column] + 1
        result[nodes[:, None] == dst[None, :]] = 0
        return result

    def _access(self, host: int) -> np.ndarray:
        """Return the rows of the switches that a host is connected to."""
        peers = self.head[self.out_links(host)]
        return self._switch_row[peers[self.is_switch[peers]]]


def random_choice(random: np.random.Generator) -> Choose:
    """Return a choice that is uniform and independent for each flow and group: ideal hashing."""
    return lambda hop, flows, n_members: random.integers(n_members)


def first_switch_choice(path_hash_port: np.ndarray) -> Choose:
    """Return the choice that a run has made, from the column path_hash_port of its flows.

    Raises
    ------
    TheoryError
        When a flow had to choose anywhere else than at its first switch: not recorded.
    """

    def choose(hop: int, flows: np.ndarray, n_members: np.ndarray) -> np.ndarray:
        if hop != 1:
            raise TheoryError(
                f"flow row {int(flows[0])} chooses at hop {hop} too, but path_hash_port holds"
                " only the choice at the first switch; fluid values of a run need one choice."
            )
        ports = path_hash_port[flows]
        if (ports < 0).any() or (ports >= n_members).any():
            row = int(flows[np.flatnonzero((ports < 0) | (ports >= n_members))[0]])
            raise TheoryError(f"flow row {row} has no single path: it was sprayed.")
        return ports

    return choose
