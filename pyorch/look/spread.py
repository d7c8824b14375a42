# SPDX-License-Identifier: GPL-2.0-only
"""Takes source and destination, returns which share of a sprayed message each link may carry.

The shares are those of an even spread over all shortest paths: which path each packet took is not
recorded. A group of links that lead one hop nearer share what comes to their node alike.
"""

from collections import defaultdict

import numpy as np

#: Links of a message that are shown: of more the page says nothing.
MOST_LINKS = 400


class Spread:
    """Even shares over the shortest paths of the network of a run."""

    def __init__(self, run, row_of: dict[tuple, int]):
        self._out = defaultdict(list)  # links of each node: peer and row
        for (node, peer, _), row in row_of.items():
            self._out[node].append((peer, row))
        self._switches = set(run.nodes.loc[run.nodes["is_switch"] == 1, "node"].tolist())
        self._distance: dict[int, dict[int, int]] = {}

    def shares(self, src: int, dst: int, group_of: np.ndarray) -> list[list]:
        """Return ``[link, share]`` for each link of the page that is on a shortest path."""
        far = self._distance.get(dst) or self._distance.setdefault(dst, self._distances(dst))
        if src not in far:
            return []
        at, found = {src: 1.0}, defaultdict(float)
        while at:
            onward: dict[int, float] = defaultdict(float)
            for node, share in at.items():
                nearer = [
                    (peer, row)
                    for peer, row in self._out[node]
                    if far.get(peer, far[node]) < far[node]
                ]
                for peer, row in nearer:
                    found[int(group_of[row])] += share / len(nearer)
                    if peer != dst:
                        onward[peer] += share / len(nearer)
            at = onward
        if len(found) > MOST_LINKS:
            return []
        return [[link, round(share, 4)] for link, share in found.items()]

    def _distances(self, dst: int) -> dict[int, int]:
        """Return the number of links from each node to a host; hosts do not forward."""
        far, edge = {dst: 0}, [dst]
        while edge:
            further = []
            for node in edge:
                for peer, _ in self._out[node]:
                    if peer not in far:
                        far[peer] = far[node] + 1
                        if peer in self._switches:
                            further.append(peer)
            edge = further
        return far
