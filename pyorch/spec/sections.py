# SPDX-License-Identifier: GPL-2.0-only
"""Takes the attributes of a section's TypeId, returns the fields of its model.

An option is declared once, by the C++ module that reads it: ``BufferBytes`` is ``buffer_bytes`` in
a resolved spec, and ``buffer``, a text with a unit, in a scenario.
"""

import re
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.fields import FieldInfo

from pyorch.spec import typeids
from pyorch.spec.fields import Flag, Number, TimePs, quantity
from pyorch.units import BY_SUFFIX, LARGEST, TIME, Dimension


def fields(attributes: list[dict], *, of_class: bool = False) -> dict[str, tuple[Any, FieldInfo]]:
    """Return the fields that attributes make, by their keys in a resolved spec.

    Parameters
    ----------
    attributes : list of dict
        As `TypeIds.attributes` has them.
    of_class : bool
        The section is one of several that differ from another one: what it does not say is None,
        and to have none of it is ``none``.
    """
    made = {}
    for attribute in attributes:
        key, alias = key_of(attribute["name"]), written(attribute["name"])
        kind, may_be_none = _kind(attribute), typeids.may_be_none(attribute)
        default: Any = typeids.default_of(attribute)
        default = ... if attribute.get("required") else None if default == "none" else default
        if of_class:
            default = None
            kind = kind | Literal["none"] | None if may_be_none else kind | None
        elif may_be_none:
            kind = Annotated[
                kind | None,
                BeforeValidator(
                    partial(_read_none, attribute),
                    json_schema_input_type=kind | Literal["none"] | None,
                ),
            ]
        made[key] = (kind, Field(default, alias=alias, description=attribute["help"]))
    return made


def key_of(name: str) -> str:
    """Return the key of an attribute in a resolved spec: ``buffer_bytes`` for BufferBytes."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def written(name: str) -> str:
    """Return the key of an attribute in a scenario: ``buffer`` for BufferBytes."""
    key = key_of(name)
    return key.removesuffix(_suffix(key))


def allowed(attribute: dict) -> str:
    """Return what may be written, in words: ``a size from 1 B, or none``."""
    if typeids.kind_of(attribute) == "Boolean":
        return "true, false"
    dimension = dimension_of(key_of(attribute["name"]))
    low, high = typeids.range_of(attribute)
    unit = f" {dimension.unit}" if dimension else ""
    found = f"a {dimension.name}" if dimension else "a number"
    found += f" from {low}{unit}" if low > 0 or not dimension else ""
    found += f" to {high}{unit}" if high < LARGEST else ""
    return f"{found}, or none" if typeids.may_be_none(attribute) else found


def dimension_of(key: str) -> Dimension | None:
    """Return what a key in a resolved spec measures, None for a plain number."""
    return BY_SUFFIX.get(_suffix(key))


def _suffix(key: str) -> str:
    return next((suffix for suffix in BY_SUFFIX if key.endswith(suffix)), "")


def _kind(attribute: dict) -> Any:
    """Return the type of a value, which refuses what is out of range."""
    if typeids.kind_of(attribute) == "Boolean":
        return Flag
    dimension = dimension_of(key_of(attribute["name"]))
    low, high = typeids.range_of(attribute)
    if typeids.kind_of(attribute) in ("Uinteger", "OptionalUinteger"):
        read = Field(strict=True) if dimension is None else quantity(dimension)
        whole = TimePs if dimension == TIME else Annotated[int, read]
        return Annotated[whole, Field(ge=low, le=high)]
    if typeids.kind_of(attribute) == "Double":
        return Annotated[Number, Field(ge=low, le=high)]
    return Annotated[Any, AfterValidator(partial(typeids.check_value, attribute))]


def _reader_of_none(attribute: dict, kind: Any) -> BeforeValidator:
    """Return a validator that takes ``none`` beside the values of a kind."""
    read = partial(_read_none, attribute)
    return BeforeValidator(read, json_schema_input_type=kind | Literal["none"] | None)


def _read_none(attribute: dict, given: object) -> object:
    """Return None for ``none``, and for no value where none is the default."""
    if given is None and (attribute.get("required") or attribute["default"] != "none"):
        dimension = dimension_of(key_of(attribute["name"]))
        wanted = f"a {dimension.name}, for example {dimension.example}" if dimension else "a number"
        raise ValueError(f"write {wanted}, or none. {attribute['help']}.")
    return None if given == "none" else given
