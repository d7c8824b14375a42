# SPDX-License-Identifier: GPL-2.0-only
"""Takes what flows want to pass, site by site, returns which cables each of them takes.

Flows take their turn: each the path that leaves its fullest cable least full, among those with the
fewest links that lead through its sites.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from pyorch.errors import TheoryError

Columns = Mapping[str, np.ndarray]
#: A cable in one direction: from, to, which of the parallel ones.
Cable = tuple[int, int, int]


class Cables:
    """The directed cables of datacenters that border switches, the highest tier, join.

    Parameters
    ----------
    nodes, links : mapping of ndarray
        Tables of a network.
    sites : sequence of (str, int)
        Name and number of border switches of each datacenter, in the order of their ids.
    """

    def __init__(self, nodes: Columns, links: Columns, sites: Sequence[tuple[str, int]]):
        ends = [links["node_a"].tolist(), links["node_b"].tolist(), links["parallel"].tolist()]
        rates = [float(rate) for rate in links["rate_bps"]]
        self.rates_bps: dict[Cable, float] = {}
        for a, b, parallel, rate in zip(*ends, rates, strict=True):
            self.rates_bps[a, b, parallel] = self.rates_bps[b, a, parallel] = rate
        self.into: dict[int, list[Cable]] = {}
        for cable in sorted(self.rates_bps):
            self.into.setdefault(cable[1], []).append(cable)
        is_border = nodes["tier"] == nodes["tier"].max()
        borders = np.sort(nodes["node"][is_border]).tolist()
        names = [name for name, n_borders in sites for _ in range(n_borders)]
        self._is_host = dict(zip(nodes["node"].tolist(), nodes["is_switch"] == 0, strict=True))
        self.site_of = self._flooded(dict(zip(borders, names, strict=True)))

    def _flooded(self, known: dict[int, str]) -> dict[int, str]:
        """Return the site of each node: that of the border switches it hangs on."""
        found, new = dict(known), list(known)
        while new:
            node = new.pop()
            for other, _, _ in self.into.get(node, []):
                if other not in found:
                    found[other] = found[node]
                    new.append(other)
        return found

    @cached_property
    def hosts(self) -> dict[str, list[int]]:
        """The hosts of each site, ascending."""
        found: dict[str, list[int]] = {}
        for node in sorted(self.site_of):
            if self._is_host[node]:
                found.setdefault(self.site_of[node], []).append(node)
        return found

    def haul_bps(self) -> dict[tuple[str, ...], int]:
        """Return the rate of all cables between each two sites, in one direction [bit/s]."""
        found: dict[tuple[str, ...], int] = {}
        for (a, b, _), rate_bps in self.rates_bps.items():
            pair = (self.site_of[a], self.site_of[b])
            if pair == tuple(sorted(pair)) and pair[0] != pair[1]:
                found[pair] = found.get(pair, 0) + int(rate_bps)
        return found

    def sites_on(self, path: Sequence[Cable]) -> tuple[str, ...]:
        """Return the sites that a path passes, in their order."""
        passed = [self.site_of[path[0][0]], *(self.site_of[b] for _, b, _ in path)]
        return tuple(site for site, _ in groupby(passed))

    def n_ports(self, node: int) -> int:
        """Return how many cables a node has."""
        return len(self.into[node])

    def paths(self, src: int, dst: int, sites: Sequence[str]) -> list[list[Cable]]:
        """Return, link by link from `src`, the cables that lie on a shortest path to `dst`.

        A path goes through the sites in their order, from border switch to border switch.
        """
        onward = set(pairwise(sites))
        levels: list[list[Cable]] = []
        seen, front = {dst}, {dst}
        while src not in front:
            cables = [
                cable for node in sorted(front) for cable in self.into.get(node, [])
                if cable[0] not in seen and self._leads(cable, sites, onward)
                and (not self._is_host[cable[0]] or cable[0] == src)
            ]  # fmt: skip
            if not cables:
                raise TheoryError(
                    f"no path from host {src} to host {dst} by {' - '.join(sites)}. Leave a link."
                )
            levels.append(cables)
            front = {cable[0] for cable in cables}
            seen |= front
        reached, forth = {src}, []
        for cables in reversed(levels):
            forth.append([cable for cable in cables if cable[0] in reached])
            reached = {cable[1] for cable in forth[-1]}
        return forth

    def _leads(self, cable: Cable, sites: Sequence[str], onward: set) -> bool:
        """Return whether a cable may be part of a path through these sites."""
        a, b = (self.site_of[node] for node in cable[:2])
        # Inside a site there is nothing to do on the way but at its ends.
        return (a, b) in onward if a != b else a in (sites[0], sites[-1])


class NoPathError(TheoryError):
    """Nothing is left of a network by which some demands could be served; their indices."""

    def __init__(self, message: str, demands: Sequence[int]):
        super().__init__(message)
        self.demands = tuple(demands)


class Assignment:
    """Flows on cables: which each of them takes, and how full the cables are."""

    def __init__(self, cables: Cables):
        self._cables = cables
        self._paths: dict[tuple, list[list[Cable]]] = {}
        self.load_bps: dict[Cable, float] = {}

    def take(self, src: int, dst: int, sites: tuple[str, ...], rate_bps: float) -> list[Cable]:
        """Return the path of one more flow, and count its rate on it."""
        key = (src, dst, sites)
        if key not in self._paths:
            self._paths[key] = self._cables.paths(src, dst, sites)
        path = self._emptiest(self._paths[key], src, dst, rate_bps)
        self.add(path, rate_bps)
        return path

    def add(self, path: Sequence[Cable], rate_bps: float) -> None:
        """Count the rate of a flow whose path is known."""
        for cable in path:
            self.load_bps[cable] = self.load_bps.get(cable, 0.0) + rate_bps

    def _emptiest(
        self, levels: list[list[Cable]], src: int, dst: int, rate_bps: float
    ) -> list[Cable]:
        """Return the path whose fullest cable is least full, then with the least load in all."""
        best: dict[int, tuple[float, float]] = {src: (0.0, 0.0)}
        came: list[dict[int, Cable]] = []
        for cables in levels:
            reached: dict[int, tuple[float, float]] = {}
            by: dict[int, Cable] = {}
            for cable in cables:
                share = (self.load_bps.get(cable, 0.0) + rate_bps) / self._cables.rates_bps[cable]
                fullest, total = best[cable[0]]
                cost = (max(fullest, share), total + share)
                if cable[1] not in reached or cost < reached[cable[1]]:
                    reached[cable[1]], by[cable[1]] = cost, cable
            came.append(by)
            best = reached
        path, node = [], dst
        for by in reversed(came):
            path.append(by[node])
            node = path[-1][0]
        return path[::-1]
