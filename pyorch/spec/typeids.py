# SPDX-License-Identifier: GPL-2.0-only
"""Takes an ns-3 TypeId with attributes, leaves all its attributes, checked, defaults filled in.

What exists is read from ``build/typeids.json``, which the build of the C++ modules writes from
ns-3's own registry, so neither names nor ranges are listed here.
"""

import json
import math
import re
from functools import lru_cache
from pathlib import Path

from pyorch import units
from pyorch.errors import SpecError, did_you_mean
from pyorch.spec.fields import FieldError

TYPEIDS_FILE = Path("build/typeids.json")

#: The contract that each part of a scenario derives from.
ROLES = {
    "transport": "ns3::FabricTransport",
    "queue": "ns3::FabricQueueDiscipline",
    "flow_control": "ns3::FabricLinkFlowControl",
    "forwarding": "ns3::FabricForwardingPolicy",
}

Attributes = dict[str, bool | int | float | str]


class TypeIds:
    """All TypeIds of the modules, by name."""

    def __init__(self, entries: list[dict]):
        self._by_name = {entry["name"]: entry for entry in entries}

    def choices(self, role: str) -> list[str]:
        """Return the types that can take a role, sorted."""
        return sorted(
            name
            for name, entry in self._by_name.items()
            if not entry.get("abstract") and ROLES[role] in self._ancestors(name)
        )

    def check_type(self, role: str, name: str) -> None:
        """Raise SpecError unless the type exists and derives from the contract of its role."""
        known = self.choices(role)
        if name not in known:
            raise SpecError(
                f"no {role.replace('_', ' ')} '{name}'. There are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )

    def settle(self, name: str, given: Attributes) -> Attributes:
        """Return all attributes of a type: what was given, checked, and the defaults.

        Parameters
        ----------
        name : str
            A type that `check_type` has accepted.
        given : dict
            Values as YAML has them.

        Raises
        ------
        FieldError
            No such attribute, wrong kind of value, or out of range.
        """
        known = self.attributes(name)
        for key in given:
            if key not in known:
                names = ", ".join(known) or "no attributes"
                raise FieldError(
                    key, f"{name} has no attribute '{key}'. It has {names}."
                    f"{did_you_mean(key, known)}",
                )  # fmt: skip
        settled = {}
        for key, attribute in known.items():
            try:
                settled[key] = (
                    check_value(attribute, given[key])
                    if key in given
                    else default_of(attribute)
                )
            except ValueError as error:
                raise FieldError(key, f"{name}: {key}: {error}") from None
        return settled

    def attributes(self, name: str) -> dict[str, dict]:
        """Return the attributes of a type, those of its ancestors first."""
        lineage = [*reversed(self._ancestors(name)), name]
        return {
            attribute["name"]: attribute
            for type_name in lineage
            for attribute in self._by_name.get(type_name, {}).get("attributes", [])
        }

    def library(self, name: str) -> str | None:
        """Return the library that registers a type, if the build noted it."""
        return self._by_name.get(name, {}).get("library")

    def _ancestors(self, name: str) -> list[str]:
        """Return the types a type derives from, nearest first."""
        found, parent = [], self._parent(name)
        while parent and parent not in found:
            found.append(parent)
            parent = self._parent(parent)
        return found

    def _parent(self, name: str) -> str | None:
        entry = self._by_name.get(name, {})
        return entry.get("parent") or entry.get("contract")


def load(path: Path | str = TYPEIDS_FILE) -> TypeIds:
    """Return the TypeIds of the built modules.

    Raises
    ------
    SpecError
        The modules are not built.
    """
    path = Path(path)
    try:
        return _load(str(path.resolve()), path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise SpecError(
            f"{path}: not there, so I cannot know the transports and their attributes:"
            " the C++ modules are not built. Run: make setup"
        ) from None


@lru_cache(maxsize=4)
def _load(path: str, _mtime_ns: int) -> TypeIds:
    return TypeIds(json.loads(Path(path).read_text()))


_RANGE = re.compile(r"(?:(\S+)\s+)?([^:\s]+):([^:\s]+)")


def check_value(attribute: dict, value: object) -> bool | int | float | str:
    """Return a value as the attribute takes it.

    Parameters
    ----------
    attribute : dict
        ``type`` (``ns3::UintegerValue`` ...) and ``range`` as ns-3 prints them.
    value : object
        From YAML. A Uinteger whose name ends in Bytes may have a unit: ``"200 kB"``.

    Raises
    ------
    ValueError
        Wrong kind or out of range; the text says what is allowed.
    """
    kind = attribute["type"].removeprefix("ns3::").removesuffix("Value")
    reader = _READERS.get(kind, _read_text)
    return reader(attribute, value)


def default_of(attribute: dict) -> bool | int | float | str:
    """Return the default of an attribute in the same form as a value that was given."""
    kind, text = attribute["type"].removeprefix("ns3::").removesuffix("Value"), attribute["default"]
    if kind in ("Uinteger", "Integer"):
        return int(text)
    if kind == "Double":
        return float(text)
    if kind == "Boolean":
        return text == "true"
    if kind == "Time":
        return _time_text(units.parse_time_ps(text.lstrip("+")))
    return text


def _read_integer(attribute: dict, value: object) -> int:
    if isinstance(value, str) and attribute["name"].endswith("Bytes"):
        value = _parsed(value, units.SIZE)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{_shown(value)} is not a whole number{_of(attribute)}.")
    return _in_range(attribute, value)


def _read_double(attribute: dict, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_shown(value)} is not a number{_of(attribute)}.")
    return _in_range(attribute, float(value))


def _read_boolean(attribute: dict, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is not true or false.")
    return value


def _read_time(attribute: dict, value: object) -> str:
    return _time_text(_parsed(value, units.TIME))


def _read_enum(attribute: dict, value: object) -> str:
    allowed = [word for word in attribute.get("range", "").split("|") if word]
    if not isinstance(value, str) or (allowed and value not in allowed):
        raise ValueError(
            f"{_shown(value)} is not one of {', '.join(allowed)}.{did_you_mean(value, allowed)}"
        )
    return value


def _read_text(attribute: dict, value: object) -> str:
    if isinstance(value, bool | int | float):
        raise ValueError(f"{_shown(value)} is not text. Quote it, with its unit if it has one.")
    return value


_READERS = {
    "Uinteger": _read_integer,
    "Integer": _read_integer,
    "Double": _read_double,
    "Boolean": _read_boolean,
    "Time": _read_time,
    "Enum": _read_enum,
}


def _in_range(attribute: dict, value: int | float) -> int | float:
    match = _RANGE.fullmatch(attribute.get("range", "").strip())
    if match:
        low, high = _bound(match[2]), _bound(match[3])
        if not low <= value <= high or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(f"{value} is out of range; it must be {match[2]} to {match[3]}.")
    return value


def _bound(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _of(attribute: dict) -> str:
    match = _RANGE.fullmatch(attribute.get("range", "").strip())
    return f", {match[2]} to {match[3]}" if match else ""


def _parsed(value: object, dimension: units.Dimension) -> int:
    try:
        return units.parse(value, dimension)
    except SpecError as error:
        raise ValueError(str(error)) from None


def _time_text(time_ps: int) -> str:
    """Return a time as ns-3 reads it: ``4ms``."""
    return units.format_exact(time_ps, units.TIME).replace(" ", "")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else f"{value}"
