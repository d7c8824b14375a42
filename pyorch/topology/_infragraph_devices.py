# SPDX-License-Identifier: GPL-2.0-only
"""Takes an InfraGraph infrastructure apart: accelerators are hosts, with a scale-up network.

An xpu is a host; so is an instance with a nic and no xpu. The links that are named join xpus and
switches of a device, or of instances: the scale-up network. Of what else is in a device only the
components are kept that have a cable to another instance, NICs here. An xpu has a link to each NIC
to which its way is the shortest, of the least bandwidth on that way; what lies between is left out.
A NIC is a small switch, so an xpu sends to any NIC that it has a link to. On rails that no switch
joins, an xpu of the sender's scale-up network relays what is for another rail. Where two xpus have
a NIC in common, each has a bus of its own before it, also a small switch, so that scale-up is
nearer. Xpus that links join without a switch have a router each, 1000 times as fast and 1 ps away,
as hosts do not forward.

Rates and delays of the file hold. The scenario gives what it has not; a NIC's cables say what a bus
without bandwidth carries. Ids are hosts instance by instance, switches of scale-up, other switches,
then buses and NICs. Scale-up is one tier above all others, buses and NICs are another one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import listed
from pyorch.spec.limits import MOST_LINKS, MOST_NODES
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph, _islands
from pyorch.topology._infragraph import HOST, KEY, End, Infrastructure, Properties

#: How much faster than its fastest link an xpu's own link to its router is, and its delay [ps].
_OWN_TIMES, _OWN_PS = 1000, 1
_XPU = HOST[1]

Cable = tuple[End, End, int | None, int | None]


class Given(NamedTuple):
    """What the scenario says: links of scale-up, their rate and delay, and that to a NIC."""

    links: tuple[str, ...]
    rate_bps: int | None
    delay_ps: int | None
    nic_delay_ps: int | None


class Found(NamedTuple):
    """A network.

    Attributes
    ----------
    nodes, links : dict of ndarray
        Tables.
    islands, rails : ndarray, one per node, one per host
        The scale-up network, -1 for none; which set of other networks the host has.
    meet : ndarray of bool
        Whether hosts of two rails have a network in common.
    relay : ndarray
        Of each scale-up network the first host that has a network in common with a rail, -1: none.
    networks : list of str
        The name of the network of each node.
    remarks : tuple of str
        What is left out of the file.
    """

    nodes: dict[str, np.ndarray]
    links: dict[str, np.ndarray]
    islands: np.ndarray
    rails: np.ndarray
    meet: np.ndarray
    relay: np.ndarray
    networks: list[str]
    remarks: tuple[str, ...]


class _Way(NamedTuple):
    """From an xpu to a NIC: rate of its first link, least rate, delay; None: the file has none."""

    first_bps: int | None
    rate_bps: int | None
    delay_ps: int | None


def network(read: Infrastructure, given: Given, link: Link) -> Found:
    """Return the network of accelerators, switches and NICs.

    Raises
    ------
    FieldError
        There is no such link or no xpu, a rate or delay is missing, or hosts are not joined.
    """
    parts = _Parts(read, given)
    up, fabric = parts.scale_up(), parts.fabric()
    access, nics = parts.access(fabric, link.rate_bps)
    hosts = dict.fromkeys(parts.hosts)
    of_up = parts.in_order(set(_ends(up)) - hosts.keys() - nics.keys())
    others = parts.in_order(set(_ends(fabric)) - hosts.keys() - nics.keys() - of_up.keys())
    place = {end: index for index, end in enumerate(chain(hosts, of_up, others, nics))}
    if (n_links := len(up) + len(fabric) + len(access)) > MOST_LINKS or len(place) > MOST_NODES:
        raise read.error(f"{len(place)} nodes and {n_links} links; at most {MOST_LINKS}")
    rows = [(place[a], place[b], rate, delay) for a, b, rate, delay in (*up, *fabric, *access)]
    links = _graph.links_of(rows, link.rate_bps, link.delay_ps, link.loss_ratio)
    is_switch = np.repeat([0, 1], [len(hosts), len(place) - len(hosts)])
    nodes = {"node": np.arange(len(place)), "is_switch": is_switch}
    _graph.check_links(dict(enumerate(map(bool, is_switch))), links, read.where, KEY)
    kinds = np.repeat([0, 1, 2, 3], [len(hosts), len(of_up), len(others), len(nics)])
    islands, is_long = _islands.found(
        [(place[a], place[b]) for a, b, *_ in up], len(place), len(hosts)
    )
    rails, meet, relay = _islands.rails(nodes, links, islands, len(hosts))
    _islands.check(nodes, links, islands, rails, meet, relay, read.where)
    nodes = _graph.with_tiers(nodes, links)
    nodes |= _islands.above(nodes, kinds, islands)
    names = (REACHES[0], REACHES[0], None, "nics")
    said = list(parts.left_out(place))
    if is_long and nics:
        said.append(
            "some xpus are 4 links or more apart over scale-up, so messages between them may leave"
            " by NICs, which are as near."
        )
    return Found(
        nodes, links, islands, rails, meet, relay,
        [names[kind] or f"plane {its}" for kind, its in zip(kinds, nodes["plane"], strict=True)],
        tuple(said),
    )  # fmt: skip


def whole(read: Infrastructure, link: Link) -> Found:
    """Return the network in which each instance is one node; hosts are counted first."""
    places, kinds = {}, {name: read.is_switch(own.device) for name, own in read.instances.items()}
    for wanted in (False, True):
        for name, own in read.instances.items():
            if kinds[name] is wanted:
                places |= {(name, number): len(places) + number for number in range(own.count)}
    cables = [
        (places[edge.a[:2]], places[edge.b[:2]], *read.links[edge.link]) for edge in read.edges
    ]
    if not cables:
        raise read.error("there is no edge between instances, so there is no network")
    links = _graph.links_of(cables, link.rate_bps, link.delay_ps, link.loss_ratio)
    n_switches = sum(own.count for name, own in read.instances.items() if kinds[name])
    n_hosts = len(places) - n_switches
    nodes = _graph.checked(n_hosts, n_switches, links, read.where, KEY)["nodes"]
    inside = sum(
        own.count * sum(number for kind, number in read.choices_in(own.device).items()
                        if kind == HOST[1])
        for own in read.instances.values()
    )  # fmt: skip
    said = [f"its {inside} xpus are {n_hosts} hosts, one for each instance; scale_up tells them"
            " apart."] if inside > n_hosts else []  # fmt: skip
    return Found(
        nodes, links, np.full(len(places), -1), np.zeros(n_hosts, dtype=np.int64),
        np.ones((1, 1), dtype=bool), np.full((1, 1), -1),
        [f"plane {plane}" for plane in nodes["plane"]], (*said, *read.remarks()),
    )  # fmt: skip


def _ends(cables: Iterable[Cable]) -> Iterator[End]:
    return (end for cable in cables for end in cable[:2])


class _Parts:
    """Components of an infrastructure as nodes of a network; `hosts` in their order."""

    def __init__(self, read: Infrastructure, given: Given):
        self.read, self.given = read, given
        self.of_devices = {
            name: dict.fromkeys(self.xpus(own.device)) for name, own in read.instances.items()
        }
        known = {*read.links, *chain.from_iterable(own.links for own in read.devices.values())}
        for name in given.links:
            if name not in known:
                raise FieldError(
                    "scale_up", f"{read.where}: there is no link {quoted(name)}. It has"
                    f" {', '.join(sorted(known))}.{did_you_mean(name, known)}",
                )  # fmt: skip
        if (total := sum(max(1, len(self.of_devices[name])) * own.count
                         for name, own in read.instances.items())) > MOST_NODES:  # fmt: skip
            raise read.error(f"{total} xpus and switches; at most {MOST_NODES}")
        self.hosts = [
            (name, number, path)
            for name, own in read.instances.items() if not read.is_switch(own.device)
            for number in range(own.count)
            for path in self.of_devices[name] or ("",)
        ]  # fmt: skip
        self.host_set = set(self.hosts)

    def xpus(self, device: str, path: str = "") -> list[str]:
        """Return the paths of all xpus of a device."""
        own, read = self.read.devices[device], self.read
        if read.choices_in(device).get(_XPU, 0) > MOST_NODES:
            raise read.error(f"device {device} has more than {MOST_NODES} xpus")
        found = []
        for name, choice in own.choices.items():
            if choice == _XPU:
                found += [f"{path}{name}.{number}." for number in range(own.counts[name])]
            elif choice == "device" and read.choices_in(name).get(_XPU):
                for number in range(own.counts[name]):
                    found += self.xpus(name, f"{path}{name}.{number}.")
        return found

    def node(self, end: End) -> End:
        """Return what an end is part of: an xpu, a device without one in it, or itself."""
        name, number, path = end
        device, before, rest = self.read.instances[name].device, "", path.split(".")[:-1]
        while True:
            n_xpus = self.read.choices_in(device).get(_XPU, 0)
            if n_xpus < 2:
                return name, number, self.xpus(device, before)[0] if n_xpus else before
            part, index, *rest = rest
            before += f"{part}.{index}."
            if self.read.devices[device].choices[part] != "device":
                return name, number, before
            device = part

    def in_order(self, nodes: set[End]) -> dict[End, None]:
        """Return nodes by their instances, and in one by their paths."""
        place = {name: index for index, name in enumerate(self.read.instances)}
        return dict.fromkeys(
            sorted(nodes, key=lambda end: (place[end[0]], end[1], _graph.natural(end[2])))
        )

    def inside(self, is_up: bool) -> Iterator[tuple[End, End, str, str]]:
        """Yield what joins parts of instances, of scale-up or all else: ends, device, link."""
        for name, own in self.read.instances.items():
            if len(self.of_devices[name]) < 2:
                continue
            edges = [edge for edge in self.read.edges_inside(own.device)
                     if (edge[2] in self.given.links) is is_up]  # fmt: skip
            if len(edges) * own.count > MOST_LINKS:
                raise self.read.error(f"instance {name}: more than {MOST_LINKS} links")
            for number in range(own.count):
                for a, b, link, device in edges:
                    ends = self.node((name, number, a)), self.node((name, number, b))
                    if ends[0] != ends[1]:
                        yield *ends, device, link

    def fabric(self) -> list[Cable]:
        """Return the cables between instances that are not of scale-up."""
        return [
            (self.node(edge.a), self.node(edge.b), *self.read.links[edge.link])
            for edge in self.read.edges if edge.link not in self.given.links
        ]  # fmt: skip

    def scale_up(self) -> list[Cable]:
        """Return the links of scale-up, with routers where xpus are joined without a switch."""
        found = [(a, b, self.read.device_link(device, link))
                 for a, b, device, link in self.inside(True)]  # fmt: skip
        found += [(self.node(edge.a), self.node(edge.b), self.read.links[edge.link])
                  for edge in self.read.edges if edge.link in self.given.links]  # fmt: skip
        has = [all(its[index] is not None for *_, its in found) for index in (0, 1)]
        for index, key in enumerate(("rate", "delay")):
            if has[index] != (self.given[1 + index] is None):
                do = "leave it out" if has[index] else "write it"
                it = "bandwidth" if key == "rate" else "latency"
                does = "has" if has[index] else "does not have"
                raise FieldError(
                    "scale_up", f"{self.read.where} {does} the {it} of"
                    f" {', '.join(self.given.links)}: {key}: {do}.",
                )  # fmt: skip
        filled = [
            (a, b, its[0] or self.given.rate_bps or 1, its[1] or self.given.delay_ps or 1)
            for a, b, its in found
        ]
        direct = {end for row in filled if self.host_set.issuperset(row[:2]) for end in row[:2]}
        router = {host: (*host[:2], f"{host[2]}router") for host in self.hosts if host in direct}
        own_bps = _OWN_TIMES * max((row[2] for row in filled), default=1)
        cables: list[Cable] = [(end, its, own_bps, _OWN_PS) for end, its in router.items()]
        return cables + [
            (router.get(a, a), router.get(b, b), rate, delay) for a, b, rate, delay in filled
        ]

    def access(self, fabric: list[Cable], default_bps: int) -> tuple[list[Cable], dict[End, None]]:
        """Return the links from xpus to NICs, and all NICs and buses."""
        cables_bps: dict[End, int] = defaultdict(int)
        for a, b, rate_bps, _ in fabric:
            for end in (a, b):
                if end[2] and end not in self.host_set:
                    cables_bps[end] += rate_bps or default_bps
        near: dict[End, dict[End, _Way]] = self.ways(set(cables_bps))
        sharing: dict[End, int] = defaultdict(int)
        for nic in _keys(near):
            sharing[nic] += 1
        shared = {nic[:2] for nic, number in sharing.items() if number > 1}
        found, buses = [], {}
        for host, its in near.items():
            at = host
            if host[:2] in shared:
                at = (*host[:2], f"{host[2]}bus")
                buses[at] = None
                (first, *_), rates = its.values(), [cables_bps[nic] for nic in its]
                found.append((host, at, first.first_bps or sum(rates), _OWN_PS))
            for nic, way in its.items():
                delay_ps = way.delay_ps or self.given.nic_delay_ps
                if delay_ps is None:
                    raise FieldError(
                        "nics", f"{self.read.where} has no latency between {_shown(host)} and"
                        f" {_shown(nic)}. Write nics: {{delay: ...}}.",
                    )  # fmt: skip
                found.append((at, nic, way.rate_bps or cables_bps[nic], delay_ps))
        if self.given.nic_delay_ps and all(way.delay_ps for its in near.values()
                                           for way in its.values()):  # fmt: skip
            raise FieldError("nics", f"{self.read.where}: no link to a NIC needs it. Leave it out.")
        return found, buses | dict.fromkeys(cables_bps)

    def ways(self, nics: set[End]) -> dict[End, dict[End, _Way]]:
        """Return the NICs to which each xpu has the shortest way, inside its instance."""
        joined: dict[End, dict[End, Properties]] = defaultdict(dict)
        for a, b, device, link in self.inside(False):
            properties = self.read.device_link(device, link)
            joined[a].setdefault(b, properties)
            joined[b].setdefault(a, properties)
        found = {}
        for host in self.hosts:
            if host not in joined:
                continue
            front, seen = {host: _Way(None, None, 0)}, {host}
            while front and not (its := {end: way for end, way in front.items() if end in nics}):
                front = {
                    end: _longer(way, properties, at == host)
                    for at, way in front.items() for end, properties in joined[at].items()
                    if end not in seen and end not in self.host_set
                }  # fmt: skip
                seen.update(front)
            if its:
                found[host] = its
        return found

    def left_out(self, place: dict[End, int]) -> Iterator[str]:
        """Yield sentences on what is not simulated."""
        kept = {(name, path.partition(".")[0]) for name, _, path in place}
        names = {
            part
            for name, own in self.read.instances.items() if len(self.of_devices[name]) > 1
            for part in self.read.devices[own.device].counts if (name, part) not in kept
        }  # fmt: skip
        if names:
            yield f"components that are left out: {listed(names)}."
        if self.read.transfers:
            yield (
                f"transfers per second are no rate of data: {listed(self.read.transfers)}; a link"
                " to a NIC has the rate of the NIC's cables."
            )
        yield from self.read.remarks()


def _keys(near: dict[End, dict[End, _Way]]) -> Iterator[End]:
    return chain.from_iterable(near.values())


def _longer(way: _Way, link: Properties, is_first: bool) -> _Way:
    """Return a way with a link more; a rate or delay that one of its links has not is unknown."""
    rates = [rate for rate in (way.rate_bps, link.rate_bps) if rate is not None]
    known = way.delay_ps is not None and link.delay_ps is not None
    return _Way(
        link.rate_bps if is_first else way.first_bps,
        min(rates) if rates else None,
        way.delay_ps + link.delay_ps if known else None,
    )


def _shown(end: End) -> str:
    """Return a component as users write it: ``host.0.xpu.1``."""
    return ".".join((end[0], str(end[1]), end[2].removesuffix(".")))
