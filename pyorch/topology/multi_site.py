# SPDX-License-Identifier: GPL-2.0-only
"""Datacenters, each any other topology, joined by long-haul links between their border switches.

Each border switch of a site is linked to all switches of its highest tier, on rails to those of
every rail; a long-haul entry links each border switch of one site with each of the other. Node ids:
the hosts site by site, then the other switches site by site, then the border switches. Border
switches are one tier above all others, so that classes of links and switches tell them and their
links from the rest.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import (
    FILLED,
    Closed,
    Count,
    DelayPs,
    FieldError,
    Name,
    RateBps,
    WrittenTopology,
)
from pyorch.spec.parts import REACHES, Topology
from pyorch.spec.resolved import Link
from pyorch.topology._nested import settled

Tables = dict[str, dict[str, np.ndarray]]
_NEEDED = ("switches", "top_switches", "cables", "ports", "access_links")


class Site(Closed):
    """A datacenter and how its border switches hang on it; what is not said is as in `link`."""

    name: Name
    topology: SerializeAsAny[WrittenTopology]
    borders: Count = 1
    border_parallel: Count = 1
    border_rate_bps: RateBps = Field(alias="border_rate", json_schema_extra=FILLED)
    border_delay_ps: DelayPs = Field(alias="border_delay", json_schema_extra=FILLED)

    @model_validator(mode="before")
    @classmethod
    def _border_links_are_links(cls, given: object, info: ValidationInfo) -> object:
        if not isinstance(given, dict) or not info.context:
            return given
        link = info.context["link"]
        return {
            "border_rate": f"{link.rate_bps} bit/s",
            "border_delay": f"{link.delay_ps} ps",
            **given,
        }


class LongHaul(Closed):
    """Links of one kind between two sites; another entry for the same two may be of another."""

    between: Annotated[list[Name], Field(min_length=2, max_length=2)]
    rate_bps: RateBps = Field(alias="rate")
    delay_ps: DelayPs = Field(alias="delay")
    parallel: Count = 1


class Params(Closed):
    """The sites, and the links between them."""

    sites: Annotated[list[Site], Field(min_length=2)]
    long_haul: Annotated[list[LongHaul], Field(min_length=1)]

    @field_validator("sites", mode="after")
    @classmethod
    def _sites_are_topologies(cls, sites: list[Site], info: ValidationInfo) -> list[Site]:
        return [_settled(site, index, info.context or {}) for index, site in enumerate(sites)]

    @model_validator(mode="after")
    def _is_one_network(self) -> "Params":
        """Refuse names that are double or unknown, and a site that no link reaches."""
        names = [site.name for site in self.sites]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise FieldError(
                    f"sites.{index}.name",
                    f"{quoted(name)} is the name of another site too. Give each its own.",
                )
        reached = {names[0]}
        for index, entry in enumerate(self.long_haul):
            where = f"long_haul.{index}.between"
            for name in entry.between:
                if name not in names:
                    raise FieldError(
                        where, f"no site is called {quoted(name)}. There are {', '.join(names)}."
                        f"{did_you_mean(name, names)}",
                    )  # fmt: skip
            if entry.between[0] == entry.between[1]:
                raise FieldError(where, f"both ends are {quoted(name)}. Name two sites.")
        for _ in names:
            reached |= {n for e in self.long_haul for n in e.between if reached & set(e.between)}
        if alone := [name for name in names if name not in reached]:
            raise FieldError(
                "long_haul",
                f"no path from site {quoted(names[0])} to site {quoted(alone[0])}. Add a link"
                " between two that are joined to them.",
            )
        return self


def _settled(site: Site, index: int, context: dict) -> Site:
    """Return a site whose topology is checked by its own model, with all its defaults."""
    where = f"sites.{index}.topology"
    return site.model_copy(
        update={"topology": settled(site.topology, where, context, _NEEDED, "a site")}
    )


def tables(params: Params, link: Link) -> Tables:
    """Return the node and link tables; columns as in docs/definitions.md."""
    sites = params.sites
    networks = [site.topology.tables(link) for site in sites]
    ids, first_border = _new_ids([network["nodes"] for network in networks])
    ends = first_border + np.cumsum([0, *(site.borders for site in sites)])
    borders = {
        site.name: np.arange(low, high)
        for site, low, high in zip(sites, ends[:-1], ends[1:], strict=True)
    }
    parts = []
    for site, network, of in zip(sites, networks, ids, strict=True):
        nodes, links = network["nodes"], network["links"]
        parts.append(links | {end: of[links[end]] for end in ("node_a", "node_b")})
        top = np.sort(of[site.topology.top_switches(nodes)])
        kind = site.border_parallel, site.border_rate_bps, site.border_delay_ps
        parts.append(_mesh(top, borders[site.name], *kind))
    found: dict[tuple[str, ...], int] = {}
    for entry in params.long_haul:
        pair = tuple(sorted(entry.between, key=lambda name: borders[name][0]))
        low, high = (borders[name] for name in pair)
        kind = entry.parallel, entry.rate_bps, entry.delay_ps
        parts.append(_mesh(low, high, *kind, found.get(pair, 0)))
        found[pair] = found.get(pair, 0) + entry.parallel
    nodes = _nodes([network["nodes"] for network in networks], ids, int(ends[-1]), first_border)
    return {"nodes": nodes, "links": _joined(parts, link)}


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    sites = params.sites
    each = [site.topology.counts() for site in sites]
    total = {key: sum(numbers[key] for numbers in each) for key in ("hosts", *_NEEDED)}
    borders = {site.name: site.borders for site in sites}
    border_links = sum(
        numbers["top_switches"] * site.borders * site.border_parallel
        for numbers, site in zip(each, sites, strict=True)
    )
    long_haul_links = sum(
        borders[entry.between[0]] * borders[entry.between[1]] * entry.parallel
        for entry in params.long_haul
    )
    cables = total["cables"] + border_links + long_haul_links
    return {
        "hosts": total["hosts"],
        "hosts_per_leaf": max(numbers["hosts_per_leaf"] for numbers in each),
        "sites": len(sites),
        "hosts_per_site": max(numbers["hosts"] for numbers in each),
        "switches": total["switches"] + sum(borders.values()),
        "top_switches": sum(borders.values()),
        "ports": total["ports"] + 2 * (border_links + long_haul_links),
        "access_links": total["access_links"],
        "fabric_links": cables - total["access_links"],
        "border_links": border_links,
        "long_haul_links": long_haul_links,
        "cables": cables,
    } | ({"rails": max(rails)} if (rails := [n["rails"] for n in each if "rails" in n]) else {})


def relays(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the host that relays each message inside a site; -1 for all others."""
    found = np.full(len(src), -1, dtype=np.int64)
    for topology, first, rows in _inside(params, src, dst):
        own = topology.relays(src[rows] - first, dst[rows] - first)
        found[rows] = np.where(own < 0, own, own + first)
    return found


def reach(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return which network carries each message: that of a site, or the one between sites."""
    found = np.full(len(src), REACHES.index("wide_area"), dtype=np.int64)
    for topology, first, rows in _inside(params, src, dst):
        found[rows] = topology.reach(src[rows] - first, dst[rows] - first)
    return found


def networks(params: Params, link: Link) -> list[str]:
    """Return the name of the network of each node: those of each site, and the wide area."""
    nodes = [site.topology.tables(link)["nodes"] for site in params.sites]
    ids, first_border = _new_ids(nodes)
    borders = sum(site.borders for site in params.sites)
    names = np.full(first_border + borders, "wide_area", dtype=object)
    for site, its, of in zip(params.sites, nodes, ids, strict=True):
        names[of[its["node"]]] = [f"{site.name} {name}" for name in site.topology.networks(link)]
    return names.tolist()


def _inside(
    params: Params, src: np.ndarray, dst: np.ndarray
) -> Iterator[tuple[Topology, int, np.ndarray]]:
    """Yield of each site its topology, its first host, and the messages that stay inside."""
    topologies: list[Any] = [site.topology for site in params.sites]
    ends = np.cumsum([0, *(topology.counts()["hosts"] for topology in topologies)])
    for topology, first, end in zip(topologies, ends[:-1], ends[1:], strict=True):
        own = (src >= first) & (src < end) & (dst >= first) & (dst < end)
        yield topology, int(first), np.flatnonzero(own)


def _new_ids(sites: list[dict[str, np.ndarray]]) -> tuple[list[np.ndarray], int]:
    """Return the new id of each old one, site by site, and the first that is free."""
    found = [np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64) for nodes in sites]
    following = 0
    for is_switch in (0, 1):
        for nodes, of in zip(sites, found, strict=True):
            old = np.sort(nodes["node"][nodes["is_switch"] == is_switch])
            of[old] = np.arange(following, following + len(old))
            following += len(old)
    return found, following


def _nodes(
    sites: list[dict[str, np.ndarray]], ids: list[np.ndarray], n_nodes: int, first_border: int
) -> dict[str, np.ndarray]:
    """Return the node table: that of each site with new ids, and the border switches."""
    of = np.concatenate([of[nodes["node"]] for nodes, of in zip(sites, ids, strict=True)])
    table = {"node": np.arange(n_nodes, dtype=np.int64)}
    for name in ("is_switch", "tier", "plane"):
        given = np.concatenate([nodes[name] for nodes in sites])
        # Where sites have planes, the border switches are one of their own.
        beyond = {"is_switch": 1, "tier": given.max() + 1, "plane": given.max() + 1}[name]
        if name == "plane" and given.max() == 0:
            beyond = 0
        table[name] = np.full(n_nodes, beyond, dtype=np.int64)
        table[name][of] = given
    return table


def _mesh(
    a: np.ndarray, b: np.ndarray, parallel: int, rate_bps: int, delay_ps: int, first: int = 0
) -> dict[str, np.ndarray]:
    """Return `parallel` links, counted from `first`, between each of `a` and each of `b`."""
    index_a, index_b, index = np.indices((len(a), len(b), parallel)).reshape(3, -1)
    return {
        "node_a": a[index_a],
        "node_b": b[index_b],
        "parallel": first + index,
        "rate_bps": np.full(len(index), rate_bps, dtype=np.int64),
        "delay_ps": np.full(len(index), delay_ps, dtype=np.int64),
    }


def _joined(parts: list[dict[str, np.ndarray]], link: Link) -> dict[str, np.ndarray]:
    """Return one link table; what a part does not say of losses is as in `link`."""
    names = ["node_a", "node_b", "parallel", "rate_bps", "delay_ps", "loss_ratio"]
    if any("bit_error_ratio" in part for part in parts):
        names.append("bit_error_ratio")
    default = {name: getattr(link, name) for name in ("loss_ratio", "bit_error_ratio")}
    return {
        name: np.concatenate(
            [part.get(name, np.full(len(part["node_a"]), default.get(name))) for part in parts]
        )
        for name in names
    }
