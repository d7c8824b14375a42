# SPDX-License-Identifier: GPL-2.0-only
"""Takes a request, returns what each demand is admitted to and the paths that it takes."""

from dataclasses import dataclass
from itertools import islice, pairwise

import networkx as nx
import numpy as np

from pyorch.errors import TheoryError
from pyorch.units import format_si
from pyorch.wan import maxmin
from pyorch.wan.request import Demand, Request


@dataclass(frozen=True)
class Tunnel:
    """A path through sites and the part of its demand that takes it [1]."""

    sites: tuple[str, ...]
    split: float


@dataclass(frozen=True)
class Grant:
    """What a demand is admitted to [bit/s], its fair share, and its tunnels with a part of it."""

    demand: Demand
    rate_bps: float
    share: float
    tunnels: tuple[Tunnel, ...]


@dataclass(frozen=True)
class Plan:
    """The grants in the order of the demands, and the load of each direction of each link."""

    grants: tuple[Grant, ...]
    loads_bps: dict[tuple[str, str], float]
    capacities_bps: dict[tuple[str, str], float]


def plan(request: Request, possible: bool = True) -> Plan:
    """Return rates and splits: priority 0 first, each priority max-min fair in what is left.

    Parameters
    ----------
    request : Request
        Who wants what, on which network.
    possible : bool
        Refuse a demand that its tunnels could not carry alone; else it gets what there is.

    Raises
    ------
    TheoryError
        A demand has no path, or can never be granted.
    """
    capacity, paths = _capacity(request), [_paths(request, demand) for demand in request.demands]
    usage, owner, functions, free = tables(request)
    for group, demand in enumerate(request.demands):
        if possible:
            _check_possible(demand, usage[:, owner == group], free)
    grants: dict[str, Grant] = {}
    for priority in sorted({demand.priority for demand in request.demands}):
        chosen = [i for i, demand in enumerate(request.demands) if demand.priority == priority]
        mine = np.isin(owner, chosen)
        wanted = [functions[i] for i in chosen]
        of = np.searchsorted(chosen, owner[mine])
        ideal = maxmin.over_tunnels(usage[:, mine], of, wanted, free)
        splits = maxmin.quantised(ideal, of, request.quanta)
        each = np.arange(len(chosen))[:, None] == of[None, :]
        of_groups = usage[:, mine] @ (each * splits).T
        ends = [maxmin.capped(f, r) for f, r in zip(wanted, each @ ideal, strict=True)]
        rates = maxmin.over_splits(of_groups, ends, free)
        free = np.maximum(free - of_groups @ rates, 0.0)
        for group, i in enumerate(chosen):
            demand, parts = request.demands[i], splits[of == group]
            grants[demand.name] = Grant(
                demand,
                float(rates[group]),
                maxmin.share_at(functions[i], rates[group]),
                tuple(Tunnel(p, float(s)) for p, s in zip(paths[i], parts, strict=True) if s > 0),
            )
    in_order = tuple(grants[demand.name] for demand in request.demands)
    return Plan(in_order, _loads(in_order, list(capacity)), capacity)


def tables(request: Request) -> tuple[np.ndarray, np.ndarray, list[list], np.ndarray]:
    """Return usage, owner, functions and capacity [bit/s] of all demands, as maxmin takes them."""
    capacity = _capacity(request)
    paths = [_paths(request, demand) for demand in request.demands]
    owner = np.repeat(np.arange(len(paths)), [len(mine) for mine in paths])
    usage = _usage([path for mine in paths for path in mine], list(capacity))
    free = np.array(list(capacity.values())) * (1 - request.headroom)
    return usage, owner, [demand.points() for demand in request.demands], free


def _capacity(request: Request) -> dict[tuple[str, str], float]:
    """Return the rate of each direction of each link [bit/s]."""
    return {
        (a, b): float(link.rate_bps)
        for link in request.links
        for a, b in (link.between, link.between[::-1])
    }


def _paths(request: Request, demand: Demand) -> list[tuple[str, ...]]:
    """Return the paths that a demand names, or its shortest by delay, at most `tunnels`."""
    if demand.paths:
        return [tuple(path) for path in demand.paths]
    graph = nx.DiGraph()
    graph.add_nodes_from(request.sites)
    for link in request.links:
        for a, b in (link.between, link.between[::-1]):
            graph.add_edge(a, b, delay=link.delay_ps + 1)  # 1 ps a link: the fewest links
    if not nx.has_path(graph, demand.source, demand.target):
        raise TheoryError(
            f"demand {demand.name}: no path from site {demand.source} to {demand.target}. Add"
            " a link."
        )
    found = nx.shortest_simple_paths(graph, demand.source, demand.target, weight="delay")
    return [tuple(path) for path in islice(found, request.tunnels)]


def _usage(paths: list[tuple[str, ...]], links: list[tuple[str, str]]) -> np.ndarray:
    row = {link: index for index, link in enumerate(links)}
    usage = np.zeros((len(links), len(paths)))
    for column, path in enumerate(paths):
        usage[[row[link] for link in pairwise(path)], column] = 1
    return usage


def _check_possible(demand: Demand, usage: np.ndarray, free: np.ndarray) -> None:
    """Refuse what could not be granted even without any other demand."""
    points = demand.points()
    alone = maxmin.over_tunnels(usage, np.zeros(usage.shape[1], dtype=int), [points], free).sum()
    wanted = points[-1][1]
    if alone < wanted * (1 - 1e-6):
        raise TheoryError(
            f"demand {demand.name}: {format_si(wanted, 'bit/s')} can never be granted: its"
            f" {usage.shape[1]} tunnels carry {format_si(alone, 'bit/s')} without any other demand."
            " Ask for at most that, or raise tunnels or the rates of links."
        )


def _loads(grants: tuple[Grant, ...], links: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    loads = dict.fromkeys(links, 0.0)
    for grant in grants:
        for tunnel in grant.tunnels:
            for link in pairwise(tunnel.sites):
                loads[link] += grant.rate_bps * tunnel.split
    return loads
