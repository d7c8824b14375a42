# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the readers of networks."""

from collections import Counter
from pathlib import Path

import naive
import numpy as np
from compare import LIMITS, both

from pyorch.spec.resolved import Link
from pyorch.topology import from_file

LINK = Link(rate_bps=10**11, delay_ps=10**6)


def load_network(folder: Path, **given) -> tuple[dict, dict]:
    params = from_file.Params.model_validate(given, context={"folder": folder})
    tables, counts = from_file.tables(params, LINK), from_file.counts(params)
    nodes, links = tables["nodes"], tables["links"]
    for name, column in [*nodes.items(), *links.items()]:
        assert column.dtype == (np.float64 if name.endswith("_ratio") else np.int64), name
    assert ((nodes["tier"] == 0) == (nodes["is_switch"] == 0)).all()
    assert counts["cables"] == len(links["node_a"])
    assert counts["hosts"] + counts["switches"] == len(nodes["node"])
    return nodes, links


def as_links(links: dict, *names: str) -> list[tuple]:
    return list(zip(*(links[name].tolist() for name in names), strict=True))


def check_hpcc_topology(data: bytes, folder: Path) -> bool:
    path = folder / "topology.txt"
    path.write_bytes(data)

    def ours():
        nodes, links = load_network(folder, file=path.name)
        pairs = Counter()
        for a, b, parallel in as_links(links, "node_a", "node_b", "parallel"):
            assert parallel == pairs[min(a, b), max(a, b)], "parallel links are not counted from 0"
            pairs[min(a, b), max(a, b)] += 1
        switches = set(nodes["node"][nodes["is_switch"] == 1].tolist())
        names = ("node_a", "node_b", "rate_bps", "delay_ps", "loss_ratio")
        return len(nodes["node"]), switches, as_links(links, *names)

    def second():
        return naive.hpcc_topology(data, LIMITS["MOST_NODES"][0])

    return both(ours, second, path.name)


def check_htsim_topo(data: bytes, folder: Path) -> bool:
    path = folder / "t.topo"
    path.write_bytes(data)

    def ours():
        nodes, links = load_network(folder, file=path.name)
        return described(nodes, links)

    def second():
        hosts, shape = naive.topo(data)
        naive.need(cables(hosts, shape) <= LIMITS["MOST_LINKS"][0], "too large")
        return hosts, shape

    return both(ours, second, path.name)


def cables(hosts, shape):
    """Return the number of links of a network, tier by tier: ports down of all its switches."""
    total, ports = hosts, hosts
    for down, up, *_ in shape[:-1]:
        ports = ports // down * up
        total += ports
    return total


def described(nodes: dict, links: dict) -> tuple[int, list[tuple]]:
    """Return what a .topo file would say of a network, refusing one that is not a fat tree.

    Counted from the link table alone: ports of each switch, links of each pair, and that every
    switch reaches what lies below it evenly.
    """
    tier = dict(zip(nodes["node"].tolist(), nodes["tier"].tolist(), strict=True))
    down, up, pair = Counter(), Counter(), Counter()
    wires = {}
    for a, b, rate, delay in as_links(links, "node_a", "node_b", "rate_bps", "delay_ps"):
        low, high = sorted((a, b), key=tier.get)
        assert tier[high] == tier[low] + 1, "a link skips a tier"
        up[low] += 1
        down[high] += 1
        pair[low, high] += 1
        wires.setdefault(tier[high], set()).add((rate, delay))
    shape = []
    for level in range(1, max(tier.values()) + 1):
        switches = [node for node, t in tier.items() if t == level]
        bundles = {n for (_, high), n in pair.items() if tier[high] == level}
        downs, ups = {down[s] for s in switches}, {up[s] for s in switches}
        for found in (downs, ups, bundles, wires[level]):
            assert len(found) == 1, f"tier {level} is uneven: {found}"
        shape.append((*downs, *ups, *bundles, *next(iter(wires[level]))))
    hosts = [node for node, t in tier.items() if t == 0]
    assert {up[host] for host in hosts} == {1}, "a host has another number of ports than 1"
    return len(hosts), shape


NODES_CSV = b"node,is_switch\n" + b"".join(b"%d,%d\n" % (n, n > 2) for n in range(5))


def check_link_table(data: bytes, folder: Path) -> bool:
    """A CSV file of links between 3 hosts and 2 switches."""
    (folder / "nodes.csv").write_bytes(NODES_CSV)
    (folder / "links.csv").write_bytes(data)
    optional = ("parallel", "loss_ratio", "bit_error_ratio")
    names = ("node_a", "node_b", "rate_bps", "delay_ps", *optional)

    def ours():
        links = load_network(folder, nodes="nodes.csv", links="links.csv")[1]
        links.setdefault("bit_error_ratio", np.zeros(len(links["node_a"])))
        return as_links(links, *names)

    def second():
        columns = naive.table(data, names[:4], optional)
        n = len(columns["node_a"])
        columns = dict.fromkeys(optional, [0] * n) | columns
        links = list(zip(*(columns[name] for name in names), strict=True))
        for a, b, rate, delay, parallel, loss, error in links:
            naive.need(0 <= a < 5 and 0 <= b < 5 and rate >= 1 and delay >= 1, "link")
            naive.need(parallel >= 0 and 0 <= loss < 1 and 0 <= error < 1, "link")
        keys = [(*sorted(link[:2]), link[4]) for link in links]
        naive.need(len(set(keys)) == len(keys), "twice")
        naive.connected(range(5), {3, 4}, [link[:2] for link in links])
        return links

    return both(ours, second, None)


def check_node_table(data: bytes, folder: Path) -> bool:
    """A CSV file of nodes that links of 3 hosts and 2 switches refer to."""
    (folder / "nodes.csv").write_bytes(data)
    (folder / "links.csv").write_bytes(LINKS_CSV)

    def ours():
        nodes = load_network(folder, nodes="nodes.csv", links="links.csv")[0]
        return {name: nodes[name].tolist() for name in nodes}

    def second():
        columns = naive.table(data, ("node", "is_switch"), ("tier", "plane"))
        ids = columns["node"]
        kinds, largest = columns["is_switch"], LIMITS["MOST_NODES"][0]
        naive.need(ids and len(set(ids)) == len(ids), "ids")
        naive.need(min(ids) >= 0 and max(ids) <= largest and set(kinds) <= {0, 1}, "ids")
        for kind, tier in zip(kinds, columns.get("tier", kinds), strict=True):
            naive.need(tier >= 1 if kind else tier == 0, "tier")
        for kind, plane in zip(kinds, columns.get("plane", kinds), strict=True):
            naive.need(plane >= 0 if kind else plane == 0, "plane")
        switches = {i for i, kind in zip(ids, columns["is_switch"], strict=True) if kind}
        ends = [(0, 3), (1, 3), (2, 4), (3, 4)]
        naive.need(all(a in ids and b in ids for a, b in ends), "ends")
        naive.connected(ids, switches, ends)
        return columns

    def given_ones():
        try:
            given = second()
        except naive.Refused:
            given = ()
        return {name: column for name, column in ours().items() if name in given or not given}

    return both(given_ones, second, None)


LINKS_CSV = b"node_a,node_b,rate_bps,delay_ps\n0,3,9,1\n1,3,9,1\n2,4,9,1\n3,4,9,1\n"
