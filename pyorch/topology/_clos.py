# SPDX-License-Identifier: GPL-2.0-only
"""Folded Clos (fat tree) of any number of tiers: its numbers in closed form, and its tables.

Source: extended generalised fat tree, Oehring et al., IPPS 1995. A switch of tier t (1 is next to
the hosts) has children[t-1] children and parents[t-1] parents; each pair is joined by
parallel[t-1] links. A switch is named by the digits x(t+1..n) of the subtrees it lies in and the
digits y(1..t-1) that tell it from its twins; it is joined to the switches of the next tier that
have the same digits but for x(t+1), which they have not, and y(t), which is any.
"""

from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True)
class Clos:
    """Shape of a folded Clos.

    Attributes
    ----------
    children : tuple of int, one for each tier
        Hosts of a switch of tier 1; switches of tier t-1 below a switch of tier t.
    parents, parallel : tuple of int, one for each tier but the top
        Switches of the next tier above a switch; links to each of them.
    planes : int
        Copies of all switches; a host has one port for each.
    """

    children: tuple[int, ...]
    parents: tuple[int, ...]
    parallel: tuple[int, ...]
    planes: int = 1

    @property
    def tiers(self) -> int:
        """Number of tiers of switches."""
        return len(self.children)

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return prod(self.children)

    def switches(self, tier: int) -> int:
        """Return the number of switches of a tier in one plane, 1 for the tier next to hosts."""
        return prod(self.children[tier:]) * prod(self.parents[: tier - 1])

    def links_above(self, tier: int) -> int:
        """Return the number of links between a tier and the next in one plane."""
        return self.switches(tier) * self.parents[tier - 1] * self.parallel[tier - 1]

    def ports_of_switch(self, tier: int) -> int:
        """Return how many ports of a switch of this tier are in use."""
        below = self.children[tier - 1] * (self.parallel[tier - 2] if tier > 1 else 1)
        above = self.parents[tier - 1] * self.parallel[tier - 1] if tier < self.tiers else 0
        return below + above


def counts(clos: Clos) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    tiers = range(1, clos.tiers + 1)
    per_tier = {f"switches_tier_{t}": clos.switches(t) * clos.planes for t in tiers}
    fabric_links = sum(map(clos.links_above, tiers[:-1])) * clos.planes
    access_links = clos.hosts * clos.planes
    return {
        "hosts": clos.hosts,
        "hosts_per_leaf": clos.children[0],
        "switches": sum(per_tier.values()),
        **per_tier,
        "top_switches": clos.switches(clos.tiers) * clos.planes,
        "ports": sum(clos.switches(t) * clos.ports_of_switch(t) for t in tiers) * clos.planes,
        "access_links": access_links,
        "fabric_links": fabric_links,
        "cables": access_links + fabric_links,
    }


def tables(
    clos: Clos, rates_bps: list[int], delays_ps: list[int], loss_ratio: float
) -> dict[str, dict[str, np.ndarray]]:
    """Return node and link tables.

    Node ids: hosts first (those of a switch are neighbours), then plane by plane tier 1, 2, ....

    Parameters
    ----------
    clos : Clos
        Shape.
    rates_bps, delays_ps : list of int, one for each tier
        Of the links below the switches of tier 1, 2, ... [bit/s], [ps].
    loss_ratio : float
        Of every link [1].
    """
    sizes = [clos.switches(tier) for tier in range(1, clos.tiers + 1)]
    n_hosts, per_plane = clos.hosts, sum(sizes)
    n_nodes = n_hosts + per_plane * clos.planes
    ends, parallel, tier_below = [], [], []
    for plane in range(clos.planes):
        first = n_hosts + plane * per_plane + np.cumsum([0, *sizes])
        host = np.arange(n_hosts)
        ends.append(np.stack([host, first[0] + host // clos.children[0]]))
        parallel.append(np.zeros(n_hosts, dtype=np.int64))
        tier_below.append(np.zeros(n_hosts, dtype=np.int64))
        for tier in range(1, clos.tiers):
            lower, upper, index = _between(clos, tier)
            ends.append(np.stack([first[tier - 1] + lower, first[tier] + upper]))
            parallel.append(index)
            tier_below.append(np.full(len(index), tier))
    node_a, node_b = np.concatenate(ends, axis=1)
    below = np.concatenate(tier_below)
    hosts_zero = np.zeros(n_hosts, dtype=np.int64)
    tier_of = np.tile(np.repeat(np.arange(1, clos.tiers + 1), sizes), clos.planes)
    return {
        "nodes": {
            "node": np.arange(n_nodes, dtype=np.int64),
            "is_switch": (np.arange(n_nodes) >= n_hosts).astype(np.int64),
            "tier": np.concatenate([hosts_zero, tier_of]),
            "plane": np.concatenate([hosts_zero, np.repeat(np.arange(clos.planes), per_plane)]),
        },
        "links": {
            "node_a": node_a,
            "node_b": node_b,
            "parallel": np.concatenate(parallel),
            "rate_bps": np.array(rates_bps, dtype=np.int64)[below],
            "delay_ps": np.array(delays_ps, dtype=np.int64)[below],
            "loss_ratio": np.full(len(below), loss_ratio, dtype=np.float64),
        },
    }


def _between(clos: Clos, tier: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower switch, upper switch and parallel index of all links above a tier."""
    twins, parents = prod(clos.parents[: tier - 1]), clos.parents[tier - 1]
    outer, child, twin, parent, index = np.indices(
        (prod(clos.children[tier + 1 :]), clos.children[tier], twins, parents,
         clos.parallel[tier - 1])
    ).reshape(5, -1)  # fmt: skip
    lower = (outer * clos.children[tier] + child) * twins + twin
    upper = (outer * twins + twin) * parents + parent
    return lower, upper, index
