# SPDX-License-Identifier: GPL-2.0-only
"""Takes node and link tables that somebody else has made, refuses what is no network of hosts.

Tiers and planes that a file does not give are found here: a switch's tier is its least distance
from a host, and planes are the parts into which the switches fall without the hosts.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from pyorch.spec.fields import FieldError

Columns = dict[str, np.ndarray]


def check_links(is_switch: dict[int, bool], links: Columns, where: str, key: str) -> None:
    """Raise FieldError for a link that cannot be: its ends, its numbers, or twice the same.

    Parameters
    ----------
    is_switch : dict
        Of every node.
    links : dict of ndarray
        The link table.
    where, key : str
        File and key of the scenario, for messages.
    """
    seen = set()
    for row, (a, b, parallel, rate_bps, delay_ps, loss) in enumerate(
        zip(*(links[name].tolist() for name in
              ("node_a", "node_b", "parallel", "rate_bps", "delay_ps", "loss_ratio")), strict=True)
    ):  # fmt: skip
        link = f"{where}: link {row + 1} ({a} to {b})"
        for node in (a, b):
            if node not in is_switch:
                raise FieldError(key, f"{link}: there is no node {node}. Add it, or the link goes.")
        if a == b:
            raise FieldError(key, f"{link}: both ends are the same node.")
        if not is_switch[a] and not is_switch[b]:
            raise FieldError(key, f"{link}: both are hosts, which do not forward. Add a switch.")
        if (min(a, b), max(a, b), parallel) in seen or parallel < 0:
            raise FieldError(
                key, f"{link}: parallel {parallel} stands twice for this pair, or is negative."
                " Count the links of a pair 0, 1, ....",
            )  # fmt: skip
        seen.add((min(a, b), max(a, b), parallel))
        if rate_bps < 1 or delay_ps < 1 or not 0 <= loss < 1:
            raise FieldError(
                key, f"{link}: rate {rate_bps} bit/s, delay {delay_ps} ps, loss {loss}: a rate"
                " and a delay are at least 1 and a loss from 0 to below 1.",
            )  # fmt: skip


def check_connected(nodes: Columns, links: Columns, where: str, key: str) -> None:
    """Raise FieldError unless every host reaches every other one over switches alone."""
    is_switch = _is_switch(nodes)
    hosts = nodes["node"][nodes["is_switch"] == 0]
    if len(hosts) == 0:
        raise FieldError(key, f"{where}: there is no host, only switches. Add hosts.")
    component = components(nodes, links)
    ends = np.concatenate([links["node_a"], links["node_b"]])
    others = np.concatenate([links["node_b"], links["node_a"]])
    access = ~is_switch[ends]
    if (alone := np.setdiff1d(hosts, ends[access])).size:
        raise FieldError(key, f"{where}: host {alone[0]} has no link. Add one, or the host goes.")
    reaches: dict[int, set[int]] = {}
    for host, switch in zip(ends[access].tolist(), others[access].tolist(), strict=True):
        reaches.setdefault(host, set()).add(int(component[switch]))
    first: dict[frozenset[int], int] = {}  # the lowest host of each that are in the same parts
    for host, parts in sorted(reaches.items()):
        first.setdefault(frozenset(parts), host)
    if frozenset.intersection(*first):  # all meet in one part
        return
    for (ours, host), (theirs, other) in combinations(first.items(), 2):
        if not ours & theirs:
            raise FieldError(
                key, f"{where}: no path from host {host} to host {other}: the network has"
                " separate parts. Add a link between them.",
            )  # fmt: skip


def natural(name: str) -> list[tuple[int, str]]:
    """Return the parts of a name by which people sort: numbers by their value."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name)
    return [(int(part), "") if part[0] in "0123456789" else (-1, part) for part in parts]


def links_of(
    cables: Iterable[tuple[int, int, int | None, int | None]],
    rate_bps: int,
    delay_ps: int,
    loss_ratio: float,
) -> Columns:
    """Return the link table of cables: two nodes, maybe a rate, maybe a delay; else those given."""
    seen: Counter[tuple[int, int]] = Counter()
    rows = []
    for a, b, rate, delay in cables:
        pair = (min(a, b), max(a, b))
        rows.append((*pair, seen[pair], rate_bps if rate is None else rate,
                     delay_ps if delay is None else delay))  # fmt: skip
        seen[pair] += 1
    names = ("node_a", "node_b", "parallel", "rate_bps", "delay_ps")
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(names)).T
    return dict(zip(names, columns, strict=True)) | {"loss_ratio": np.full(len(rows), loss_ratio)}


def checked(n_hosts: int, n_switches: int, links: Columns, where: str, key: str) -> dict:
    """Return the tables of a network whose hosts are counted first, then its switches.

    Raises
    ------
    FieldError
        A link that cannot be, or hosts that do not reach each other.
    """
    is_switch = np.repeat([0, 1], [n_hosts, n_switches])
    nodes = {"node": np.arange(n_hosts + n_switches), "is_switch": is_switch}
    check_links(dict(enumerate(map(bool, is_switch))), links, where, key)
    check_connected(nodes, links, where, key)
    return {"nodes": with_tiers(nodes, links), "links": links}


def with_tiers(nodes: Columns, links: Columns) -> Columns:
    """Return the node table with the tiers and planes that it does not have."""
    found = {"tier": lambda: _tiers(nodes, links), "plane": lambda: _planes(nodes, links)}
    return {**nodes, **{name: of() for name, of in found.items() if name not in nodes}}


def counts(nodes: Columns, links: Columns) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    hosts = nodes["node"][nodes["is_switch"] == 0]
    ends = np.concatenate([links["node_a"], links["node_b"]])
    cables, access_links = len(links["node_a"]), int(np.isin(ends, hosts).sum())
    return {
        "hosts": len(hosts),
        "hosts_per_leaf": hosts_per_leaf(nodes, links),
        "switches": len(nodes["node"]) - len(hosts),
        "top_switches": int((nodes["tier"] == nodes["tier"].max()).sum()),
        "ports": 2 * cables - access_links,
        "access_links": access_links,
        "fabric_links": cables - access_links,
        "cables": cables,
    }


def hosts_per_leaf(nodes: Columns, links: Columns) -> int:
    """Return the most hosts whose lowest switch is the same."""
    is_switch = _is_switch(nodes)
    ends = np.concatenate([links["node_a"], links["node_b"]])
    others = np.concatenate([links["node_b"], links["node_a"]])
    access = ~is_switch[ends]
    lowest = np.full(len(is_switch), len(is_switch))
    np.minimum.at(lowest, ends[access], others[access])
    hosts = nodes["node"][nodes["is_switch"] == 0]
    return int(np.unique(lowest[hosts], return_counts=True)[1].max())


def _is_switch(nodes: Columns) -> np.ndarray:
    is_switch = np.zeros(int(nodes["node"].max()) + 1, dtype=bool)
    is_switch[nodes["node"]] = nodes["is_switch"] == 1
    return is_switch


def _between_switches(nodes: Columns, links: Columns) -> csr_array:
    is_switch = _is_switch(nodes)
    chosen = is_switch[links["node_a"]] & is_switch[links["node_b"]]
    ends = links["node_a"][chosen], links["node_b"][chosen]
    return csr_array((np.ones(len(ends[0])), ends), shape=(len(is_switch),) * 2)


def components(nodes: Columns, links: Columns) -> np.ndarray:
    """Return the part of each node into which the switches fall without the hosts."""
    return connected_components(_between_switches(nodes, links), directed=False)[1]


def _planes(nodes: Columns, links: Columns) -> np.ndarray:
    """Return the part of each switch, from 0 in the order of the lowest switch; 0 for hosts."""
    part = components(nodes, links)[nodes["node"]]
    switch = nodes["is_switch"] == 1
    order = np.argsort(nodes["node"][switch])
    found, first = np.unique(part[switch][order], return_index=True)
    rank = dict(zip(found[np.argsort(first)].tolist(), range(len(found)), strict=True))
    return np.array(
        [rank[p] if s else 0 for p, s in zip(part.tolist(), switch.tolist(), strict=True)],
        dtype=np.int64,
    )


def _tiers(nodes: Columns, links: Columns) -> np.ndarray:
    """Return the least number of links from a host, 0 for hosts."""
    n = int(nodes["node"].max()) + 1
    graph = csr_array((np.ones(len(links["node_a"])), (links["node_a"], links["node_b"])), (n, n))
    hosts = nodes["node"][nodes["is_switch"] == 0]
    far = dijkstra(graph, directed=False, indices=hosts, unweighted=True, min_only=True)
    return np.where(np.isfinite(far[nodes["node"]]), far[nodes["node"]], 1).astype(np.int64)
