# SPDX-License-Identifier: GPL-2.0-only
"""Reads a resolved spec from disk and checks it as if it had just been written in YAML.

A ``spec.json`` is handed on and edited. So it is turned back into a scenario, resolved again by the
same models, and must come out as it stands. What is newer than it gets its default; attributes are
checked by the modules that register them, when they are loaded.
"""

import json
import typing
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pyorch import plugins
from pyorch.errors import PluginError, SpecError, quoted
from pyorch.reading import read_json, shown
from pyorch.spec import schema, typeids
from pyorch.spec.messages import section_in
from pyorch.spec.resolve import Resolver
from pyorch.spec.scenario import scenario_of
from pyorch.spec.schema import Topology
from pyorch.spec.yaml_lines import KeyPath, dotted
from pyorch.units import BY_SUFFIX, Dimension

_RESOLVER = Resolver(None)
#: Sections whose keys belong to the plug-in that they name.
_PLUGINS = {"topology": "topology", "workload": "workload", "failures": "failure",
            "jobs": "allocation"}  # fmt: skip


def read_spec(path: Path | str) -> dict:
    """Return a resolved spec.

    Raises
    ------
    SpecError
        No such file, not JSON, or not what pyorch would have written.
    """
    advice = "Make it with: pyorch spec SCENARIO.yaml --run RUN --out SPEC.json"
    return checked(read_json(path, SpecError, advice), shown(path))


def checked(values: dict, source: str) -> dict:
    """Return a resolved spec that has passed all checks again.

    Raises
    ------
    SpecError
        With the source, the key and what is allowed.
    """
    resolved = _RESOLVER.resolve(scenario_of(_as_scenario(values), source))
    resolved = json.loads(json.dumps(resolved))
    if found := _difference(values, resolved, ()):
        path, given = found
        raise SpecError(
            f"{source}: {dotted(path)}: {quoted(given)} is not what a resolved spec holds here."
            " Edit the scenario, and make the spec again."
        )
    return resolved


def _difference(given: Any, resolved: Any, path: KeyPath) -> tuple[KeyPath, Any] | None:
    """Return the first value that is not the resolved one, and where it stands."""
    if isinstance(given, dict) and isinstance(resolved, dict):
        missing = object()
        pairs = [(key, value, resolved.get(key, missing)) for key, value in given.items()]
    elif isinstance(given, list) and isinstance(resolved, list) and len(given) == len(resolved):
        pairs = [(index, *values) for index, values in enumerate(zip(given, resolved, strict=True))]
    else:
        return None if type(given) is type(resolved) and given == resolved else (path, given)
    found = (_difference(mine, its, (*path, key)) for key, mine, its in pairs)
    return next((one for one in found if one), None)


def _as_scenario(spec: dict) -> dict:
    """Return the scenario that resolves to a spec; what is no spec is left for the models."""
    model = schema.complete(typeids.load())
    found = as_written(model, {k: v for k, v in spec.items() if k not in _PLUGINS})
    for name, kind in _PLUGINS.items():
        if name in spec:
            given = spec[name]
            many = isinstance(given, list)
            parts = [_plugin(kind, part) for part in (given if many else [given])]
            if name == "jobs":
                parts = [{k: v for k, v in part.items() if k != "placed"}
                         if isinstance(part, dict) else part for part in parts]  # fmt: skip
            found[name] = parts if many else parts[0]
    names = [t.get("name") if isinstance(t, dict) else None for t in _listed(spec, "transport")]
    for load in _listed(found, "workload"):
        if isinstance(load, dict) and "transport" in load:
            load["transport"] = _named(load["transport"], names)
    return found


def _listed(spec: dict, key: str) -> list:
    return spec[key] if isinstance(spec.get(key), list) else []


def _named(index: object, names: list) -> object:
    known = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(names)
    return names[index] if known else f"number {index}"


def _plugin(kind: str, part: object) -> object:
    """Return the section of a plug-in as a scenario has it."""
    if not isinstance(part, dict):
        return part
    try:
        model = plugins.load(f"pyorch.{kind}", part.get("type")).Params
    except PluginError:
        return part  # its name is refused when it is resolved
    own = {key: value for key, value in part.items() if key in model.model_fields}
    return {**{k: v for k, v in part.items() if k not in own}, **as_written(model, own)}


def as_written(model: type[BaseModel], values: dict) -> dict:
    """Return a resolved section with its keys and units as in YAML."""
    found = {}
    for name, value in values.items():
        field = model.model_fields.get(name)
        if field is None:
            found[name] = value
            continue
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get("derived"):
            continue
        if value is None and type(None) in typing.get_args(field.annotation):
            if field.default is not None or _may_be_none(field.annotation):
                found[field.alias or name] = "none"
            continue
        inner = section_in(field.annotation)
        dimension = next((BY_SUFFIX[s] for s in BY_SUFFIX if name.endswith(s)), None)
        found[field.alias or name] = _value(value, inner, dimension)
    return found


def _may_be_none(annotation: object) -> bool:
    """Return whether ``none`` can be written, which is not the same as to write nothing."""
    return any(typing.get_args(part) == ("none",) for part in typing.get_args(annotation))


def _value(value: object, inner: type[BaseModel] | None, dimension: Dimension | None) -> object:
    if isinstance(value, list):
        return [_value(part, inner, dimension) for part in value]
    if inner is Topology:
        return _plugin("topology", value)
    if isinstance(value, dict) and inner is not None:
        return as_written(inner, value)
    if isinstance(value, int) and not isinstance(value, bool) and dimension is not None:
        return f"{value} {dimension.unit}"
    return value
