# SPDX-License-Identifier: GPL-2.0-only
"""Takes the tables of a network, returns which engine of a run executes the events of each node."""

from collections.abc import Mapping

import networkx as nx
import numpy as np

Columns = Mapping[str, np.ndarray]

#: So much more than its share of the work may a part weigh that is kept whole [1].
UNEVEN = 1.2
#: Delays that are tried as the shortest on which a domain may end.
TRIED = 16


def domains(
    nodes: Columns, links: Columns, n: int, waits: Mapping[str, Columns] | None = None
) -> np.ndarray:
    """Return the domain of each node, in the order of the table.

    A host goes with the switch of its first link. What is joined by short links stays together as
    far as the domains can still be even, because domains meet once in the least delay between
    them; of the rest each domain gets an equal share of every tier and plane, by its links.

    Parameters
    ----------
    nodes, links : columns
        The tables.
    n : int
        Domains, at most as many as there are switches.
    waits : mapping, optional
        The tables of flows, tasks and what they wait for, as far as there are any: news travels
        between hosts in the delay of a row of `dependencies`.
    """
    graph = _switches(nodes, links)
    planes = nodes.get("plane", np.zeros_like(nodes["node"]))
    places = zip(nodes["tier"].tolist(), planes.tolist(), strict=True)
    place_of = dict(zip(nodes["node"].tolist(), places, strict=True))
    nx.set_node_attributes(graph, {switch: place_of[switch] for switch in graph}, "place")
    for a, b, delay_ps in _news(waits):
        _join(graph, graph.graph["of"][a], graph.graph["of"][b], delay_ps, 0)
    parts = _kept_whole(graph, n)
    of_part = _cut(_contracted(graph, parts), n)
    of_switch = {switch: of_part[i] for i, part in enumerate(parts) for switch in part}
    return np.array([of_switch[graph.graph["of"][node]] for node in nodes["node"].tolist()])


def _switches(nodes: Columns, links: Columns) -> nx.Graph:
    """Return the graph of switches with their hosts: nodes have weights, edges delays and links."""
    is_switch = dict(zip(nodes["node"].tolist(), nodes["is_switch"].tolist(), strict=True))
    rows = [links[name].tolist() for name in ("node_a", "node_b", "delay_ps")]
    rows = sorted(zip(*rows, strict=True))
    of = {node: node for node, switch in is_switch.items() if switch}
    for a, b, _ in rows:
        for host, switch in ((a, b), (b, a)):
            if not is_switch[host]:
                of.setdefault(host, switch)
    graph = nx.Graph(of=of)
    graph.add_nodes_from((node for node in sorted(of) if is_switch[node]), weight=0)
    for a, b, delay_ps in rows:  # a frame is two events at each end of each link
        graph.nodes[of[a]]["weight"] += 1
        graph.nodes[of[b]]["weight"] += 1
        _join(graph, of[a], of[b], delay_ps, 1)
    return graph


def _join(graph: nx.Graph, a: int, b: int, delay_ps: int, weight: int) -> None:
    if a == b:
        return
    edge = graph.get_edge_data(a, b) or {"delay_ps": delay_ps, "weight": 0}
    shortest_ps = min(edge["delay_ps"], delay_ps)
    graph.add_edge(a, b, delay_ps=shortest_ps, weight=edge["weight"] + weight)


def _news(waits: Mapping[str, Columns] | None):
    """Yield the hosts of dependencies that hold between two hosts, and their delays."""
    if not waits or "dependencies" not in waits:
        return
    flows, dependencies = waits["flows"], waits["dependencies"]
    names = flows["flow"].tolist()
    src, dst, size = (flows[name].tolist() for name in ("src", "dst", "bytes"))
    starts = dict(zip(names, src, strict=True))
    ends = {flow: b if n else a for flow, a, b, n in zip(names, src, dst, size, strict=True)}
    if "tasks" in waits:
        tasks = zip(waits["tasks"]["task"].tolist(), waits["tasks"]["node"].tolist(), strict=True)
        at = dict(tasks)
        starts, ends = starts | at, ends | at
    zeros = np.zeros(len(dependencies["flow"]), dtype=np.int64)
    columns = [dependencies.get(name, zeros) for name in ("flow", "after", "at_sender", "delay_ps")]
    for item, after, at_sender, delay_ps in zip(*(c.tolist() for c in columns), strict=True):
        known = (starts if at_sender else ends)[after]
        if known != starts[item]:
            yield int(known), int(starts[item]), delay_ps


def _kept_whole(graph: nx.Graph, n: int) -> list[list[int]]:
    """Return sets of switches that no domain divides: what links below some delay join."""
    delays = np.unique([delay for _, _, delay in graph.edges(data="delay_ps")])
    weights = nx.get_node_attributes(graph, "weight")
    most = UNEVEN * max(sum(weights.values()) / n, max(weights.values()))
    places = np.linspace(0, len(delays) - 1, min(len(delays), TRIED)).astype(int)
    for least_ps in delays[places][::-1]:
        short = [(a, b) for a, b, delay in graph.edges(data="delay_ps") if delay < least_ps]
        joined = nx.Graph(short)
        joined.add_nodes_from(graph)
        parts = sorted(sorted(part) for part in nx.connected_components(joined))
        if len(parts) >= n and max(sum(weights[s] for s in part) for part in parts) <= most:
            return parts
    return [[switch] for switch in graph]


def _contracted(graph: nx.Graph, parts: list[list[int]]) -> nx.Graph:
    """Return the graph of the parts, numbered from 0."""
    of = {switch: i for i, part in enumerate(parts) for switch in part}
    result = nx.Graph()
    for i, part in enumerate(parts):
        weight = sum(graph.nodes[switch]["weight"] for switch in part)
        place = min(graph.nodes[switch]["place"] for switch in part)
        result.add_node(i, weight=weight, place=place)
    for a, b, edge in graph.edges(data=True):
        _join(result, of[a], of[b], edge["delay_ps"], edge["weight"])
    return result


def _cut(graph: nx.Graph, n: int) -> dict[int, int]:
    """Return the domain of each part: of each tier an equal share by weight, none empty.

    Parts are in the order of their ids, in which neighbours stand together: pod after pod. Planes
    are shared one by one where they are large enough, so leaves of the same hosts come together.
    """
    tiers: dict[int, dict[int, list[int]]] = {}
    for part, (tier, plane) in graph.nodes(data="place"):
        tiers.setdefault(tier, {}).setdefault(plane, []).append(part)
    groups: list[list[int]] = []
    for planes in tiers.values():
        fits = min(len(parts) for parts in planes.values()) >= n
        groups += planes.values() if fits else [sorted(sum(planes.values(), []))]
    found = {part: d for parts in groups for part, d in _shared(graph, parts, n)}
    if len(set(found.values())) == n:
        return found
    return dict(_shared(graph, list(graph), n))


def _shared(graph: nx.Graph, parts: list[int], n: int) -> list[tuple[int, int]]:
    """Return parts with the domains that their weights give them; all n if there are so many."""
    weights = np.array([graph.nodes[part]["weight"] for part in parts], dtype=float)
    middle = (weights.cumsum() - weights / 2) / max(weights.sum(), 1)
    place = np.arange(len(parts))
    domain = np.clip((middle * n).astype(int), 0, n - 1)
    if len(parts) >= n:  # the last ones have one part each at least, and so have the first
        domain = np.clip(domain, n - (len(parts) - place), place)
        for i in range(1, len(parts)):
            domain[i] = min(domain[i], domain[i - 1] + 1)
    return list(zip(parts, domain.tolist(), strict=True))
