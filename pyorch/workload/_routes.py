# SPDX-License-Identifier: GPL-2.0-only
"""Routes beside a file of flows: a row per link of the path of a flow, as ``paths.parquet`` has it.

The path goes from the source to the destination; what a host sends by its own port may be left out.
With `reverse` 1 it is the path of the ACKs, from the destination to the source. A flow that is
not in the file goes where the switches send it.
"""

from collections.abc import Mapping

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, columns
from pyorch.spec.network import Network

KEY = "routes"
REQUIRED = {"flow": int, "hop": int, "node": int, "peer": int}
OPTIONAL = {"parallel": int, "reverse": int}


def read_routes(file: FileRef) -> dict[str, np.ndarray]:
    """Return the rows of a file of routes: flow, hop, node, peer, parallel, reverse."""
    table = columns(file, KEY, REQUIRED, OPTIONAL)
    zeros = np.zeros(len(table["flow"]), dtype=np.int64)
    return {"parallel": zeros, "reverse": zeros, **table}


def check_routes(file: FileRef | None, flows: Mapping[str, np.ndarray], network: Network) -> None:
    """Raise FieldError for the first path that does not lead where its flow goes.

    Parameters
    ----------
    file : dict or None
        The file of routes, if there is one.
    flows : mapping of str to ndarray
        Columns src and dst, node ids, and flow; without flow they count from 0.
    network : Network
        Nodes and links of the run.
    """
    if file is None:
        return
    rows = read_routes(file)
    ids = flows.get("flow", np.arange(len(flows["src"])))
    ends = dict(zip(ids.tolist(), zip(flows["src"], flows["dst"], strict=True), strict=True))
    known = _known_links(network.links)
    neighbours = {link[:2] for link in known}
    order = np.lexsort([rows["hop"], rows["reverse"], rows["flow"]])
    path: list[int] = []
    for at, row in enumerate(order):
        where = f"{file['path']}: row {row + 1}: flow {rows['flow'][row]}"
        flow, hop, node, peer, parallel, reverse = (
            int(rows[name][row]) for name in (*REQUIRED, *OPTIONAL)
        )
        if flow not in ends:
            raise FieldError(KEY, f"{where}: there is no such flow. Take the row out.")
        if reverse not in (0, 1):
            raise FieldError(KEY, f"{where}: reverse is {reverse}. Write 0 or 1.")
        if (node, peer, parallel) not in known:
            raise FieldError(
                KEY, f"{where}: there is no link from node {node} to node {peer}, parallel"
                f" {parallel}.",
            )  # fmt: skip
        src, dst = ends[flow][::-1] if reverse else ends[flow]
        if not path and node != src and (src, node) not in neighbours:
            raise FieldError(
                KEY, f"{where}: its path begins at node {node}, which is neither its source {src}"
                " nor next to it.",
            )  # fmt: skip
        if path and node != path[-1]:
            raise FieldError(
                KEY, f"{where}: hop {hop} leaves node {node}, but the hop before it leads to"
                f" node {path[-1]}.",
            )  # fmt: skip
        path = path or [node]
        if peer in path:
            raise FieldError(KEY, f"{where}: its path comes to node {peer} twice.")
        path.append(peer)
        after = order[at + 1] if at + 1 < len(order) else None
        if after is None or (flow, reverse) != (rows["flow"][after], rows["reverse"][after]):
            if peer != dst:
                raise FieldError(
                    KEY, f"{where}: its path ends at node {peer}, not at its destination {dst}."
                )
            path = []


def _known_links(links: Mapping[str, np.ndarray]) -> set[tuple[int, int, int]]:
    """Return both directions of every link, as node, peer, parallel."""
    parallel = links.get("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))
    ends = (links["node_a"].tolist(), links["node_b"].tolist(), parallel.tolist())
    forth = set(zip(*ends, strict=True))
    return forth | {(b, a, index) for a, b, index in forth}
