# SPDX-License-Identifier: GPL-2.0-only
"""infrastructure.json of InfraGraph: the network of a run, without its messages.

Each host is an instance with one xpu and a nic for each of its links, each switch one with as many
ports. Links of a scale-up network are called ``scale_up``, with a number behind it where they
differ, and end at the xpu.
"""

import json
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np

from pyorch.errors import SpecError
from pyorch.export._refusals import Tables, refuse_difference, refuse_if, refuse_network
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Spec
from pyorch.topology import _infragraph_devices as devices
from pyorch.topology._infragraph import Infrastructure

NAME = "InfraGraph"
FILE = "infrastructure.json"
_SCALE_UP = REACHES[0]
_HOST, _SWITCH = "host", "switch"


def files(spec: Spec, tables: Tables) -> dict[str, str]:
    """Return the text of the file.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    tables : dict
        Its input tables.

    Raises
    ------
    SpecError
        Something of the network that InfraGraph cannot be told.
    """
    refuse_network(spec, tables, NAME)
    nodes, links = tables["nodes"], tables["links"]
    refuse_if(bool(np.any(links["loss_ratio"])), f"link.loss_ratio: {NAME} has none", "Make it 0.")
    refuse_if(
        spec.switch.processing_delay_ps > 0,
        f"switch.processing_delay: {NAME} has none", "Make it 0 s.",
    )  # fmt: skip
    order = np.argsort(nodes["node"])
    is_switch = nodes["is_switch"][order] == 1
    n_hosts = int((~is_switch).sum())
    refuse_if(
        not np.array_equal(nodes["node"][order], np.arange(len(order)))
        or bool(is_switch[:n_hosts].any()),
        f"topology: {NAME} counts hosts first, then switches", "Give the nodes such ids.",
    )  # fmt: skip
    names = np.array(spec.topology.networks(spec.link))[np.argsort(nodes["node"])]
    found = _infrastructure(links, names == _SCALE_UP, n_hosts, len(order) - n_hosts)
    read = Infrastructure(FILE, found)
    up = tuple(name for name in read.links if name.startswith(_SCALE_UP))
    try:
        again = devices.network(read, devices.Given(up, None, None, None), spec.link) if up else (
            devices.whole(read, spec.link))  # fmt: skip
    except SpecError as error:
        raise SpecError(f"topology: {error}") from None
    refuse_difference(tables, {"nodes": again.nodes, "links": again.links}, NAME)
    return {FILE: json.dumps(found, indent=1) + "\n"}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return the starts [ps]: the file has none, so none differs."""
    return start_ps


def remarks(tables: Tables) -> list[str]:
    """Return that messages are not in the file."""
    return [f"{FILE} has the network alone; export chakra writes the messages."]


def _infrastructure(
    links: dict[str, np.ndarray], in_scale_up: np.ndarray, n_hosts: int, n_switches: int
) -> dict[str, Any]:
    """Return devices, instances, links and edges; node ids are hosts first."""
    kinds: dict[tuple[int, int, bool], str] = {}
    used: Counter[int] = Counter()
    edges = []
    names = ("node_a", "node_b", "rate_bps", "delay_ps")
    for *ends, rate_bps, delay_ps in zip(*(links[name].tolist() for name in names), strict=True):
        is_up = any(in_scale_up[end] and end >= n_hosts for end in ends)
        name = "scale_up" if is_up else "link"
        kind = kinds.setdefault((rate_bps, delay_ps, is_up), f"{name}_{len(kinds)}")
        edge: dict[str, Any] = {"link": kind, "scheme": "one2one"}
        for key, end in zip(("ep1", "ep2"), ends, strict=True):
            is_host = end < n_hosts
            own = f"{_HOST}[{end}]" if is_host else f"{_SWITCH}[{end - n_hosts}]"
            component = "xpu[0]" if is_host and is_up else (
                f"{'nic' if is_host else 'port'}[{used[end]}]")  # fmt: skip
            used[end] += not (is_host and is_up)
            edge[key] = {"instance": own, "component": component}
        edges.append(edge)
    n_nics = max((used[host] for host in range(n_hosts)), default=0)
    n_ports = max((used[n_hosts + switch] for switch in range(n_switches)), default=1)
    return {
        "name": "pyorch",
        "devices": [
            _device(_HOST, [("xpu", "xpu", 1), ("nic", "nic", max(1, n_nics))]),
            _device(_SWITCH, [("asic", "switch", 1), ("port", "port", n_ports)]),
        ],
        "instances": [{"name": _HOST, "device": _HOST, "count": n_hosts},
                      {"name": _SWITCH, "device": _SWITCH, "count": n_switches}],
        "links": [
            {"name": kind, "physical": {
                "bandwidth": {"choice": "gigabits_per_second",
                              "gigabits_per_second": _number(rate_bps, 10**9)},
                "latency": {"choice": "ns", "ns": _number(delay_ps, 1000)}}}
            for (rate_bps, delay_ps, _), kind in kinds.items()
        ],
        "edges": edges,
    }  # fmt: skip


def _device(name: str, parts: list[tuple[str, str, int]]) -> dict[str, Any]:
    """Return a device of two kinds of components, each joined to each of the other."""
    inside = {"ep1": {"component": parts[0][0]}, "ep2": {"component": parts[1][0]}}
    return {
        "name": name,
        "components": [
            {"name": part, "choice": choice, "count": count} for part, choice, count in parts
        ],
        "links": [{"name": "inside"}],
        "edges": [{**inside, "link": "inside", "scheme": "many2many"}],
    }


def _number(value: int, unit: int) -> int | float:
    """Return a number in another unit, whole if it is."""
    return value // unit if value % unit == 0 else float(Decimal(value) / unit)
