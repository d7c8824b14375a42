# SPDX-License-Identifier: GPL-2.0-only
"""Racks of devices: a scale-up network in each rack, and rails that join what has the same place.

Device i of every rack is on rail i, a network of any other topology with one host per rack; what
tiers, planes and oversubscription it has, that topology says. In a rack each scale-up plane is one
switch. A host is a device with a port for each plane of both networks. Node ids: hosts rack by
rack, the scale-up switches rack by rack, then the other switches rail by rail. Scale-up switches
are one tier above all others, so that classes of links and switches tell them apart.

Devices do not forward, so nothing joins two devices of different racks on different rails. Such a
message is relayed: the device of the sender's rack on the rail of the destination receives all of
it over scale-up and then sends it on.

With `nics` each port of a device to its rail has a NIC, a small switch that the scale-up switches
of the rack reach too. Routes then lead from any device of a rack to any NIC of it, packet by
packet: a message between rails needs no relay, and where a rail is cut its packets take the NICs
of the others. The adapters of a GPU server are reached like this, over its own bus or over NVLink.
A relay inside the engine would have to forward in hosts, and one in the task graph be chosen before
the run; so NICs are rows of the tables, the last switches, one tier and one plane above all others.

Source: rail-optimised networks as in [hotnets24] section 6.1; the relay is that of PXN in NCCL.
"""

import numpy as np
from pydantic import Field, SerializeAsAny, ValidationInfo, field_validator, model_validator

from pyorch.spec.fields import (
    Closed,
    Count,
    DelayPs,
    FieldError,
    Hosts,
    RateBps,
    WrittenTopology,
)
from pyorch.spec.limits import MOST_NODES
from pyorch.spec.parts import REACHES, Topology
from pyorch.spec.resolved import Link
from pyorch.topology._nested import settled

Columns = dict[str, np.ndarray]
_SCALE_UP, _SCALE_OUT = map(REACHES.index, ("scale_up", "scale_out"))
_NEEDED = ("switches", "top_switches", "cables", "ports", "access_links")


class ScaleUp(Closed):
    """The network in a rack: switches, each with one link of this kind to every device."""

    planes: Count = 1
    rate_bps: RateBps = Field(alias="rate")
    delay_ps: DelayPs = Field(alias="delay")


class Nics(Closed):
    """NICs that a whole rack shares: what lies between a device and its own."""

    delay_ps: DelayPs = Field(alias="delay")


class Params(Closed):
    """Devices of a rack, the network of each rail, that of each rack, and how they meet."""

    devices: Hosts
    rail: SerializeAsAny[WrittenTopology]
    scale_up: ScaleUp
    nics: Nics | None = None

    @field_validator("rail")
    @classmethod
    def _settle(cls, rail: WrittenTopology, info: ValidationInfo) -> Topology:
        found = settled(rail, "rail", info.context or {}, _NEEDED, "a rail")
        if "rails" in found.counts():
            raise FieldError("rail.type", f"{rail.type} has rails itself. Write another topology.")
        return found

    @model_validator(mode="after")
    def _is_not_too_large(self) -> "Params":
        """Refuse more devices than there may be."""
        hosts = self.devices * self.rail.counts()["hosts"]
        if hosts > MOST_NODES:
            raise FieldError(
                "devices", f"{hosts} devices in all; at most {MOST_NODES}. Lower devices or the"
                " hosts of a rail.",
            )  # fmt: skip
        return self


def tables(params: Params, link: Link) -> dict[str, Columns]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    up, n = params.scale_up, params.devices
    rail = params.rail.tables(link)
    nodes, links = rail["nodes"], rail["links"]
    old_hosts = np.sort(nodes["node"][nodes["is_switch"] == 0])
    old_switches = np.sort(nodes["node"][nodes["is_switch"] == 1])
    n_hosts = len(old_hosts) * n
    first_rail = n_hosts + len(old_hosts) * up.planes
    ids = []
    for index in range(n):
        new = np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64)
        new[old_hosts] = np.arange(len(old_hosts)) * n + index
        new[old_switches] = first_rail + index * len(old_switches) + np.arange(len(old_switches))
        ids.append(new)
    host, plane = np.divmod(np.arange(n_hosts * up.planes), up.planes)
    inside = {
        "node_a": host,
        "node_b": n_hosts + host // n * up.planes + plane,
        "rate_bps": up.rate_bps,
        "delay_ps": up.delay_ps,
        "loss_ratio": link.loss_ratio,
    }
    if "bit_error_ratio" in links:
        inside["bit_error_ratio"] = link.bit_error_ratio
    found = {
        "nodes": _nodes(nodes, ids, n_hosts, first_rail, up.planes),
        "links": {
            name: np.concatenate(
                [
                    np.broadcast_to(np.asarray(inside.get(name, 0), values.dtype), host.shape),
                    *((new[values] if name in ("node_a", "node_b") else values) for new in ids),
                ]
            )
            for name, values in links.items()
        },
    }
    return found if params.nics is None else _shared(params, **found)


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables.

    NICs are no switches here, and their own ports no ports; their links are cables.
    """
    rail, n = params.rail.counts(), params.devices
    hosts, planes = rail["hosts"] * n, params.scale_up.planes
    access_links = hosts * planes + rail["access_links"] * n
    cables = hosts * planes + rail["cables"] * n
    nics = 0 if params.nics is None else rail["access_links"] * n
    return {
        "hosts": hosts,
        "hosts_per_leaf": n,
        "racks": rail["hosts"],
        "rails": n,
        "switches": rail["switches"] * n + rail["hosts"] * planes,
        "top_switches": rail["top_switches"] * n,
        "nics": nics,
        "ports": rail["ports"] * n + (hosts + nics) * planes,
        "access_links": access_links,
        "fabric_links": cables - access_links + nics * (1 + planes),
        "cables": cables + nics * (1 + planes),
    }


def relays(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the device in the rack of `src` on the rail of `dst`; -1 if a network joins them."""
    n = params.devices
    joined = (src // n == dst // n) | (src % n == dst % n) | (params.nics is not None)
    return np.where(joined, -1, src // n * n + dst % n)


def reach(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return which network carries a message: a scale-up network joins the devices of a rack."""
    n = params.devices
    return np.where(src // n == dst // n, _SCALE_UP, _SCALE_OUT)


def networks(params: Params, link: Link) -> list[str]:
    """Return the name of the network of each node: one of scale-up, and those of each rail."""
    numbers, nodes = counts(params), params.rail.tables(link)["nodes"]
    order = np.argsort(nodes["node"])
    own = np.array(params.rail.networks(link))[order[nodes["is_switch"][order] == 1]]
    scale_up = numbers["hosts"] + numbers["racks"] * params.scale_up.planes
    rails = [f"rail {index} {name}" for index in range(params.devices) for name in own]
    return [REACHES[_SCALE_UP]] * scale_up + rails + ["nics"] * numbers["nics"]


def top_switches(params: Params, nodes: dict[str, np.ndarray]) -> np.ndarray:
    """Return the switches of the highest tier of the rails; scale-up and NICs are above it."""
    above = 1 if params.nics is None else 2
    return np.sort(nodes["node"][nodes["tier"] == nodes["tier"].max() - above])


def _shared(params: Params, nodes: Columns, links: Columns) -> dict[str, Columns]:
    """Return the tables with a NIC in each link of a device to its rail, which scale-up reaches."""
    up = params.scale_up
    is_host = nodes["is_switch"] == 0
    ends = np.stack([links["node_a"], links["node_b"]])
    n_hosts, at_host = int(is_host.sum()), is_host[ends]
    at_host[:, : n_hosts * up.planes] = False  # those of scale-up stay
    row, side = np.nonzero(at_host.T)
    device, nic = ends[side, row], len(nodes["node"]) + np.arange(len(row))
    ends[side, row] = nic
    first = n_hosts + device // params.devices * up.planes
    of_nic = {
        "node_a": device, "node_b": nic, "rate_bps": links["rate_bps"][row],
        "delay_ps": np.full(len(row), params.nics.delay_ps),
    }  # fmt: skip
    inside = {name: np.repeat(values[:1], len(row) * up.planes) for name, values in links.items()}
    inside["node_a"] = (first[:, None] + np.arange(up.planes)).ravel()
    inside["node_b"] = np.repeat(nic, up.planes)
    cables = links | {"node_a": ends[0], "node_b": ends[1]}
    more = {
        name: np.full(len(nic), int(values.max()) + 1) for name, values in nodes.items()
    } | {"node": nic, "is_switch": np.ones_like(nic)}  # fmt: skip
    return {
        "nodes": {name: np.concatenate([values, more[name]]) for name, values in nodes.items()},
        "links": {
            name: np.concatenate(
                [values, of_nic.get(name, np.zeros(len(row), values.dtype)), inside[name]]
            )
            for name, values in cables.items()
        },
    }


def _nodes(
    rail: dict[str, np.ndarray],
    ids: list[np.ndarray],
    n_hosts: int,
    first_rail: int,
    scale_up_planes: int,
) -> dict[str, np.ndarray]:
    """Return the node table: planes are counted rail by rail, then those of scale-up."""
    order = np.argsort(rail["node"])
    switch = order[rail["is_switch"][order] == 1]
    tier, plane = rail["tier"][switch], rail["plane"][switch]
    n_planes, n_rails = int(plane.max()) + 1, len(ids)
    inside = np.arange(first_rail - n_hosts) % scale_up_planes
    zero = np.zeros(n_hosts, dtype=np.int64)
    planes = [plane + index * n_planes for index in range(n_rails)]
    n_nodes = first_rail + n_rails * len(switch)
    return {
        "node": np.arange(n_nodes, dtype=np.int64),
        "is_switch": (np.arange(n_nodes) >= n_hosts).astype(np.int64),
        "tier": np.concatenate([zero, np.full(len(inside), tier.max() + 1), *[tier] * n_rails]),
        "plane": np.concatenate([zero, inside + n_rails * n_planes, *planes]),
    }
