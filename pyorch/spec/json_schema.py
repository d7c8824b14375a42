# SPDX-License-Identifier: GPL-2.0-only
"""Takes the models of a scenario, its plug-ins and the built types, returns one JSON Schema.

Nothing is listed here that they know. A key that a section needs may be missing where a sweep, a
variant, a case or a scale sets something of that section.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from pyorch import formats, plugins, units
from pyorch.errors import PluginError
from pyorch.spec import planning, schema, typeids
from pyorch.spec.fields import text_of
from pyorch.spec.limits import LONGEST_TEXT
from pyorch.spec.measured import Measured
from pyorch.spec.scenario import NONE, ONE_OR_MORE
from pyorch.spec.stored import PLUGINS
from pyorch.spec.typeids import TypeIds
from pyorch.spec.written import as_written
from pyorch.writing import write_text

Node = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
#: How pydantic says the limits of a type that a validator reads first, and how JSON Schema does.
_LIMITS = {
    "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
}  # fmt: skip
#: In a key path: an element of a list, a key that is no word of the format, whatever follows.
_INDEX, _KEY, _REST = "[0-9]+", "[^.]+", ".+"
#: What the models call a section that holds a plug-in, or a type of the C++ modules.
_OF_PLUGINS, _OF_TYPES = ("Plugin", "Load", "Jobs"), ("Typed", "Transport")
#: A mapping, of which nothing at all is an empty one.
_OR_EMPTY = ["object", "null"]
#: Its file in a study, and the first line of a scenario there, which editors read.
FILE = "scenario.schema.json"
COMMENT = f"# yaml-language-server: $schema=../{FILE}\n"


def write_schema(path: Path) -> None:
    """Write the schema as it is for this folder."""
    write_text(path, schema_text())


def schema_text() -> str:
    """Return the schema as it is for this folder, as text."""
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


def scenario_schema(types: TypeIds | None = None) -> Node:
    """Return the JSON Schema (2020-12) of a scenario file.

    Parameters
    ----------
    types : TypeIds, optional
        Of the C++ modules; those that are built for this folder by default.

    Raises
    ------
    SpecError
        The modules are not built.
    """
    return _Maker(types or typeids.load()).whole()


class _Generator(GenerateJsonSchema):
    """Says of each model what a scenario has: defaults as written, no key that is derived."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> Node:
        found, model = super().model_schema(schema), schema["cls"]
        found.pop("title", None)
        needed, keys = found.pop("required", []), found.get("properties", {})
        for name, field in model.model_fields.items():
            key = field.alias or name
            its = keys.get(key, {})
            default = as_written(model, {name: its.pop("default", None)}).get(key)
            if "description" not in its and (said := _said(model.__doc__ or "", key)):
                its["description"] = said
            if default is not None and field.validate_default is not False:
                its["default"] = default
            if its.pop("filled", False):
                needed.remove(key)
            if its.pop("derived", False) or its.pop("found", False):
                del keys[key]
        needed = [key for key in needed if key in keys]
        return found | ({"required": needed} if needed else {})


class _Maker:
    """The definitions of one schema as they are made."""

    def __init__(self, types: TypeIds):
        self._types = types
        self._defs: dict[str, Node] = {}
        self._own_links: list[str] = []

    def whole(self) -> Node:
        """Return the schema."""
        root = self._model(schema.complete(self._types), "")
        keys = root["properties"]
        for key, kind in PLUGINS.items():
            name = next(name for name in _OF_PLUGINS if _refers(keys[key], name))
            self._plugins(kind, self._defs[name])
            _swap(keys[key], name, kind)
        for owner in [root, *self._defs.values()]:
            self._swap_types(owner)
        for name in (*_OF_PLUGINS, *_OF_TYPES):
            self._defs.pop(name, None)
        # Short forms, of which `pyorch.spec.scenario` makes the long ones.
        for key in ONE_OR_MORE:
            keys[key] = {"anyOf": [keys[key]["items"], keys[key]]}
        keys["engine"] = {"anyOf": [self._defs["Engine"]["properties"]["type"], keys["engine"]]}
        for *section, name in (map(str, path) for path in NONE):
            of = self._defs[section[0].capitalize()]["properties"] if section else keys
            of[name] = {"anyOf": [of[name], {"const": "none"}]}
        needed = root.pop("required")
        needs = {key: self._needs(its) for key, its in keys.items()}
        conditions = [self._condition(key, its, key in needed) for key, its in needs.items()]
        keys |= self._planning(keys)
        root |= {"required": ["name"], "allOf": [one for one in conditions if one]}
        keys[formats.KEY] = {
            "const": formats.SCENARIO,
            "description": "Version of this format; without it that is the current one.",
        }
        head = {"$schema": DIALECT, "$id": f"urn:pyorch:scenario:{formats.SCENARIO}"}
        return {**head, **root, "$defs": self._defs}

    def _model(self, model: type[BaseModel], prefix: str) -> Node:
        """Return the schema of a model; those within it are definitions with a prefix."""
        found = model.model_json_schema(
            schema_generator=_Generator, ref_template=f"#/$defs/{prefix}{{model}}"
        )
        for name, its in found.pop("$defs", {}).items():
            self._defs[prefix + name] = self._tidy(its)
        return self._tidy(found)

    def _tidy(self, node: Node) -> Node:
        """Return what pydantic says in words of JSON Schema, with references to plug-ins."""
        if kind := node.get("plugin"):
            return self._plugins(kind)
        if kind := node.get("named"):
            names = {"enum": plugins.names(f"pyorch.{kind}")}
            return {"anyOf": [names, self._plugins(kind)]}
        found = {key: its for key, its in node.items() if key not in _LIMITS}
        limits = {key: node[key] for key in _LIMITS if key in node}
        if "anyOf" in node:
            found["anyOf"] = [one | limits for one in node["anyOf"]]
        elif "pattern" in node and limits.keys() & {"ge", "gt"} and limits.get("ge", 1) > 0:
            found["pattern"] = units.above_zero(node["pattern"])
        elif node.get("type") in ("integer", "number"):
            found |= {_LIMITS[key]: limit for key, limit in limits.items()}
        return _mapped(found, self._tidy)

    # ---- Plug-ins and types ------------------------------------------------------------------

    def _plugins(self, kind: str, around: Node | None = None) -> Node:
        """Return a reference to what a scenario has of a kind, with the keys `around` each."""
        if kind not in self._defs:
            package, own = f"pyorch.{kind}", dict((around or {}).get("properties", {}))
            own.pop("type", None)
            self._defs[kind] = {}  # a plug-in may hold one of its own kind
            names = plugins.names(package)
            about = [plugins.summary(package, name) for name in names]
            self._defs[kind] |= self._choice(names, about, lambda name: self._params(kind, name))
            for name in names:
                its = self._defs[f"{kind}.{name}"]
                its["properties"] = {"type": {}, **own, **its.get("properties", {})}
                needed = {"type", *(around or {}).get("required", []), *its.get("required", [])}
                its["required"] = sorted(needed - {"type"})
        return {"$ref": f"#/$defs/{kind}"}

    def _params(self, kind: str, name: str) -> Node:
        """Return the parameters of a plug-in; any at all, if it may not be executed."""
        try:
            module = plugins.load(f"pyorch.{kind}", name)
        except PluginError as error:
            its: Node = {"description": str(error)}
        else:
            its = self._model(module.Params, f"{kind}.{name}.")
            self._own_links += [name] * getattr(module, "OWN_LINKS", False)
        self._defs[f"{kind}.{name}"] = its
        return {"$ref": f"#/$defs/{kind}.{name}"}

    def _swap_types(self, owner: Node) -> None:
        """Refer to the types of a role, which is called as the key is that holds one."""
        for key, its in owner.get("properties", {}).items():
            for name in _OF_TYPES:
                if _refers(its, name):
                    role = "program" if key == "programs" else key
                    self._role(role, self._defs[name]["properties"])
                    _swap(its, name, role)

    def _role(self, role: str, keys: dict[str, Node]) -> None:
        """Define what a scenario has of a role: a type of the C++ modules, and its attributes."""
        if role in self._defs:
            return
        names = self._types.choices(role)
        chosen = self._choice(
            names, [self._types.help(name) for name in names],
            lambda name: {"properties": {"attributes": {"$ref": f"#/$defs/{name}"}}},
        )  # fmt: skip
        chosen["properties"] |= {k: v for k, v in keys.items() if k not in chosen["properties"]}
        chosen["properties"]["attributes"] = {}  # as the type says
        self._defs[role] = chosen | {"additionalProperties": False}
        for name in names:
            known = self._types.attributes(name)
            self._defs[name] = {
                "type": "object", "additionalProperties": False,
                "properties": {key: self._attribute(its) for key, its in known.items()},
            }  # fmt: skip

    def _attribute(self, its: dict) -> Node:
        """Return what an attribute of a type takes in a scenario."""
        about: Node = {"description": its["help"]}
        about |= {"default": typeids.default_of(its)} if its["default"] else {}
        kind = typeids.kind_of(its)
        if kind == "Boolean":
            return {"type": "boolean", **about}
        if kind == "Enum":
            return {"enum": its["range"].split("|"), **about}
        if kind == "Time":
            return _text(units.TIME, typeids.least_ps(its) > 0) | about
        if kind not in ("Uinteger", "Integer", "OptionalUinteger", "Double"):
            text = self._text_of_type(its["contract"]) if its["contract"] else {"type": "string"}
            return text | about
        limits = zip(("minimum", "maximum"), typeids.range_of(its), strict=True)
        number: Node = {key: limit for key, limit in limits if abs(limit) < math.inf}
        if kind == "Double":
            return {"type": "number", **number, **about}
        known = [{"type": "integer", **number}]
        known += [_text(of) for end, of in typeids.UNITS.items() if its["name"].endswith(end)]
        known += [{"const": "none"}] * typeids.may_be_none(its)
        return _one_of(known) | about

    def _text_of_type(self, contract: str) -> Node:
        """Return what names a type in the value of an attribute: ``ns3::X[A=1|B=2]``, or none."""
        names = self._types.choices(contract)
        known = []
        for name in names:
            pair = rf"(?:{'|'.join(self._types.attributes(name))})=[^|]*"
            known.append(rf"{name}(?:\[{pair}(?:\|{pair})*\])?")
        return {
            "type": "string",
            "pattern": f"^(?:{'|'.join(known)})?$",
            "examples": names,
            "errorMessage": f"Write a {contract.replace('_', ' ')} as text, with attributes if it"
            f' has any: "ns3::...[Name=value|Name=value]". There are {", ".join(names)}.',
        }

    @staticmethod
    def _choice(names: list[str], about: list[str], of: Callable[[str], Node]) -> Node:
        """Return what has a `type`, on which its other keys depend."""
        return {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"enum": names, "enumDescriptions": about}},
            "allOf": [
                {"if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                 "then": of(name)} for name in names
            ],
        }  # fmt: skip

    # ---- Keys that are needed ----------------------------------------------------------------

    def _needs(self, node: Node) -> Node:
        """Return which keys something needs, if any, and let it do without."""
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if f"needs.{name}" not in self._defs:
                self._defs[f"needs.{name}"] = {}  # it may hold another one of its kind
                self._defs[f"needs.{name}"] = self._needs(self._defs[name])
                if not self._defs[f"needs.{name}"]:
                    return {}
            return {"$ref": f"#/$defs/needs.{name}"}
        own: Node = {"required": node.pop("required", None)}
        own["properties"] = {
            key: needs for key, its in node.get("properties", {}).items()
            if (needs := self._needs(its))
        }  # fmt: skip
        own["items"] = self._needs(node["items"]) if "items" in node else {}
        parts = [{key: its for key, its in own.items() if its}]
        parts += [self._needs(its) for its in node.get("anyOf", [])]
        for its in node.get("allOf", []):
            if needs := self._needs(its["then"]):
                parts.append({"if": its["if"], "then": needs})
        parts = [part for part in parts if part]
        return {"allOf": parts} if len(parts) > 1 else parts[0] if parts else {}

    def _condition(self, key: str, needs: Node, is_needed: bool) -> Node:
        """Return what holds of a section unless something else sets a part of it."""
        then: Node = {"required": [key]} if is_needed else {}
        then |= {"properties": {key: needs}} if needs else {}
        if not then:
            return {}
        names = {"propertyNames": {"not": {"pattern": rf"^(?:sweep\.)?{key}(?:\.|$)"}}}
        elsewhere: list[Node] = [
            {"required": ["sweep"], "properties": {"sweep": {"type": "object", "not": names}}}
        ]
        for name in (*planning.WORDS, "scales"):
            some: Node = {"type": "object", "not": {"additionalProperties": names}}
            elsewhere.append({"required": [name], "properties": {name: some}})
        if key == "link":
            types = {"properties": {"type": {"enum": self._own_links}}, "required": ["type"]}
            elsewhere.append({"properties": {"topology": types}})
        return {"if": {"not": {"anyOf": elsewhere}}, "then": then}

    # ---- Which runs there are ----------------------------------------------------------------

    def _planning(self, keys: dict[str, Node]) -> dict[str, Node]:
        """Return the sections whose keys are key paths into the others."""
        values: dict[tuple[str, ...], dict[str, Node]] = {}
        others = {key: its for key, its in keys.items() if key != "name"}
        for path, at, its in self._walk({"properties": others}, "#", (), ()):
            known = values.setdefault(path, {})
            if its and "const" not in its:
                bare = {k: v for k, v in its.items() if k not in ("description", "default")}
                known.setdefault(json.dumps(bare), {"$ref": at})
        each = {path: _one_of([*known.values()]) for path, known in values.items()}
        many = {
            path: {"type": "array", "minItems": 1, "items": its} for path, its in each.items()
        }  # fmt: skip
        label = {"type": "string", "maxLength": LONGEST_TEXT, "pattern": planning.LABEL_PATTERN}
        names = {"type": "array", "items": {"type": "string"}}
        words: dict[str, Node] = {"label": label, "exclude": names}
        made: dict[str, Node] = {"sweep": _keyed(many) | {"type": _OR_EMPTY}}
        self._defs["changes"] = _keyed(each, words)
        for section, own in planning.WORDS.items():
            made[section] = {
                "type": _OR_EMPTY,
                "propertyNames": {"pattern": f"^{planning.NAME}$"},
                "additionalProperties": {
                    "$ref": "#/$defs/changes",
                    "properties": dict.fromkeys(sorted(words.keys() - {*own}), False),
                },
            }
        made["scales"] = _closed(dict.fromkeys(planning.SCALES, {"$ref": "#/$defs/scale"}))
        made["scales"]["type"] = _OR_EMPTY
        made["measured"] = self._model(Measured, "")
        self._defs["scale"] = self._scale(each, names) | {"type": _OR_EMPTY}
        return made

    @staticmethod
    def _scale(each: dict[tuple[str, ...], Node], names: Node) -> Node:
        """Return what a scale changes: also what is swept, and which variants and cases are."""
        wild, within = _wild(each), dict(each)
        words: dict[str, Node] = {}
        for section in planning.WORDS:
            words[section] = {"anyOf": [names, {"$ref": f"#/properties/{section}"}]}
            within[section, _REST] = {}
        words["sweep"] = {"$ref": "#/properties/sweep"}
        for path in each:
            key = ".".join(path)
            if path in wild:
                within["sweep", *path] = {"type": "array", "minItems": 1}
            else:
                within[path] = {"$ref": f"#/$defs/changes/properties/{key}"}
                words[f"sweep.{key}"] = {"$ref": f"#/properties/sweep/properties/{key}"}
        return _keyed(within, words)

    def _walk(
        self, node: Node, at: str, path: tuple[str, ...], within: tuple[str, ...]
    ) -> Iterator[tuple[tuple[str, ...], str, Node]]:
        """Yield the path of each key below something, where its schema stands, and that."""
        if (ref := node.get("$ref", "")) in within:
            yield (*path, _REST), at, {}
            return
        if ref:
            at, node, within = ref, self._defs[ref.rpartition("/")[2]], (*within, ref)
        below = [(key, f"properties/{key}", its) for key, its in node.get("properties", {}).items()]
        below += [(_INDEX, "items", node["items"])] if "items" in node else []
        for key, inner in (("prefixItems", _INDEX), ("additionalProperties", _KEY)):
            its = node.get(key) or []
            below += [(inner, f"{key}/{i}", one) for i, one in enumerate(its)] if (
                isinstance(its, list)) else [(inner, key, its)]  # fmt: skip
        for key, place, its in below:
            yield (*path, key), f"{at}/{place}", its
            yield from self._walk(its, f"{at}/{place}", (*path, key), within)
        for i, its in enumerate(node.get("anyOf", [])):
            yield from self._walk(its, f"{at}/anyOf/{i}", path, within)
        for i, its in enumerate(node.get("allOf", [])):
            yield from self._walk(its["then"], f"{at}/allOf/{i}/then", path, within)
        if not node.keys() - {"description", "properties"} and ref:  # what may not be executed
            yield (*path, _REST), at, {}


def _said(text: str, key: str) -> str:
    """Return the first sentence of a docstring that is about a key."""
    sentences = re.split(r"(?<=[.;]) (?=[A-Z`])", " ".join(text.split()))
    return next((one for one in sentences if f"`{key}`" in one), "")


def _text(dimension: units.Dimension, is_above_zero: bool = False) -> Node:
    found = TypeAdapter(text_of(dimension)).json_schema()
    return found | {"pattern": units.above_zero(found["pattern"])} if is_above_zero else found


def _one_of(known: list[Node]) -> Node:
    return {"anyOf": known} if len(known) > 1 else known[0] if known else {}


def _closed(keys: dict[str, Node]) -> Node:
    return {"type": "object", "additionalProperties": False, "properties": keys}


def _wild(paths: Iterable[tuple[str, ...]]) -> set[tuple[str, ...]]:
    return {path for path in paths if {_INDEX, _KEY, _REST} & {*path}}


def _keyed(by_path: dict[tuple[str, ...], Node], words: dict[str, Node] | None = None) -> Node:
    """Return a section whose keys are key paths, and maybe some words."""
    wild = _wild(by_path)
    keys = {".".join(path): its for path, its in by_path.items() if path not in wild}
    patterns = {"^" + r"\.".join(path) + "$": by_path[path] for path in sorted(wild)}
    return _closed((words or {}) | keys) | {"patternProperties": patterns}


def _refers(node: Node, name: str) -> bool:
    return f'"#/$defs/{name}"' in json.dumps(node)


def _swap(node: Any, old: str, new: str) -> None:
    """Let what refers to one definition refer to another one."""
    for its in node.values() if isinstance(node, dict) else node:
        if isinstance(its, dict | list):
            _swap(its, old, new)
    if isinstance(node, dict) and node.get("$ref") == f"#/$defs/{old}":
        node["$ref"] = f"#/$defs/{new}"


def _mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a schema whose inner ones are changed."""
    found = dict(node)
    for key in ("properties", "patternProperties"):
        if key in node:
            found[key] = {name: change(its) for name, its in node[key].items()}
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(key), dict):
            found[key] = change(node[key])
    for key in ("anyOf", "oneOf", "prefixItems"):
        if key in node:
            found[key] = [change(its) for its in found[key]]
    return found
