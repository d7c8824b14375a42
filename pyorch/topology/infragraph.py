# SPDX-License-Identifier: GPL-2.0-only
"""A network from an InfraGraph file (YAML or JSON), as ASTRA-sim 3.0 has them.

An instance of a device that has a nic or an xpu is a host, one that only has ports is a switch, and
an edge between instances is a cable for each pair of components that it joins. What lies inside a
device, from its ports to its accelerators, is not simulated. Links that the file gives no bandwidth
or no latency have those of `link`; in the blueprints of the package none has a latency.

Source: schema and blueprints of infragraph 3.1, read without its code.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile, decimal, yaml_value
from pyorch.spec.limits import MOST_LINKS, MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

KEY = "file"
#: Components that make a device a host, or, if it has none of these, a switch.
HOST, SWITCH = ("nic", "xpu"), ("port", "switch")
#: Units of the format, in bit/s and in ps.
BANDWIDTHS = {"gigabits_per_second": 10**9, "gigabytes_per_second": 8 * 10**9}
LATENCIES = {"ms": 10**9, "us": 10**6, "ns": 10**3}
_ELEMENT = re.compile(r"([^\[\].]+)(?:\[([-+0-9:]*)\])?")
_DEEPEST = 10

#: A component of an instance: its node and its path in the device, ``nic.0``.
End = tuple[int, str]


class Params(Closed):
    """The file."""

    file: InputFile


class _Device(NamedTuple):
    """A device: how many there are of each component, and what each is."""

    counts: dict[str, int]
    choices: dict[str, str]


class _Instance(NamedTuple):
    """Devices of one name; `first` is the node of the first of them."""

    device: str
    count: int  # type: ignore[assignment]  # hides that of tuples
    first: int


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives what the file has not.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    file = params.file
    return _tables(file["path"], file["sha256"], link.rate_bps, link.delay_ps, link.loss_ratio)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


@lru_cache(maxsize=8)
def _tables(
    path: str, sha256: str, rate_bps: int, delay_ps: int, loss_ratio: float
) -> dict[str, dict[str, np.ndarray]]:
    reader = _Reader({"path": path, "sha256": sha256})
    links = _graph.links_of(reader.cables(), rate_bps, delay_ps, loss_ratio)
    n_switches = sum(reader.is_switch)
    return _graph.checked(len(reader.is_switch) - n_switches, n_switches, links, path, KEY)


class _Reader:
    """An infrastructure while it is read; hosts are counted first, then switches."""

    def __init__(self, file: FileRef):
        self.where = file["path"]
        found = yaml_value(file, KEY)
        if not isinstance(found, dict):
            raise self.error("is no infrastructure: devices, links, instances, edges")
        self.root = found
        devices, links = self.list_of(found, "devices"), self.list_of(found, "links")
        self.devices = {self.name(one, "device"): self.device(one) for one in devices}
        self.rates = {self.name(one, "link"): self.link(one) for one in links}
        self.instances, self.is_switch = self.numbered()

    def error(self, what: str, hint: str = "") -> FieldError:
        """Return an error about the file."""
        return FieldError(KEY, f"{self.where}: {what}.{hint}")

    def list_of(self, section: dict, key: str) -> list[dict]:
        """Return a list of sections, none if it is not there."""
        found = section.get(key) or []
        if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
            raise self.error(f"{key} is no list of sections")
        return found

    def name(self, section: dict, what: str) -> str:
        """Return the name of a section."""
        if not isinstance(found := section.get("name"), str) or not found:
            raise self.error(f"a {what} has no name")
        return found

    def number(self, section: dict, what: str) -> int:
        """Return how many there are of something."""
        found = section.get("count", 1)
        if type(found) is not int or not 1 <= found <= MOST_NODES:
            raise self.error(f"{what}: count is {str(found)[:40]}; write 1 to {MOST_NODES}")
        return found

    def device(self, section: dict) -> _Device:
        """Return what a device consists of."""
        found = _Device({}, {})
        for part in self.list_of(section, "components"):
            name = self.name(part, "component")
            found.counts[name] = self.number(part, f"component {name}")
            found.choices[name] = str(part.get("choice"))
        return found

    def link(self, section: dict) -> tuple[int | None, int | None]:
        """Return rate [bit/s] and delay [ps] of a link, as far as it has them."""
        physical = section.get("physical") or {}
        where = f"link {self.name(section, 'link')}"
        if not isinstance(physical, dict):
            raise self.error(f"{where}: physical is no section")
        rate_bps = self.quantity(physical.get("bandwidth"), BANDWIDTHS, f"{where}: bandwidth")
        delay_ps = self.quantity(physical.get("latency"), LATENCIES, f"{where}: latency")
        if rate_bps is not None and rate_bps < 1:
            raise self.error(f"{where}: a bandwidth is more than 0")
        if delay_ps is not None and delay_ps < 1:
            raise self.error(f"{where}: a latency is more than 0")
        return rate_bps, delay_ps

    def quantity(self, section: Any, units: dict[str, int], where: str) -> int | None:
        """Return a number in our unit, none if the file has none."""
        if section is None:
            return None
        unit = section.get("choice") if isinstance(section, dict) else None
        if unit not in units:
            raise self.error(f"{where}: {quoted(unit)} is none of {', '.join(units)}")
        value = section.get(unit)
        whole = decimal(value, f"{self.where}: {where}", KEY) * units[unit]
        if whole != int(whole):
            raise self.error(f"{where}: {value} {unit} is no whole number of bit/s or ps")
        return int(whole)

    def numbered(self) -> tuple[dict[str, _Instance], list[int]]:
        """Return the instances with their nodes, and which nodes are switches."""
        kinds: dict[str, bool] = {}
        found, n_nodes = {}, [0, 0]
        sections = self.list_of(self.root, "instances")
        for section in sections:
            name, device = self.name(section, "instance"), section.get("device")
            if name in found:
                raise self.error(f"instance {name} stands twice")
            if device not in self.devices:
                raise self.error(
                    f"instance {name}: there is no device {quoted(device)}",
                    did_you_mean(str(device), self.devices),
                )
            if device not in kinds:
                kinds[device] = self.is_a_switch(device)
            number = self.number(section, f"instance {name}")
            found[name] = _Instance(device, number, n_nodes[kinds[device]])
            n_nodes[kinds[device]] += number
        if sum(n_nodes) > MOST_NODES:
            raise self.error(f"{sum(n_nodes)} instances; at most {MOST_NODES}")
        after_hosts = {
            name: own._replace(first=own.first + n_nodes[0]) if kinds[own.device] else own
            for name, own in found.items()
        }
        return after_hosts, [0] * n_nodes[0] + [1] * n_nodes[1]

    def is_a_switch(self, device: str) -> bool:
        """Return whether a device is a switch; else it is a host."""
        choices = set(self.choices_in(device, 0))
        if not choices & {*HOST, *SWITCH}:
            raise self.error(
                f"device {device} has neither {' nor '.join((*HOST, *SWITCH))}, so it is neither"
                " host nor switch"
            )
        return not choices & set(HOST)

    def choices_in(self, device: str, depth: int) -> Iterator[str]:
        """Yield what the components of a device are, those of devices in it too."""
        if depth > _DEEPEST:
            raise self.error(f"device {device} is part of itself")
        for name, choice in self.devices[device].choices.items():
            if choice != "device":
                yield choice
            elif name in self.devices:
                yield from self.choices_in(name, depth + 1)
            else:
                raise self.error(f"device {device}: there is no device {name}")

    def cables(self) -> list[tuple[int, int, int | None, int | None]]:
        """Return both nodes, rate and delay of each cable; a pair of components has one."""
        found: dict[tuple[End, End], str] = {}
        for index, edge in enumerate(self.list_of(self.root, "edges")):
            where = f"edge {index + 1}"
            link, scheme = edge.get("link"), edge.get("scheme")
            if link not in self.rates:
                raise self.error(
                    f"{where}: there is no link {quoted(link)}",
                    did_you_mean(str(link), self.rates),
                )
            a, b = (self.ends(edge.get(key), f"{where}: {key}") for key in ("ep1", "ep2"))
            if scheme not in ("one2one", "many2many"):
                raise self.error(f"{where}: scheme {quoted(scheme)} is not one2one or many2many")
            pairs = zip(a, b, strict=False) if scheme == "one2one" else (
                (x, y) for x in a for y in b)  # fmt: skip
            if len(found) + (len(a) * len(b) if scheme == "many2many" else 0) > MOST_LINKS:
                raise self.error(f"more than {MOST_LINKS} links")
            found.update({(min(x, y), max(x, y)): link for x, y in pairs if x != y})
        if not found:
            raise self.error("there is no edge between instances, so there is no network")
        return [(a, b, *self.rates[link]) for ((a, _), (b, _)), link in found.items()]

    def ends(self, section: Any, where: str) -> list[End]:
        """Return the components that an endpoint names, instance by instance."""
        if not isinstance(section, dict):
            raise self.error(f"{where} is missing")
        (name, numbers), *inner = self.elements(section.get("instance"), f"{where}: instance")
        if inner or name not in self.instances:
            raise self.error(
                f"{where}: there is no instance {quoted(section['instance'])}",
                did_you_mean(name, self.instances),
            )
        instance = self.instances[name]
        nodes = self.picked(numbers, instance.count, f"{where}: {name}")
        paths, device = [""], instance.device
        for part, numbers in self.elements(section.get("component"), f"{where}: component"):
            if device not in self.devices or part not in self.devices[device].counts:
                raise self.error(f"{where}: device {device} has no component {quoted(part)}")
            its = self.picked(numbers, self.devices[device].counts[part], f"{where}: {part}")
            paths = [f"{path}{part}.{number}." for path in paths for number in its]
            device = part
        if len(nodes) * len(paths) > MOST_LINKS:
            raise self.error(f"{where}: more than {MOST_LINKS} components")
        return [(instance.first + node, path) for node in nodes for path in paths]

    def elements(self, text: Any, where: str) -> list[tuple[str, str | None]]:
        """Return names with what stands in brackets behind them: ``cx5[0].port[1]``."""
        parts = [_ELEMENT.fullmatch(part) for part in str(text).split(".")]
        if not isinstance(text, str) or not all(parts):
            raise self.error(f"{where}: {quoted(text)} is no name, or name[numbers]")
        return [(part[1], part[2]) for part in parts if part]

    def picked(self, numbers: str | None, count: int, where: str) -> range | list[int]:
        """Return what a slice as in Python takes of so many, all without one."""
        try:
            given = [int(word) if word else None for word in (numbers or "").split(":")]
            if len(given) == 1 and given[0] is not None:
                return [range(count)[given[0]]]
            return range(count)[slice(*given)] if len(given) > 1 else range(count)
        except (ValueError, IndexError, TypeError):
            shown = quoted(numbers)[1:-1]
            raise self.error(f"{where}[{shown}]: there are {count}, from 0") from None
