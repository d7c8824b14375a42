# SPDX-License-Identifier: GPL-2.0-only
"""What a workload is checked against: the network of a run, counted and as tables."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pyorch.spec.limits import LARGEST_MESSAGE_BYTES

Columns = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Network:
    """Closed-form numbers, node table and link table of a topology, and the largest message."""

    counts: dict[str, int]
    nodes: Columns
    links: Columns
    largest_message_bytes: int = LARGEST_MESSAGE_BYTES

    @cached_property
    def _tier_of_node(self) -> np.ndarray:
        tier = np.zeros(int(self.nodes["node"].max()) + 1, dtype=np.int64)
        tier[self.nodes["node"]] = self.nodes["tier"]
        return tier

    @cached_property
    def tier_pairs(self) -> list[tuple[int, int]]:
        """The tiers that links join, each pair once, the lower tier first."""
        ends = np.stack([self.links["node_a"], self.links["node_b"]])
        ends = np.sort(self._tier_of_node[ends], axis=0)
        return [tuple(pair) for pair in np.unique(ends, axis=1).T.tolist()]

    def links_at(
        self, places: tuple[tuple[int, tuple[int, int]], ...], longer_ps: int = 0
    ) -> list[list]:
        """Return what links switches have, each set of links once.

        Parameters
        ----------
        places : tuple of (int, (int, int))
            Tier of a switch, and the two tiers that the links in question join.
        longer_ps : int
            By which each link may be longer [ps].

        Returns
        -------
        list of [node, links]
            The first switch with these links, and ``[rate_bps, delay_ps, number]`` of each kind.
        """
        if places not in self._known_links:
            self._known_links[places] = self._links_of_switches(places)
        return [
            [node, [[rate, delay + longer_ps, number] for rate, delay, number in links]]
            for links, node in self._known_links[places].items()
        ]

    @cached_property
    def _known_links(self) -> dict:
        return {}

    def _links_of_switches(self, places: tuple) -> dict[tuple[tuple[int, int, int], ...], int]:
        """Return each set of links, with the first switch that has it."""
        node = np.concatenate([self.links["node_a"], self.links["node_b"]])
        tier = self._tier_of_node[node]
        lower, upper = np.sort([tier, np.roll(tier, len(tier) // 2)], axis=0)
        rows = np.any(
            [(tier == its) & (lower == a) & (upper == b) for its, (a, b) in places], axis=0
        )
        ports = [node, *(np.tile(self.links[name], 2) for name in ("rate_bps", "delay_ps"))]
        kinds, numbers = np.unique(np.stack(ports)[:, rows], axis=1, return_counts=True)
        links: dict[int, list] = {}
        for (switch, *kind), number in zip(kinds.T.tolist(), numbers.tolist(), strict=True):
            links.setdefault(switch, []).append((*kind, number))
        first: dict[tuple, int] = {}
        for switch, its in links.items():
            first.setdefault(tuple(its), switch)
        return first
