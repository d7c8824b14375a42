# SPDX-License-Identifier: GPL-2.0-only
"""Reads InfraGraph files: instances of devices with their components, and edges, expanded.

Source: schema and blueprints of infragraph 3.1, read without its code.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import decimal, listed
from pyorch.spec.limits import MOST_LINKS, MOST_NODES

KEY = "file"
#: Components that make a device a host, or, if it has none of these, a switch.
HOST, SWITCH = ("nic", "xpu"), ("port", "switch")
#: Units of the format, in bit/s and in ps.
BANDWIDTHS = {"gigabits_per_second": 10**9, "gigabytes_per_second": 8 * 10**9}
TRANSFERS = "gigatransfers_per_second"
LATENCIES = {"ms": 10**9, "us": 10**6, "ns": 10**3}
#: What the sections may say; anything else is not used.
SECTIONS = {
    "infrastructure": {"name", "description", "devices", "links", "instances", "edges"},
    "devices": {"name", "description", "components", "links", "edges"},
    "components": {"name", "description", "count", "choice", "custom", "device", "cpu", "xpu",
                   "nic", "memory", "port", "switch"},
    "links": {"name", "description", "physical"},
    "instances": {"name", "description", "device", "count"},
    "edges": {"ep1", "ep2", "scheme", "link"},
    "ep1": {"device", "instance", "component"},
    "ep2": {"device", "instance", "component"},
    "physical": {"bandwidth", "latency"},
    "bandwidth": {"choice", *BANDWIDTHS, TRANSFERS},
    "latency": {"choice", *LATENCIES},
}  # fmt: skip
#: Sections that are no lists.
_INNER = {"ep1", "ep2", "physical", "bandwidth", "latency"}
_ELEMENT = re.compile(r"([^\[\].]+)(?:\[([-+0-9:]*)\])?")
_DEEPEST = 10

#: A component of an instance: name and number of the instance, and its path in the device:
#: ``nic.0.``.
End = tuple[str, int, str]


class Properties(NamedTuple):
    """Rate [bit/s] and delay [ps] of a link, as far as the file has them."""

    rate_bps: int | None
    delay_ps: int | None


class Edge(NamedTuple):
    """Components of two instances that a link joins."""

    a: End
    b: End
    link: str


class _Device(NamedTuple):
    """A device: how many there are of each component, what each is, links and edges."""

    counts: dict[str, int]
    choices: dict[str, str]
    links: dict[str, dict]
    edges: list[dict]


class _Instance(NamedTuple):
    """Devices of one name."""

    device: str
    count: int  # type: ignore[assignment]  # hides that of tuples


class Infrastructure:
    """An infrastructure: its devices, its instances, and what their edges join.

    Parameters
    ----------
    where : str
        The file, for messages.
    found : object
        What it holds.

    Attributes
    ----------
    where : str
        The file, for messages.
    devices, instances : dict
        By name.
    unused : set of str
        Keys that the format has not, with their section.
    n_loops : int
        Edges that join components of one instance: no route takes such a cable.
    transfers : set of str
        Links of devices whose bandwidth is in transfers per second.

    Raises
    ------
    FieldError
        With file and section: what stands there and what belongs there.
    """

    def __init__(self, where: str, found: Any):
        self.where = where
        if not isinstance(found, dict):
            raise self.error("is no infrastructure: devices, links, instances, edges")
        self.root = found
        self.unused = {str(key) for key in set(found) - SECTIONS["infrastructure"]}
        devices, links = self.list_of(found, "devices"), self.list_of(found, "links")
        self.n_loops = 0
        self.transfers: set[str] = set()
        self._device_links: dict[tuple[str, str], Properties] = {}
        self._choices: dict[str, dict[str, int]] = {}
        self._inside: dict[str, list[tuple[str, str, str, str]]] = {}
        self.devices = {self.name(one, "device"): self.device(one) for one in devices}
        self.links = {self.name(one, "link"): self.link(one) for one in links}
        self.instances = self.read_instances()

    def error(self, what: str, hint: str = "") -> FieldError:
        """Return an error about the file."""
        return FieldError(KEY, f"{self.where}: {what}.{hint}")

    def list_of(self, section: dict, key: str) -> list[dict]:
        """Return a list of sections, none if it is not there."""
        found = section.get(key) or []
        if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
            raise self.error(f"{key} is no list of sections")
        self.note_unused(key, found)
        return found

    def note_unused(self, key: str, sections: list[dict]) -> None:
        """Note the keys of sections, and of those in them, that the format has not."""
        names = {name for section in sections for name in section}
        self.unused |= {f"{key}.{name}" for name in names - SECTIONS[key]}
        for inner in names & _INNER:
            its = [part[inner] for part in sections if isinstance(part.get(inner), dict)]
            self.note_unused(inner, its)

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
        links = {self.name(one, "link"): one for one in self.list_of(section, "links")}
        found = _Device({}, {}, links, self.list_of(section, "edges"))
        for part in self.list_of(section, "components"):
            name = self.name(part, "component")
            found.counts[name] = self.number(part, f"component {name}")
            found.choices[name] = str(part.get("choice"))
        return found

    def link(self, section: dict) -> Properties:
        """Return rate and delay of a link."""
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
        return Properties(rate_bps, delay_ps)

    def device_link(self, device: str, name: str) -> Properties:
        """Return rate and delay of a link of a device; transfers per second are no rate."""
        if (device, name) not in self._device_links:
            section = self.devices[device].links[name]
            physical = section.get("physical")
            bandwidth = physical.get("bandwidth") if isinstance(physical, dict) else None
            if isinstance(bandwidth, dict) and bandwidth.get("choice") == TRANSFERS:
                self.transfers.add(name)
                section = section | {"physical": physical | {"bandwidth": None}}
            self._device_links[device, name] = self.link(section)
        return self._device_links[device, name]

    def remarks(self) -> Iterator[str]:
        """Yield sentences on cables that lead nowhere, and on keys that the format has not."""
        if self.n_loops:
            yield f"{self.n_loops} cables of an instance to itself are left out."
        if self.unused:
            yield f"not used: {listed(self.unused)}."

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

    def read_instances(self) -> dict[str, _Instance]:
        """Return the instances by name."""
        found: dict[str, _Instance] = {}
        for section in self.list_of(self.root, "instances"):
            name, device = self.name(section, "instance"), section.get("device")
            if name in found:
                raise self.error(f"instance {name} stands twice")
            if device not in self.devices:
                raise self.error(
                    f"instance {name}: there is no device {quoted(device)}",
                    did_you_mean(str(device), self.devices),
                )
            found[name] = _Instance(device, self.number(section, f"instance {name}"))
            self.is_switch(device)
        if (total := sum(one.count for one in found.values())) > MOST_NODES:
            raise self.error(f"{total} instances; at most {MOST_NODES}")
        return found

    def is_switch(self, device: str) -> bool:
        """Return whether a device is a switch; else it is a host."""
        choices = set(self.choices_in(device))
        if not choices & {*HOST, *SWITCH}:
            raise self.error(
                f"device {device} has neither {' nor '.join((*HOST, *SWITCH))}, so it is neither"
                " host nor switch"
            )
        return not choices & set(HOST)

    def choices_in(self, device: str, above: tuple[str, ...] = ()) -> dict[str, int]:
        """Return how many there are in a device of each kind, in devices in it too."""
        if device in above or len(above) > _DEEPEST:
            raise self.error(f"device {device} is part of itself")
        if device in self._choices:
            return self._choices[device]
        found: Counter[str] = Counter()
        for name, choice in self.devices[device].choices.items():
            if choice == "device" and name not in self.devices:
                raise self.error(f"device {device}: there is no device {name}")
            its = self.choices_in(name, (*above, device)) if choice == "device" else {choice: 1}
            for kind, number in its.items():
                found[kind] += number * self.devices[device].counts[name]
        self._choices[device] = found
        return found

    @cached_property
    def edges(self) -> list[Edge]:
        """What joins instances; a pair of components has one edge, the last that names it."""
        found: dict[tuple[End, End], Edge] = {}
        for index, edge in enumerate(self.list_of(self.root, "edges")):
            where = f"edge {index + 1}"
            link = self.known(edge.get("link"), self.links, where)
            a, b = (self.ends(edge.get(key), f"{where}: {key}") for key in ("ep1", "ep2"))
            for x, y in self.pairs(a, b, edge.get("scheme"), where, len(found)):
                found[min(x, y), max(x, y)] = Edge(x, y, link)
        self.n_loops = sum(edge.a[:2] == edge.b[:2] for edge in found.values())
        return [edge for edge in found.values() if edge.a[:2] != edge.b[:2]]

    def edges_inside(self, device: str) -> list[tuple[str, str, str, str]]:
        """Return what joins the components of a device: two paths, link, whose edge it is."""
        if device in self._inside:
            return self._inside[device]
        own = self.devices[device]
        found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
        for name, choice in own.choices.items():
            if choice == "device":
                inner = self.edges_inside(name)
                if len(found) + len(inner) * own.counts[name] > MOST_LINKS:
                    raise self.error(f"device {device}: more than {MOST_LINKS} links")
                for number in range(own.counts[name]):
                    for x, y, link, whose in inner:
                        x, y = f"{name}.{number}.{x}", f"{name}.{number}.{y}"
                        found[min(x, y), max(x, y)] = (x, y, link, whose)
        for index, edge in enumerate(own.edges):
            where = f"device {device}: edge {index + 1}"
            link = self.known(edge.get("link"), own.links, where)
            a, b = (self.paths(device, edge.get(key), f"{where}: {key}") for key in ("ep1", "ep2"))
            for x, y in self.pairs(a, b, edge.get("scheme"), where, len(found)):
                found[min(x, y), max(x, y)] = (x, y, link, device)
        self._inside[device] = list(found.values())
        return self._inside[device]

    def known(self, link: Any, links: dict, where: str) -> str:
        """Return the name of a link that there is."""
        if link not in links:
            raise self.error(
                f"{where}: there is no link {quoted(link)}", did_you_mean(str(link), links)
            )
        return link

    def pairs(self, a: list, b: list, scheme: Any, where: str, n_before: int) -> Iterator[tuple]:
        """Yield what an edge joins, by its scheme."""
        if scheme not in ("one2one", "many2many"):
            raise self.error(f"{where}: scheme {quoted(scheme)} is not one2one or many2many")
        if n_before + (len(a) * len(b) if scheme == "many2many" else 0) > MOST_LINKS:
            raise self.error(f"more than {MOST_LINKS} links")
        pairs = zip(a, b, strict=False) if scheme == "one2one" else ((x, y) for x in a for y in b)
        return (pair for pair in pairs if pair[0] != pair[1])

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
        of_instance = self.picked(numbers, instance.count, f"{where}: {name}")
        paths = self.paths(instance.device, section, where)
        if len(of_instance) * len(paths) > MOST_LINKS:
            raise self.error(f"{where}: more than {MOST_LINKS} components")
        return [(name, number, path) for number in of_instance for path in paths]

    def paths(self, device: str, section: Any, where: str) -> list[str]:
        """Return the components of a device that an endpoint names."""
        if not isinstance(section, dict):
            raise self.error(f"{where} is missing")
        text = section.get("component")
        if (outer := section.get("device")) is not None and isinstance(text, str):
            text = f"{outer}.{text}"
        paths = [""]
        for part, numbers in self.elements(text, f"{where}: component"):
            if device not in self.devices or part not in self.devices[device].counts:
                raise self.error(f"{where}: device {device} has no component {quoted(part)}")
            its = self.picked(numbers, self.devices[device].counts[part], f"{where}: {part}")
            if len(paths) * len(its) > MOST_LINKS:
                raise self.error(f"{where}: more than {MOST_LINKS} components")
            paths = [f"{path}{part}.{number}." for path in paths for number in its]
            device = part
        return paths

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
