# SPDX-License-Identifier: GPL-2.0-only
"""Warns before a run of what is allowed and may surprise."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

#: Attributes of a transport that hold what is under way, in each of its connections [byte].
BUFFERS = ("SendBufferBytes", "ReceiveBufferBytes")
#: A message keeps to one path with these, so it matters which others it meets.
ONE_PATH = ("ns3::RoceTransport",)

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
