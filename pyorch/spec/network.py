# SPDX-License-Identifier: GPL-2.0-only
"""What a workload is checked against: the network of a run, counted and as tables."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Columns = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Network:
    """Closed-form numbers, node table and link table of a topology."""

    counts: dict[str, int]
    nodes: Columns
    links: Columns

    @cached_property
    def tier_pairs(self) -> list[tuple[int, int]]:
        """The tiers that links join, each pair once, the lower tier first."""
        tier = np.zeros(int(self.nodes["node"].max()) + 1, dtype=np.int64)
        tier[self.nodes["node"]] = self.nodes["tier"]
        ends = np.sort(tier[np.stack([self.links["node_a"], self.links["node_b"]])], axis=0)
        return [tuple(pair) for pair in np.unique(ends, axis=1).T.tolist()]
