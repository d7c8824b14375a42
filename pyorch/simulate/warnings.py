# SPDX-License-Identifier: GPL-2.0-only
"""Warns before a run of what is allowed and may surprise."""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

#: Attributes of a transport that hold what is under way, in each of its connections [byte].
BUFFERS = ("SendBufferBytes", "ReceiveBufferBytes")
#: A message keeps to one path with these, so it matters which others it meets.
ONE_PATH = ("ns3::RoceTransport",)

#: A switch hashes entropies, so they fall on its links as balls into bins.
HASHES = ("ns3::EcmpHash", "ns3::WeightedHash")
#: Path selectors that have an entropy for each path unless they have other ``Paths``.
ONE_FOR_EACH_PATH = ("ns3::PermutedEntropy", "ns3::ScoredEntropy")
#: Entropies for each uplink from which on a hash spreads them well enough not to be told of.
ENOUGH_FOR_EACH_UPLINK = 2

Tables = Mapping[str, Mapping[str, np.ndarray]]


def small_buffers(
    tables: Tables, transports: Sequence[tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """Yield one line for each buffer below the bandwidth-delay product of a path.

    Parameters
    ----------
    tables : mapping of tables
        Columns of links and flows, as the engine takes them.
    transports : sequence of (str, mapping)
        TypeId and attributes, in the order of ``flows.transport``.
    """
    flows = tables["flows"]
    kinds = flows.get("transport", np.zeros_like(flows["src"]))
    for index, (name, given) in enumerate(transports):
        held = {key: int(given[key]) for key in BUFFERS if key in given}
        ends = {
            (int(src), int(dst)): int(flow)
            for flow, src, dst, kind in zip(
                flows["flow"], flows["src"], flows["dst"], kinds, strict=True
            )
            if kind == index
        }
        if not held or not ends:
            continue
        needs = [(need, ends[pair]) for pair, need in _products(tables, ends).items()]
        if not needs:
            continue  # no path at all: the engine says so
        need_bytes, flow = max(needs)
        connections = int(given.get("Connections", 1))
        for key, size in held.items():
            if connections * size < need_bytes:
                yield (
                    f"{name}: {key} is {size}, times {connections} for the connections of a"
                    f" message, but {need_bytes} bytes (rate times round trip) are under way on"
                    f" the path of flow {flow}: it cannot be filled. Raise {key}."
                )


def _products(tables: Tables, ends) -> dict[tuple[int, int], int]:
    """Return rate times round trip of the first shortest path between some hosts [byte]."""
    links = tables["links"]
    near: dict[int, list[tuple[int, int, int]]] = {}
    for a, b, rate_bps, delay_ps in zip(
        *(links[key].tolist() for key in ("node_a", "node_b", "rate_bps", "delay_ps")), strict=True
    ):
        near.setdefault(a, []).append((b, rate_bps, delay_ps))
        near.setdefault(b, []).append((a, rate_bps, delay_ps))
    found = {}
    for src in {src for src, _ in ends}:
        path = {src: (2**63 - 1, 0)}  # slowest link [bit/s] and delay [ps] on the way to each node
        waiting = deque([src])
        while waiting:
            node = waiting.popleft()
            for peer, rate_bps, delay_ps in near.get(node, ()):
                if peer not in path:
                    path[peer] = (min(path[node][0], rate_bps), path[node][1] + delay_ps)
                    waiting.append(peer)
        for pair in ends:
            if pair[0] == src and pair[1] in path:
                rate_bps, delay_ps = path[pair[1]]
                found[pair] = rate_bps * 2 * delay_ps // (8 * 10**12)
    return found


def few_entropies(
    tables: Tables, transports: Sequence[tuple[str, Mapping[str, str]]], forwarding: Sequence[str]
) -> Iterator[str]:
    """Yield one line for each transport that sprays over so few entropies that hashes collide.

    Parameters
    ----------
    tables : mapping of tables
        Columns of nodes and links, as the engine takes them.
    transports : sequence of (str, mapping)
        TypeId and attributes.
    forwarding : sequence of str
        TypeIds of how switches choose.
    """
    uplinks = _most_uplinks(tables)
    hashes = [name for name in forwarding if name in HASHES]
    if uplinks < 2 or not hashes:
        return
    for name, given in transports:
        selector, inner = re.fullmatch(
            r"([\w:]*)(?:\[(.*)\])?", given.get("PathSelector", "")
        ).groups()
        paths = re.search(r"\bPaths=(\d+)", inner or "")
        entropies = int(paths[1]) if paths else 0
        if entropies == 0 and selector in ONE_FOR_EACH_PATH:
            said = "as many entropies as there are paths"
        elif 0 < entropies <= ENOUGH_FOR_EACH_UPLINK * uplinks:
            said = f"{entropies} entropies"
        else:
            continue
        yield (
            f"{name}: {selector} has {said}, which {hashes[0]} spreads over {uplinks} uplinks by"
            " chance: some get several of them and some none. Choose ns3::EntropyModulo, or more"
            f" entropies, for example {selector}[Paths=256]."
        )


def _most_uplinks(tables: Tables) -> int:
    """Return how many links to a higher tier the switch with the most of them has."""
    nodes, links = tables["nodes"], tables["links"]
    tier = dict(zip(nodes["node"].tolist(), nodes["tier"].tolist(), strict=True))
    switches = set(nodes["node"][nodes["is_switch"] == 1].tolist())
    counts: dict[int, int] = {}
    for a, b in zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True):
        low, high = (a, b) if tier[a] < tier[b] else (b, a)
        if low in switches and tier[low] < tier[high]:
            counts[low] = counts.get(low, 0) + 1
    return max(counts.values(), default=0)


def skip_surprises(
    tables: Tables, transports: Sequence[tuple[str, Mapping[str, str]]]
) -> Iterator[str]:
    """Yield one line for each thing that a small error of skipped steady states may decide.

    Parameters
    ----------
    tables : mapping of tables
        As the engine takes them.
    transports : sequence of (str, mapping)
        TypeId and attributes.
    """
    single = any(name in ONE_PATH for name, _ in transports)
    reasons = {
        "links change, and when decides which packets are lost": tables.get("link_events"),
        "messages on single paths wait for others": tables.get("dependencies") if single else None,
    }
    for reason, table in reasons.items():
        if table and len(next(iter(table.values()))):
            yield (
                f"engine.skip: {reason}, so single completion times may differ by more than the"
                " tolerance. docs/skip.md has what was measured."
            )
