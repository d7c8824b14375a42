# SPDX-License-Identifier: GPL-2.0-only
"""Scale-up networks inside a larger one: whom each joins, and who relays where rails do not meet.

An island is what one scale-up network joins. A rail is a set of other networks that a host has.
"""

from collections import defaultdict

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from pyorch.spec.fields import FieldError
from pyorch.topology import _graph

KEY = "file"
Columns = dict[str, np.ndarray]


def found(pairs: list[tuple[int, int]], n: int, n_hosts: int) -> tuple[np.ndarray, bool]:
    """Return the scale-up network of each node, and whether a host has another 4 links away."""
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = csr_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n, n))
    _, island = connected_components(graph, directed=False)
    joined = np.isin(np.arange(n), ends)
    found = np.where(joined, island, -1)
    first = np.unique(found[:n_hosts], return_index=True)[1]
    first = first[found[first] >= 0]
    far = dijkstra(graph, directed=False, indices=first, unweighted=True, min_only=True)
    return found, bool((far[:n_hosts][joined[:n_hosts]] >= 4).any())


def rails(
    nodes: Columns, links: Columns, islands: np.ndarray, n_hosts: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rail of each host, which rails meet, and who relays to a rail: see `Found`."""
    component, inside = _graph.components(nodes, links), set(islands[islands >= 0].tolist())
    is_switch, in_up = nodes["is_switch"] == 1, islands >= 0
    # What joins the hosts of one scale-up network alone.
    of_up = set(component[is_switch & in_up]) - set(component[is_switch & ~in_up])
    touched: list[set[int]] = [set() for _ in range(n_hosts)]
    for pair in zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True):
        for host, other in (pair, pair[::-1]):
            if host < n_hosts and int(component[other]) not in of_up:
                touched[host].add(int(component[other]))
    kinds = {its: index for index, its in enumerate(dict.fromkeys(map(frozenset, touched)))}
    rails = np.array([kinds[frozenset(its)] for its in touched])
    meet = np.array([[bool(a & b) for b in kinds] for a in kinds])
    relay = np.full((max(inside, default=0) + 1, len(kinds)), -1)
    for host in reversed(range(n_hosts)):
        if islands[host] >= 0:
            relay[islands[host], meet[rails[host]]] = host
    return rails, meet, relay


def check(
    nodes: Columns,
    links: Columns,
    islands: np.ndarray,
    of_hosts: np.ndarray,
    meet: np.ndarray,
    relay: np.ndarray,
    where: str,
) -> None:
    """Raise FieldError unless each host reaches all others, maybe over one of its island."""
    own = islands[: len(of_hosts)]
    used = np.unique(own)
    if len(used) == 1 and used[0] >= 0:
        return
    if not meet[of_hosts[own < 0]].all() or (relay[used[used >= 0]] < 0).any():
        _graph.check_connected(nodes, links, where, KEY)
        raise FieldError(
            KEY, f"{where}: some hosts have no network in common, and none relays between them. Add"
            " a link.",
        )  # fmt: skip


def above(nodes: Columns, kinds: np.ndarray, islands: np.ndarray) -> Columns:
    """Return tiers and planes: scale-up above all other switches, NICs above scale-up."""
    up, other, nic = (kinds == kind for kind in (1, 2, 3))
    tier, plane = nodes["tier"].copy(), nodes["plane"].copy()
    tier[other] -= tier[other].min(initial=len(tier)) - 1
    plane[other] = np.unique(plane[other], return_inverse=True)[1]
    seen: dict[int, int] = defaultdict(int)
    for node in np.flatnonzero(up).tolist():
        plane[node] = plane[other].max(initial=-1) + 1 + seen[islands[node]]
        seen[islands[node]] += 1
    tier[up] = tier[other].max(initial=0) + 1
    tier[nic] = tier[other | up].max(initial=0) + 1
    plane[nic] = plane[other | up].max(initial=-1) + 1
    return {"tier": tier, "plane": plane}
