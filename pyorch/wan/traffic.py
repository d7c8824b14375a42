# SPDX-License-Identifier: GPL-2.0-only
"""Turns demands between datacenters into flows: from where, to where, by which cables, how fast.

A demand has as many sources as it says; each cuts its message into as many parts as there are
quanta, one flow each, so that every quantum of a split is on one way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx
import numpy as np

from pyorch.errors import PluginError, TheoryError
from pyorch.units import format_si
from pyorch.wan import maxmin
from pyorch.wan.paths import Assignment, Cable, Cables, NoPathError
from pyorch.wan.plan import Plan, plan
from pyorch.wan.request import Demand, Request


@dataclass(frozen=True)
class Stream:
    """One flow of a demand: its index, its source's, its part of the message, and its path."""

    demand: int
    source: int
    part: int
    src: int
    dst: int
    path: tuple[Cable, ...]

    def hops(self) -> list[tuple[int, int, int, int, int]]:
        """Return hop, node, peer, parallel and direction of its path and that of its ACKs."""
        there = [(hop, a, b, parallel, 0) for hop, (a, b, parallel) in enumerate(self.path)]
        back = enumerate(reversed(self.path))
        return there + [(hop, b, a, parallel, 1) for hop, (a, b, parallel) in back]


@dataclass(frozen=True)
class Traffic:
    """All flows, what each demand is granted [bit/s], and the share of each cable that is taken.

    Rates are those of the transports; the share counts what they send beside them.
    """

    streams: tuple[Stream, ...]
    granted_bps: tuple[float, ...]
    cable_share: dict[Cable, float]


def engineered(
    request: Request, hosts_of: Sequence[int], cables: Cables, overhead: float = 0.0
) -> Traffic:
    """Return the flows of a request on a network, at rates that no cable is too small for.

    Parameters
    ----------
    request : Request
        Its links are those between the sites; `headroom` is left free of every cable.
    hosts_of : sequence of int
        Number of sources of each demand.
    cables : Cables
        Of the network.
    overhead : float
        What flows send beside their rate, in units of it [1].

    Raises
    ------
    TheoryError
        A demand can never be granted.
    """
    reserved = _with_overhead(request, overhead)
    ends = _ends(request.demands, hosts_of, cables)
    for demand, its_ends in zip(request.demands, ends, strict=True):
        _check_hosts(demand, its_ends, cables, reserved.headroom)
    return _traffic(request, plan(reserved), ends, cables, overhead, {})


def re_engineered(
    request: Request,
    before: Traffic,
    cables: Cables,
    overhead: float = 0.0,
    planner: Callable[[Request], Plan] = lambda request: plan(request, possible=False),
) -> Traffic:
    """Return the same flows on what is left of a network; who can keeps the path that it had.

    Parameters
    ----------
    request, overhead
        As they were for `engineered`.
    before : Traffic
        What `engineered` has returned.
    cables : Cables
        Those that are left, with the rates that they have.
    planner : callable
        Who makes a plan of what is asked on what is left; not asked if some demand has no path.

    Raises
    ------
    NoPathError
        No path is left for some demands.
    PluginError
        The plan cannot be followed.
    """
    left = {*cables.rates_bps}
    rates = cables.haul_bps()
    links = [
        link.model_copy(update={"rate_bps": rates[pair]})
        for link in request.links if (pair := tuple(sorted(link.between))) in rates
    ]  # fmt: skip
    there = {tuple(sorted(link.between)) for link in links}
    demands = [
        demand.model_copy(update={"paths": [
            path for path in demand.paths
            if all(tuple(sorted(pair)) in there for pair in pairwise(path))
        ]}) for demand in request.demands
    ]  # fmt: skip
    _check_paths(request.demands, demands, links)
    now = request.model_copy(update={"links": links, "demands": demands})
    ends: list[list[tuple[int, int]]] = [[] for _ in demands]
    kept: dict[tuple[int, int], list[Stream]] = {}
    for stream in before.streams:
        if stream.source == len(ends[stream.demand]):
            ends[stream.demand].append((stream.src, stream.dst))
        if left.issuperset(stream.path):
            kept.setdefault((stream.demand, stream.source), []).append(stream)
    made = planner(_with_overhead(now, overhead))
    served = now.model_copy(update={"demands": _served(now, made)})
    return _traffic(served, made, ends, cables, overhead, kept)


def _check_paths(asked: Sequence[Demand], now: Sequence[Demand], links: Sequence) -> None:
    """Refuse demands to whose ends, or to none of whose paths, links are left."""
    graph = nx.Graph([tuple(link.between) for link in links])
    reasons = {}
    for index, (old, new) in enumerate(zip(asked, now, strict=True)):
        ends = old.source, old.target
        if old.paths and not new.paths:
            reasons[index] = f"demand {old.name}: none of its paths is left."
        elif not graph.nodes >= {*ends} or not nx.has_path(graph, *ends):
            reasons[index] = (
                f"demand {old.name}: no path from site {ends[0]} to {ends[1]}. Add a link."
            )
    if reasons:
        raise NoPathError(next(iter(reasons.values())), tuple(reasons))


def _served(request: Request, made: Plan) -> list[Demand]:
    """Return the demands as a plan has taken them; no more is granted than they ask for.

    Raises
    ------
    PluginError
        It does not grant each of them some rate, and all of its quanta on links that are up.
    """
    if not isinstance(made, Plan):
        raise PluginError(f"it returns {type(made).__name__}. Return a pyorch.wan.plan.Plan.")
    up = {tuple(pair) for link in request.links for pair in (link.between, link.between[::-1])}
    asked, granted = ([demand.name for demand in demands] for demands in (
        request.demands, [grant.demand for grant in made.grants]
    ))  # fmt: skip
    if asked != granted:
        raise PluginError(
            f"the plan is for {', '.join(granted)}. Grant, in this order: {', '.join(asked)}."
        )
    for grant in made.grants:
        quanta = [tunnel.split * request.quanta for tunnel in grant.tunnels]
        whole = [round(part) for part in quanta]
        if sum(whole) != request.quanta or any(
            abs(part - n) > 1e-6 for part, n in zip(quanta, whole, strict=True)
        ):
            raise PluginError(
                f"the plan splits demand {grant.demand.name} into"
                f" {', '.join(f'{tunnel.split:g}' for tunnel in grant.tunnels)}. Write multiples"
                f" of 1/{request.quanta} that add up to 1."
            )
        for tunnel in grant.tunnels:
            ends = grant.demand.source, grant.demand.target
            if (tunnel.sites[0], tunnel.sites[-1]) != ends or not up.issuperset(
                pairwise(tunnel.sites)
            ):
                raise PluginError(
                    f"the plan sends demand {grant.demand.name} by {' - '.join(tunnel.sites)}."
                    f" Lead it from {ends[0]} to {ends[1]} over links that are up:"
                    f" {', '.join(' - '.join(link.between) for link in request.links)}."
                )
        if not 0 <= grant.rate_bps < np.inf:
            raise PluginError(
                f"the plan grants demand {grant.demand.name} {grant.rate_bps:g} bit/s. Write 0 or"
                " more."
            )
    return [
        grant.demand if grant.rate_bps <= grant.demand.points()[-1][1] * (1 + 1e-9)
        else grant.demand.model_copy(
            update={"function": [], "demand_bps": int(np.ceil(grant.rate_bps))}
        )
        for grant in made.grants
    ]  # fmt: skip


def _with_overhead(request: Request, overhead: float) -> Request:
    """Return a request that leaves room for what flows send beside their rate."""
    headroom = 1.0 - (1.0 - request.headroom) / (1.0 + overhead)
    return request.model_copy(update={"headroom": headroom})


def _traffic(
    request: Request,
    made: Plan,
    ends: list[list[tuple[int, int]]],
    cables: Cables,
    overhead: float,
    kept: dict[tuple[int, int], list[Stream]],
) -> Traffic:
    """Return flows on cables: those that keep their paths first, the others in order of priority.

    Parameters
    ----------
    kept : dict
        By demand and source, the flows whose paths are still there.
    """
    whole, headroom = 1.0 + overhead, _with_overhead(request, overhead).headroom
    assignment, streams, homeless = Assignment(cables), [], []
    for index in sorted(range(len(ends)), key=lambda i: request.demands[i].priority):
        grant = made.grants[index]
        each_bps = grant.rate_bps * whole / (len(ends[index]) * request.quanta)
        through = [t.sites for t in grant.tunnels for _ in range(round(t.split * request.quanta))]
        for source, pair in enumerate(ends[index]):
            left, parts = list(through), set(range(request.quanta))
            for stream in kept.get((index, source), []):
                if (sites := cables.sites_on(stream.path)) in left:
                    left.remove(sites)
                    parts.remove(stream.part)
                    assignment.add(stream.path, each_bps)
                    streams.append(stream)
            homeless += [
                (index, source, part, *pair, sites, each_bps)
                for part, sites in zip(sorted(parts), left, strict=True)
            ]
    lost: dict[int, TheoryError] = {}
    for index, source, part, src, dst, sites, each_bps in homeless:
        try:
            path = assignment.take(src, dst, sites, each_bps)
        except TheoryError as error:
            lost.setdefault(index, error)
            continue
        streams.append(Stream(index, source, part, src, dst, tuple(path)))
    if lost:
        raise NoPathError(str(next(iter(lost.values()))), sorted(lost))
    granted = _granted(request, made.grants, streams, ends, cables, headroom)
    streams.sort(key=lambda stream: (stream.demand, stream.source, stream.part))
    return Traffic(tuple(streams), granted, _shares(streams, ends, granted, cables, request, whole))


def _ends(
    demands: Sequence[Demand], hosts_of: Sequence[int], cables: Cables
) -> list[list[tuple[int, int]]]:
    """Return source and destination of each source: the hosts of a site take turns."""
    turn: dict[tuple[str, str], int] = {}

    def following(role: str, site: str, n_hosts: int) -> list[int]:
        hosts, first = cables.hosts[site], turn.get((role, site), 0)
        turn[role, site] = first + n_hosts
        return [hosts[(first + i) % len(hosts)] for i in range(n_hosts)]

    found = []
    for demand, n_hosts in zip(demands, hosts_of, strict=True):
        for site in (demand.source, demand.target):
            if n_hosts > len(cables.hosts[site]):
                raise TheoryError(
                    f"demand {demand.name}: {n_hosts} hosts, but site {site} has"
                    f" {len(cables.hosts[site])}. Write at most that."
                )
        paths = (following("from", demand.source, n_hosts), following("to", demand.target, n_hosts))
        found.append(list(zip(*paths, strict=True)))
    return found


def _check_hosts(
    demand: Demand, ends: list[tuple[int, int]], cables: Cables, headroom: float
) -> None:
    """Refuse what the hosts could not send even without any other demand."""
    wanted = demand.points()[-1][1]
    for side in (0, 1):
        rates = [cables.rates_bps[cables.into[pair[side]][0]] for pair in ends]
        most = min(rates) * len(ends) * (1 - headroom)
        if wanted > most * (1 + 1e-9):
            raise TheoryError(
                f"demand {demand.name}: {format_si(wanted, 'bit/s')} can never be granted: the"
                f" links of its hosts ({len(ends)}) carry {format_si(most, 'bit/s')}. Give it more"
                " hosts, or ask for at most that."
            )


def _usage(
    streams: Sequence[Stream], ends: Sequence[Sequence], quanta: int, cables: Sequence[Cable]
) -> np.ndarray:
    """Return what part of each demand's rate crosses each cable, n_cables x n_demands."""
    row = {cable: index for index, cable in enumerate(cables)}
    usage = np.zeros((len(cables), len(ends)))
    for stream in streams:
        for cable in stream.path:
            usage[row[cable], stream.demand] += 1.0 / (len(ends[stream.demand]) * quanta)
    return usage


def _granted(
    request: Request,
    grants: Sequence,
    streams: Sequence[Stream],
    ends: Sequence[Sequence],
    cables: Cables,
    headroom: float,
) -> tuple[float, ...]:
    """Return rates, at most those granted, for which each single cable is large enough."""
    used = sorted({cable for stream in streams for cable in stream.path})
    usage = _usage(streams, ends, request.quanta, used)
    free = np.array([cables.rates_bps[cable] for cable in used]) * (1 - headroom)
    granted = np.zeros(len(grants))
    for priority in sorted({demand.priority for demand in request.demands}):
        own = [i for i, demand in enumerate(request.demands) if demand.priority == priority]
        most = [maxmin.capped(request.demands[i].points(), grants[i].rate_bps) for i in own]
        granted[own] = maxmin.over_splits(usage[:, own], most, free)
        free = np.maximum(free - usage[:, own] @ granted[own], 0.0)
    return tuple(float(rate) for rate in granted)


def _shares(
    streams: Sequence[Stream],
    ends: Sequence[Sequence],
    granted: Sequence[float],
    cables: Cables,
    request: Request,
    whole: float,
) -> dict[Cable, float]:
    used = sorted({cable for stream in streams for cable in stream.path})
    load = _usage(streams, ends, request.quanta, used) @ np.array(granted) * whole
    return {
        cable: float(bps / cables.rates_bps[cable]) for cable, bps in zip(used, load, strict=True)
    }
