# SPDX-License-Identifier: GPL-2.0-only
"""Takes an ns-3 TypeId with attributes, returns all its attributes, checked, defaults filled in.

What exists is read from ``build/typeids.json``, which the build of the C++ modules writes from
ns-3's own registry, so neither names nor ranges are listed here.
"""

import hashlib
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from pyorch import built, units
from pyorch.built import ENGINE, FLUID
from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.reading import read_json
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link, Options, Spec, Switch, Typed
from pyorch.spec.yaml_lines import KeyPath

Attributes = dict[str, bool | int | float | str]
#: Beside it, with its digest in the last line.
STAMP = ".described"
_DIGEST = re.compile(r"^[0-9a-f]{64}$", re.M)


class TypeIds:
    """All TypeIds of the modules, by name."""

    def __init__(self, entries: list[dict]):
        self._by_name = {entry["name"]: entry for entry in entries}

    def choices(self, role: str) -> list[str]:
        """Return the types that fulfil a contract, sorted: transport, queue, forwarding ..."""
        return sorted(n for n, entry in self._by_name.items() if entry["contract"] == role)

    def check_type(self, role: str, name: str) -> None:
        """Raise SpecError unless the type exists and derives from the contract of its role."""
        known = self.choices(role)
        if name not in known:
            raise SpecError(
                f"no {role.replace('_', ' ')} {quoted(name)}. There are {', '.join(known)}."
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
                    key, f"{name} has no attribute {quoted(key)}. It has {names}."
                    f"{did_you_mean(key, known)}",
                )  # fmt: skip
        settled = {}
        for key, attribute in known.items():
            try:
                settled[key] = (
                    self._checked(attribute, given[key]) if key in given else default_of(attribute)
                )
            except ValueError as error:
                raise FieldError(key, f"{name}: {key}: {error}") from None
        return settled

    def _checked(self, attribute: dict, value: object) -> bool | int | float | str:
        """Return a value as the attribute takes it; a type that it names must be of its kind.

        Such a type may have attributes of its own, in ns-3's notation: ``ns3::X[A=1|B=2]``.
        """
        settled = check_value(attribute, value)
        if contract := attribute.get("contract"):
            self._check_choice(contract, str(settled))
        return settled

    def _check_choice(self, contract: str, text: str) -> None:
        """Refuse a type that there is not, or of another kind, or attributes it cannot have."""
        if not text:
            return
        name, bracket, inner = text.partition("[")
        known = self.choices(contract)
        kind = contract.replace("_", " ")
        if name not in known:
            other = self._by_name.get(name, {}).get("contract")
            is_a = f"{quoted(name)} is a {(other or '').replace('_', ' ')}"
            what = is_a if other else f"no {quoted(name)}"
            there_are = f"There are {', '.join(known)}" if known else "There is none"
            meant = "" if other else did_you_mean(name, known)
            raise ValueError(f"here goes a {kind}; {what}. {there_are}.{meant}")
        if bracket:
            self._check_inner(name, inner)

    def _check_inner(self, name: str, text: str) -> None:
        """Refuse attributes in brackets that their type has not, or cannot take."""
        known = self.attributes(name)
        pairs = [pair.partition("=") for pair in text.removesuffix("]").split("|")]
        if not text.endswith("]") or not all(equals for _, equals, _ in pairs):
            raise ValueError(
                f"{quoted(f'{name}[{text}')} is not of the form {name}[Name=value|Name=value]."
            )
        for index, (key, _, given) in enumerate(pairs):
            if key not in known:
                raise ValueError(
                    f"{name} has no attribute {quoted(key)}. It has {', '.join(known) or 'none'}."
                    f"{did_you_mean(key, known)}"
                )
            if key in [other for other, _, _ in pairs[:index]]:
                raise ValueError(f"{name}: {key} is given twice. Give it once.")
            try:
                self._checked(known[key], _read_inner(known[key], given))
            except ValueError as error:
                hint = " Between attributes goes |." if "," in given else ""
                raise ValueError(f"{name}: {key}: {error}{hint}") from None

    def signals(self, typed: Typed, way: str) -> dict[str, str]:
        """Return what a type, or one that its attributes name, reads or writes, with its name.

        Parameters
        ----------
        typed : Typed
            A type with all its attributes.
        way : str
            ``reads`` (senders: what switches or a controller say) or ``writes`` (switches).
        """
        values = [value for value in typed.attributes.values() if isinstance(value, str)]
        named = [typed.type, *(name for value in values for name in _TYPE_NAME.findall(value))]
        return {
            signal: name for name in named if name in self._by_name
            for signal in self._by_name[name].get(way, [])
        }  # fmt: skip

    def attributes(self, name: str) -> dict[str, dict]:
        """Return the attributes of a type by name."""
        return {attribute["name"]: attribute for attribute in self._by_name[name]["attributes"]}

    def section(self, name: str) -> list[dict]:
        """Return the attributes of a section of a scenario.

        Raises
        ------
        SpecError
            The modules that are built have no such section.
        """
        if name not in self._by_name:
            raise SpecError(
                f"the C++ modules that are built do not know {name}. Run: {_how_to_build()}"
            )
        return self._by_name[name]["attributes"]

    def help(self, name: str) -> str:
        """Return the attributes of a type in one line, for a list."""
        return ", ".join(f"{a['name']}={a['default']}" for a in self._by_name[name]["attributes"])

    def libraries(self, spec: Spec) -> list[str]:
        """Return the file names of the libraries that a run loads, sorted."""
        typed = [part for _, part in typed_parts(spec)]
        named = [part["type"] for part in typed]
        values = [v for part in typed for v in part["attributes"].values()]
        named += [name for v in values if isinstance(v, str) for name in _TYPE_NAME.findall(v)]
        found = {self._by_name[name]["library"] for name in named if name in self._by_name}
        fluid = {FLUID} if spec.engine.type == "fluid" else set()
        return sorted(found | fluid | {ENGINE})


def load(path: Path | str | None = None) -> TypeIds:
    """Return the TypeIds of the modules that are built for this folder, or of another file.

    Raises
    ------
    SpecError
        The modules are not built.
    """
    return TypeIds(entries(path))


def entries(path: Path | str | None = None) -> list[dict]:
    """Return what the build says of each type; raise SpecError as `load` does."""
    path = Path(path or built.here().typeids)
    try:
        return _entries(path.resolve(), path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise SpecError(
            f"{_shown_path(path)}: not there, so I cannot know the transports and their attributes:"
            f" the C++ modules are not built. Run: {_how_to_build()}"
        ) from None


def _how_to_build() -> str:
    return "python -m pyorch.simulate.build" if built.here().study else "make setup"


def _shown_path(path: Path) -> str:
    """Return a path as seen from here, if it lies below."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


@with_config(ConfigDict(extra="allow", strict=True))
class _Attribute(TypedDict):
    name: str
    help: str
    default: str
    type: str
    range: str
    contract: str


@with_config(ConfigDict(extra="allow", strict=True))
class _Entry(TypedDict):
    name: str
    contract: str
    library: str
    attributes: list[_Attribute]


@lru_cache(maxsize=4)
def _entries(path: Path, _mtime_ns: int) -> list[dict]:
    """Return the content of the file; what the build has written is not what it may be now."""
    again = f"Delete it, then run: {_how_to_build()}"
    found = read_json(path, SpecError, again, list)
    stamp = path.with_name(STAMP)  # a wheel brings none
    written = _DIGEST.findall(stamp.read_text()) if stamp.exists() else []
    if written and written != [hashlib.sha256(path.read_bytes()).hexdigest()]:
        raise SpecError(f"{_shown_path(path)}: not the file that the build has written. {again}")
    try:
        checked: list[Any] = TypeAdapter(
            Annotated[list[_Entry], Field(min_length=1)]
        ).validate_python(found)
        for attribute in (one for entry in checked for one in entry["attributes"]):
            default_of(attribute)
    except (ValidationError, ValueError) as error:
        at = error.errors(include_url=False)[0]["loc"] if isinstance(error, ValidationError) else ()
        where = ".".join(map(str, at)) or "a default"
        raise SpecError(f"{_shown_path(path)}: {where}: is damaged. {again}") from None
    return checked


_TYPE_NAME = re.compile(r"ns3::[\w:]+")
_NAMED_ATTRIBUTE = re.compile(r"(ns3::[\w:]*\w): (\w+)")
_DIGITS = re.compile("-?[0-9]{1,20}")


#: Keys of switches and of links that name a type.
SWITCH_ROLES = ("queue", "scheduler", "forwarding")
LINK_ROLES = ("flow_control", "loss_model")


def typed_parts(spec: Spec) -> Iterator[tuple[KeyPath, dict]]:
    """Yield everything in a resolved spec that is a type with attributes, and its key path.

    Each says its role, as the engine calls it: ``{"role": ..., "type": ..., "attributes": ...}``.
    """
    for index, its in enumerate(spec.transport):
        yield ("transport", index), _part("transport", its)
    for path, its in _kinds("switch", spec.switch):
        for role in ("queue", "forwarding", "scheduler"):
            if typed := getattr(its, role):
                yield (*path, role), _part(role, typed)
        for index, program in enumerate(its.programs):
            yield (*path, "programs", index), _part("program", program)
    for path, its in _kinds("link", spec.link):
        for role in LINK_ROLES:
            if typed := getattr(its, role):
                yield (*path, role), _part(role, typed)


def combinations(spec: Spec, network: Network) -> Iterator[tuple[dict[KeyPath, dict], list]]:
    """Yield the programs of all switches together; then what meets at some switch.

    Parameters
    ----------
    spec : Spec
        Resolved.
    network : Network
        Of the run.

    Yields
    ------
    parts : dict
        By their key paths, as `typed_parts` has them. If links have flow control, which asks for
        room in a buffer, the sections ``wire`` and ``switch`` are among them.
    switches : list
        Of these links, each set that some switch has, as `Network.links_at` has it; none without
        flow control.
    """
    parts = dict(typed_parts(spec))
    transports = {path: part for path, part in parts.items() if path[0] == "transport"}
    programs = {path: part for path, part in parts.items() if part["role"] == "program"}
    if len(programs) > 1:
        yield programs, []
    (_, _), *classes = _kinds("switch", spec.switch)
    switches = {tier: path for path, its in classes for tier in its.tiers}
    (_, _), *classes = _kinds("link", spec.link)
    links = {its.tiers: path for path, its in classes}
    met: dict[tuple[KeyPath, KeyPath], list] = {}
    for pair in network.tier_pairs:
        for tier in filter(None, pair):
            paths = switches.get(tier, ("switch",)), links.get(pair, ("link",))
            met.setdefault(paths, []).append((tier, pair))
    for switch, link in sorted(met, key=lambda paths: [(len(path), path) for path in paths]):
        roles = ((*switch, "queue"), (*switch, "scheduler"), (*link, "flow_control"))
        found = {path: parts[path] for path in roles if path in parts} | transports
        if (*link, "flow_control") in parts:
            its = dict(_kinds("switch", spec.switch))[switch]
            sections = {("wire",): _section("ns3::Wire", spec.wire),
                        switch: _section("ns3::Switch", its)}  # fmt: skip
            yield sections | found, network.links_at(tuple(met[switch, link]), spec.link.jitter_ps)
        else:
            yield found, []


def engine_part(spec: Spec) -> dict[KeyPath, dict]:
    """Return, by its key path, the part of the engine that decides which types it takes.

    Parameters
    ----------
    spec : Spec
        Resolved.

    Returns
    -------
    dict
        Nothing if every type is taken.
    """
    if spec.engine.skip_ppm is None:
        return {}
    attributes = {"SkipPpm": spec.engine.skip_ppm}
    return {("engine", "skip"): {"role": "engine", "type": "ns3::PacketEngine",
                                 "attributes": attributes}}  # fmt: skip


def _part(role: str, its: Typed) -> dict:
    return {"role": role, "type": its.type, "attributes": its.attributes}


def _section(name: str, its: Options) -> dict:
    return {"role": "section", "type": name, "attributes": its.model_extra}


def _kinds(section: str, its: Switch | Link) -> Iterator[tuple[KeyPath, Any]]:
    """Yield a section, then each of its classes, with their key paths."""
    yield (section,), its
    for index, one in enumerate(its.classes):
        yield (section, "classes", index), one


def blamed(part: dict, message: str) -> str:
    """Return the attribute of a type that a message of the engine is about; "" if it says none.

    Messages begin with the type and the attribute; the type may be one that an attribute names.
    """
    for name, attribute in _NAMED_ATTRIBUTE.findall(message):
        if name == part["type"] and attribute in part["attributes"]:
            return attribute
        naming = (key for key, value in part["attributes"].items() if name in str(value))
        if found := next(naming, ""):
            return found
    return ""


def _read_inner(attribute: dict, text: str) -> bool | int | float | str:
    """Return a value in brackets as YAML would give it to an attribute of this kind."""
    kind = kind_of(attribute)
    if kind in ("Uinteger", "Integer"):
        return int(text) if _DIGITS.fullmatch(text) else text
    if kind == "Double":
        try:
            return units.parse_float(text)
        except ValueError:
            return text
    if kind == "Boolean":
        return {"true": True, "false": False}.get(text, text)
    if kind == "Time":
        return re.sub(r"(?<=[0-9])(?=[a-z])", " ", text)
    return text


#: Endings of names of whole numbers that may have a unit.
UNITS = {"Bytes": units.SIZE, "Bps": units.RATE}
_RANGE = re.compile(r"(?:(\S+)\s+)?([^:\s]+):([^:\s]+)")


def check_value(attribute: dict, value: object) -> bool | int | float | str:
    """Return a value as the attribute takes it.

    Parameters
    ----------
    attribute : dict
        ``type`` (``ns3::UintegerValue`` ...) and ``range`` as ns-3 prints them.
    value : object
        From YAML. A Uinteger whose name ends in Bytes or Bps may have a unit: ``"200 kB"``.

    Raises
    ------
    ValueError
        Wrong kind or out of range; the text says what is allowed.
    """
    return _READERS.get(kind_of(attribute), _read_text)(attribute, value)


def default_of(attribute: dict) -> bool | int | float | str:
    """Return the default of an attribute in the same form as a value that was given."""
    kind, text = kind_of(attribute), attribute["default"]
    if kind in ("Uinteger", "Integer") or (kind == "OptionalUinteger" and text != "none"):
        return int(text)
    if kind == "Double":
        return float(text)
    if kind == "Boolean":
        return text == "true"
    if kind == "Time":
        return _time_text(units.parse_time_ps(text.lstrip("+")))
    return text


def kind_of(attribute: dict) -> str:
    """Return ``Uinteger`` for ``ns3::UintegerValue``, ``Enum`` for ``ns3::EnumValue<...>``."""
    return attribute["type"].partition("<")[0].removeprefix("ns3::").removesuffix("Value")


def _read_integer(attribute: dict, value: object) -> int:
    for ending, dimension in UNITS.items():
        if isinstance(value, str) and attribute["name"].endswith(ending):
            value = _parsed(value, dimension)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{_shown(value)} is not a whole number{_of(attribute)}.")
    return int(_in_range(attribute, value))


def _read_optional(attribute: dict, value: object) -> int | str:
    return value if value == "none" else _read_integer(attribute, value)


def _read_double(attribute: dict, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_shown(value)} is not a number{_of(attribute)}.")
    return _in_range(attribute, float(value))


def _read_boolean(attribute: dict, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_shown(value)} is not true or false.")
    return value


def _read_time(attribute: dict, value: object) -> str:
    time_ps, low_ps = _parsed(value, units.TIME), least_ps(attribute)
    if time_ps < low_ps:  # what is too long for 64 bits is no time at all
        raise ValueError(f"{value} is too short; it must be at least {_time_text(low_ps)}.")
    return _time_text(time_ps)


def _read_enum(attribute: dict, value: object) -> str:
    allowed = [word for word in attribute.get("range", "").split("|") if word]
    if not isinstance(value, str) or (allowed and value not in allowed):
        raise ValueError(
            f"{_shown(value)} is not one of {', '.join(allowed)}.{did_you_mean(value, allowed)}"
        )
    return value


def _read_text(attribute: dict, value: Any) -> str:
    if isinstance(value, bool | int | float):
        raise ValueError(f"{_shown(value)} is not text. Quote it, with its unit if it has one.")
    return value


_READERS = {
    "Uinteger": _read_integer,
    "Integer": _read_integer,
    "OptionalUinteger": _read_optional,
    "Double": _read_double,
    "Boolean": _read_boolean,
    "Time": _read_time,
    "Enum": _read_enum,
}


def range_of(attribute: dict) -> tuple[int | float, int | float]:
    """Return the least and the largest value of a number."""
    match = _RANGE.fullmatch(attribute.get("range", "").strip())
    return (_bound(match[2]), _bound(match[3])) if match else (-math.inf, math.inf)


def least_ps(attribute: dict) -> int:
    """Return the least value of a time [ps]."""
    match = _RANGE.fullmatch(attribute.get("range", "").strip())
    return units.parse_time_ps(match[2].lstrip("+")) if match else 0


def may_be_none(attribute: dict) -> bool:
    """Return whether ``none`` is a value beside the numbers."""
    return kind_of(attribute).startswith("Optional")


def _in_range(attribute: dict, value: int | float) -> int | float:
    low, high = range_of(attribute)
    if not low <= value <= high or (isinstance(value, float) and math.isnan(value)):
        raise ValueError(f"{value} is out of range; it must be {_span(attribute)}.")
    return value


def _bound(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _of(attribute: dict) -> str:
    span = _span(attribute)
    return f", {span}" if span else ""


def _span(attribute: dict) -> str:
    match = _RANGE.fullmatch(attribute.get("range", "").strip())
    return f"{match[2]} to {match[3]}" if match else ""


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
    return quoted(value) if isinstance(value, str) else quoted(value)[1:-1]
