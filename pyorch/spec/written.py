# SPDX-License-Identifier: GPL-2.0-only
"""Takes sections of a resolved spec, returns them as a scenario has them in YAML."""

import typing

from pydantic import BaseModel

from pyorch import plugins
from pyorch.errors import PluginError
from pyorch.spec.fields import WrittenTopology
from pyorch.spec.messages import section_in
from pyorch.units import BY_SUFFIX, Dimension


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
    if inner is WrittenTopology:
        return plugin_as_written("topology", value)
    if isinstance(value, dict) and inner is not None:
        return as_written(inner, value)
    if isinstance(value, int) and not isinstance(value, bool) and dimension is not None:
        return f"{value} {dimension.unit}"
    return value


def plugin_as_written(kind: str, part: object) -> object:
    """Return the section of a plug-in as a scenario has it."""
    if not isinstance(part, dict):
        return part
    try:
        model = plugins.load(f"pyorch.{kind}", part.get("type")).Params
    except PluginError:
        return part  # its name is refused when it is resolved
    own = {key: value for key, value in part.items() if key in model.model_fields}
    return {**{k: v for k, v in part.items() if k not in own}, **as_written(model, own)}
