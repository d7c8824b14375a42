# SPDX-License-Identifier: GPL-2.0-only
"""A network from an InfraGraph file (YAML or JSON), as ASTRA-sim 3.0 has them.

An instance of a device that has a nic or an xpu is a host, one that only has ports is a switch, and
an edge between instances is a cable for each pair of components that it joins. Links that the file
gives no bandwidth or no latency have those of `link`; in the blueprints of the package none has a
latency.

With `scale_up` each xpu is a host, and the links that it names are a scale-up network, see
`_infragraph_devices`. Without it the inside of a device is not simulated.

Source: schema and blueprints of infragraph 3.1, read without its code.
"""

from functools import lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, DelayPs, FieldError, Grown, Name, RateBps
from pyorch.spec.files import InputFile, yaml_value
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph
from pyorch.topology import _infragraph_devices as devices
from pyorch.topology._infragraph import KEY, Infrastructure

_SCALE_UP, _SCALE_OUT = map(REACHES.index, ("scale_up", "scale_out"))


class ScaleUp(Closed):
    """The links of the scale-up network by name, and their rate and delay if the file has none."""

    links: Annotated[list[Name], Field(min_length=1, max_length=100)]
    rate_bps: RateBps | None = Field(None, alias="rate")
    delay_ps: DelayPs | None = Field(None, alias="delay")


class Nics(Closed):
    """What lies between an xpu and its NICs, if the file has no latencies there."""

    delay_ps: DelayPs = Field(alias="delay")


class Params(Grown):
    """The file, and which links join accelerators."""

    LATER = ("scale_up", "nics")

    file: InputFile
    scale_up: ScaleUp | None = None
    nics: Nics | None = None


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives what the file has not.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    found = _found(params, link)
    return {"nodes": found.nodes, "links": found.links}


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables.

    NICs are switches here, with all their links. There are `rails` where some hosts have no network
    in common.
    """
    found = _found(params, Link(rate_bps=1, delay_ps=1))
    numbers = _graph.counts(found.nodes, found.links)
    is_one = len(np.unique(found.islands[: numbers["hosts"]])) == 1
    return numbers | ({} if is_one or found.meet.all() else {"rails": len(found.meet)})


def relays(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return the xpu of the sender's island that reaches the rail of `dst`; -1: not needed."""
    found = _found(params, Link(rate_bps=1, delay_ps=1))
    joined = found.meet[found.rails[src], found.rails[dst]]
    island = found.islands[src]
    joined |= (island < 0) | (island == found.islands[dst])
    return np.where(joined, -1, found.relay[island, found.rails[dst]])


def reach(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return which network carries a message: scale-up, if it joins the two."""
    island = _found(params, Link(rate_bps=1, delay_ps=1)).islands
    joined = (island[src] == island[dst]) & (island[src] >= 0)
    return np.where(joined, _SCALE_UP, _SCALE_OUT)


def networks(params: Params, link: Link) -> list[str]:
    """Return the name of the network of each node: ``scale_up``, ``nics``, or its plane."""
    return _found(params, link).networks


def top_switches(params: Params, nodes: dict[str, np.ndarray]) -> np.ndarray:
    """Return the switches of the highest tier; those of scale-up and NICs are above it."""
    found = _found(params, Link(rate_bps=1, delay_ps=1))
    outside = np.array([name.startswith("plane") for name in found.networks])
    tier = found.nodes["tier"]
    return np.sort(nodes["node"][outside & (tier == tier[outside].max())])


def remarks(params: Params) -> tuple[str, ...]:
    """Return what is left out of the file."""
    found = _found(params, Link(rate_bps=1, delay_ps=1))
    return tuple(f"{params.file['path']}: {said}" for said in found.remarks)


def _found(params: Params, link: Link) -> devices.Found:
    up = params.scale_up
    if up is None and params.nics is not None:
        raise FieldError("nics", "are told apart only with scale_up. Write scale_up too.")
    nic_ps = None if params.nics is None else params.nics.delay_ps
    given = up and devices.Given(tuple(up.links), up.rate_bps, up.delay_ps, nic_ps)
    file = params.file
    return _read(file["path"], file["sha256"], given, link.rate_bps, link.delay_ps, link.loss_ratio)


@lru_cache(maxsize=2)
def _infrastructure(path: str, sha256: str) -> Infrastructure:
    return Infrastructure(path, yaml_value({"path": path, "sha256": sha256}, KEY))


@lru_cache(maxsize=8)
def _read(
    path: str, sha256: str, given: devices.Given | None, rate_bps: int, delay_ps: int,
    loss_ratio: float,
) -> devices.Found:  # fmt: skip
    read = _infrastructure(path, sha256)
    link = Link(rate_bps=rate_bps, delay_ps=delay_ps, loss_ratio=loss_ratio)
    return devices.whole(read, link) if given is None else devices.network(read, given, link)
