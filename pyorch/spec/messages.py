# SPDX-License-Identifier: GPL-2.0-only
"""Turns an error of pydantic into one sentence: what, what was allowed, what to do."""

import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.limits import LONGEST_NAME
from pyorch.spec.yaml_lines import KeyPath, dotted
from pyorch.units import BY_SUFFIX, format_exact

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "string_unicode": "text",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
#: What pydantic calls the kinds of a value that may be of several.
_SCALARS = ("bool", "int", "float", "str")
_LIMITS = {
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
}


def first(error: ValidationError, model: type[BaseModel]) -> tuple[KeyPath, str]:
    """Return the path and the sentence of the first thing that is wrong.

    A misspelt key comes before the missing one that it stands for; missing ones come together.
    """
    details: list[Any] = error.errors(include_url=False)
    detail = min(details, key=lambda found: found["type"] != "extra_forbidden")
    path = _path(detail)
    missing = [dotted(_path(found)) for found in details if found["type"] == "missing"]
    if detail["type"] == "missing" and len(missing) > 1:
        others = " and ".join(filter(None, (", ".join(missing[1:-1]), missing[-1])))
        are = "are" if len(missing) > 2 else "is"
        return path, f"this key is missing, and so {are} {others}. Add them."
    if path[-1:] and path[-1] in _SCALARS:  # one complaint for each kind that there could be
        alike = [found for found in details if _path(found)[:-1] == path[:-1]]
        kinds = ", ".join(_KINDS[found["type"]] for found in alike if found["type"] in _KINDS)
        given = detail["input"]
        if isinstance(given, dict) and isinstance(given.get("type"), str):
            return path[:-1], (
                f"{show(given)} is no value of an attribute. Write a type as text:"
                f' "{quoted(given["type"])[1:-1]}[Name=value|Name=value]".'
            )
        return path[:-1], f"{show(given)} is none of: {kinds}. Write one of these."
    return path, _sentence(detail, path, model)


def _in_units(limits: dict, path: KeyPath, model: type[BaseModel]) -> dict:
    """Return the limits of a value in the unit of its field, which ends the name of that."""
    words = tuple(part for part in path if isinstance(part, str))
    fields = model_at(model, words[:-1]).model_fields.items()
    name = next((name for name, its in fields if words[-1:] and words[-1] in (name, its.alias)), "")
    unit = next((unit for suffix, unit in BY_SUFFIX.items() if name.endswith(suffix)), None)
    return {key: format_exact(limit, unit) for key, limit in limits.items()} if unit else limits


def _path(detail: dict) -> KeyPath:
    """Return the key path of a detail, without pydantic's names of what else could be there."""
    return tuple(
        part for part in detail["loc"]
        if part not in ("[key]", "Typed") and not str(part).startswith(("literal[", "function-"))
    )  # fmt: skip


def _sentence(detail: dict, path: KeyPath, model: type[BaseModel]) -> str:
    kind, context, given = detail["type"], detail.get("ctx", {}), detail.get("input")
    if kind == "extra_forbidden":
        known = keys(model_at(model, path[:-1]))
        meant = did_you_mean(path[-1], known) or _elsewhere(path[-1], model)
        return f"there is no such key. Known here: {', '.join(known)}.{meant}"
    if kind == "missing":
        return "this key is missing. Add it."
    if kind == "value_error":
        return str(context["error"])
    if kind in _LIMITS:
        limit = _LIMITS[kind].format(**_in_units(context, path, model))
        return f"{quoted(given)[1:-1]} is out of range; it must be {limit}."
    if kind in ("model_type", "model_attributes_type", "list_type"):
        known = keys(model_at(model, path))
        if isinstance(given, str) and "type" in known:
            word = quoted(given)[1:-1]
            return f"{show(given)} is no section. Write type: {word} and its parameters."
        if kind != "list_type":
            return f"{show(given)} is not {_KINDS[kind]}. Write some of these: {', '.join(known)}."
        if isinstance(given, dict):
            return f"{show(given)} is not a list. Write a list also of one: [{{...}}]."
    if kind in _KINDS:
        return f"{show(given)} is not {_KINDS[kind]}. Write {_KINDS[kind]}."
    if kind == "string_pattern_mismatch":
        return (
            f"{quoted(given)} is not a name here. Write at most {LONGEST_NAME} lower-case letters,"
            " digits and _, beginning with a letter."
        )
    if kind == "literal_error":
        return f"{show(given)} is not one of {context['expected']}. Write one of these."
    if kind == "too_short":
        return f"{show(given)}; it must have at least {context['min_length']}."
    return f"{show(given)}: {detail['msg']}."


def show(value: object) -> str:
    """Return a value as a message names it, with its kind."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"{str(value).lower()} (true/false)"
    if isinstance(value, str):
        return f"{quoted(value)} (text)"
    if isinstance(value, dict):
        return "a mapping of keys to values"
    return f"a list of {len(value)}" if isinstance(value, list) else quoted(value)[1:-1]


def _elsewhere(key: object, model: type[BaseModel]) -> str:
    """Return `` Did you mean x.key?`` for the first section x that has this key, or nothing."""
    sections = ((name, model_at(model, (name,))) for name in keys(model))
    meant = (f"{name}.{key}" for name, its in sections if its is not model and key in keys(its))
    return next((f" Did you mean {path}?" for path in meant), "")


def keys(model: type[BaseModel]) -> list[str]:
    """Return the keys a user may write in this section."""
    return [field.alias or name for name, field in model.model_fields.items()]


def model_at(model: type[BaseModel], path: KeyPath) -> type[BaseModel]:
    """Return the section that a path inside a scenario leads to, or ends in."""
    for part in path:
        if isinstance(part, int):
            continue
        for name, field in model.model_fields.items():
            if part in (name, field.alias):
                model = section_in(field.annotation) or model
    return model


def section_in(annotation: object) -> type[BaseModel] | None:
    """Return the model inside ``X``, ``X | None`` or ``list[X]``, if there is one."""
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, BaseModel) else None
    for inner in typing.get_args(annotation):
        if found := section_in(inner):
            return found
    return None
