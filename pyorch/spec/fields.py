# SPDX-License-Identifier: GPL-2.0-only
"""Field types that the schema and the parameters of plug-ins are made of.

A field that carries a unit is called by its unit inside (``rate_bps``) and by its plain name in
YAML (``rate``), so a resolved spec can only hold integers whose names say what they count.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)
from pydantic.fields import FieldInfo

from pyorch import units
from pyorch.errors import SpecError, quoted
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_NAME, LONGEST_PS, LONGEST_TEXT

Name = Annotated[str, Field(pattern=rf"^[a-z][a-z0-9_]{{0,{LONGEST_NAME - 1}}}$")]
Hosts = Annotated[int, Field(strict=True, ge=1, le=2**20)]
Count = Annotated[int, Field(strict=True, ge=1, le=2**20)]


class FieldError(SpecError):
    """One key of a section cannot be used; `field` is the key as the user writes it."""

    def __init__(self, field: str, message: str):
        super().__init__(message)
        self.field = field


def text_of(dimension: units.Dimension) -> Any:
    """Return the type of a text with a unit of this dimension, for the JSON Schema."""
    extra: Any = {"examples": [dimension.example], "errorMessage": units.advice_on(dimension)}
    return Annotated[str, Field(pattern=units.pattern(dimension), json_schema_extra=extra)]


def quantity(dimension: units.Dimension) -> BeforeValidator:
    """Return a validator that reads text with a unit of this dimension."""

    def read(value: object) -> int:
        try:
            return units.parse(value, dimension)
        except SpecError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(read, json_schema_input_type=text_of(dimension))


def one_of(names: Iterable[str]) -> Any:
    """Return the type of one of these names, for the JSON Schema."""
    return Annotated[str, WithJsonSchema({"enum": [*names]})]


def written_as(kind: Any) -> BeforeValidator:
    """Return what says how a scenario has a field that its model settles before it looks at it."""
    return BeforeValidator(lambda given: given, json_schema_input_type=kind)


#: Of a field that a scenario may leave out: its model finds it in other keys or sections.
FILLED: Any = {"filled": True}
#: Of a field that no scenario has: its model finds it in a file that the scenario names.
FOUND: Any = {"found": True}


def _decimal(value: object) -> object:
    """Return text that is a decimal number as the nearest float: YAML takes 1e-3 for text."""
    try:
        return units.parse_float(value) if isinstance(value, str) else value
    except ValueError:
        return value


_Written = float | Annotated[str, Field(pattern=units.NUMBER_PATTERN)]
#: A finite number; true and false are none.
Number = Annotated[
    float,
    BeforeValidator(_decimal, json_schema_input_type=_Written),
    Field(strict=True, allow_inf_nan=False),
]
Flag = Annotated[bool, Field(strict=True)]
Share = Annotated[Number, Field(ge=0, le=1)]
TimePs = Annotated[int, quantity(units.TIME), Field(le=LONGEST_PS)]
#: Propagation takes time on every cable: what is sent at an instant never arrives at the same one.
DelayPs = Annotated[TimePs, Field(ge=1)]
RateBps = Annotated[int, quantity(units.RATE), Field(ge=1)]
SizeBytes = Annotated[int, quantity(units.SIZE)]
MessageBytes = Annotated[int, quantity(units.SIZE), Field(ge=1, le=LARGEST_MESSAGE_BYTES)]


def check_text(value: object) -> None:
    """Raise ValueError for text that would not survive the way into C++, or a number that is none.

    Longer texts than this have ended the simulating process.
    """
    if isinstance(value, str) and (len(value) > LONGEST_TEXT or not value.isprintable()):
        raise ValueError(
            f"{quoted(value)} is not one line of at most {LONGEST_TEXT} characters. Shorten it."
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no number. Write a finite one.")


def is_written(field: FieldInfo) -> bool:
    """Return whether a scenario may have a field: others are derived from what it has."""
    return not (_says(field, "derived") or _says(field, "found"))


def is_needed(field: FieldInfo) -> bool:
    """Return whether a scenario must have a field."""
    return field.is_required() and not _says(field, "filled")


def _says(field: FieldInfo, word: str) -> bool:
    return isinstance(field.json_schema_extra, dict) and bool(field.json_schema_extra.get(word))


class Closed(BaseModel):
    """A section of the scenario: a key it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Grown(Closed):
    """A section that leaves its `LATER` fields out of a spec where they are the default.

    So a field that is new changes no name of a run that does not use it.
    """

    LATER: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_later(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            key: value for key, value in whole(self).items()
            if key not in self.LATER or getattr(self, key) != fields[key].default
        }  # fmt: skip


class Plugin(BaseModel):
    """A topology or workload: `type` names the file, its own model checks the other keys."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str

    if TYPE_CHECKING:  # the other keys are those of its own model

        def __getattr__(self, name: str) -> Any: ...


class WrittenTopology(Plugin):
    """A topology inside of another one, whose model checks and settles it."""

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> dict[str, str]:
        return {"plugin": "topology"}
