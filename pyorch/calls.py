# SPDX-License-Identifier: GPL-2.0-only
"""Says in one line which argument of a public function cannot be used: its annotations tell."""

import functools
import inspect
import numbers
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from pyorch.errors import OutputError, SpecError, quoted

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
#: What an annotation allows, and its words.
_KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    Path: ((str, os.PathLike), "a path"),
    str: (str, "text"),
    int: (numbers.Integral, "a whole number"),
    float: (numbers.Real, "a number"),
    bool: (bool, "True or False"),
    Mapping: (Mapping, "a mapping"),
    dict: (dict, "a dict"),
    list: (list, "a list"),
    Sequence: ((list, tuple), "a list"),
    Iterable: (Iterable, "a list"),
    Callable: (Callable, "a function"),  # type: ignore[dict-item]  # isinstance knows it
    types.NoneType: (types.NoneType, "None"),
}


def checked(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function that refuses arguments of other types than its annotations name.

    A file that the system refuses is one line too.
    """
    signature = inspect.signature(function)
    own = "." in function.__qualname__ and "<locals>" not in function.__qualname__
    shown = f"{'' if own else 'pyorch.'}{function.__qualname__}"

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise SpecError(f"{shown}: {error}.") from None
        for name, value in given.items():
            parameter = signature.parameters[name]
            parts = list(_parts(parameter, function))
            if parts and (problem := _problem(value, parts, parameter.default)):
                words = " or ".join(dict.fromkeys(_words(parts)))
                raise SpecError(f"{shown}: {name}: {quoted(value)} {problem}. Give {words}.")
        try:
            return function(*args, **kwargs)
        except OSError as error:
            if error.filename is None:
                raise
            raise OutputError(f"{error.filename}: {error.strerror}. Name another one.") from None

    return call


def _parts(parameter: inspect.Parameter, function: Callable) -> Iterable[Any]:
    """Yield what a parameter may be: types, and names of classes that only a type checker loads."""
    annotation = parameter.annotation
    if annotation is parameter.empty or parameter.kind in (
        parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD
    ):  # fmt: skip
        return
    if isinstance(annotation, str):
        for name in annotation.split(" | "):
            name = name.partition("[")[0]
            known: Any = name.rpartition(".")[2]
            with suppress(NameError):
                known = eval(name, function.__globals__)
            yield from _members(known)
    else:
        yield from _members(annotation)


def _members(annotation: Any) -> list[Any]:
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    parts = typing.get_args(annotation) if is_union else (annotation,)
    return [types.NoneType if part is None else part for part in parts]


def _words(parts: list[Any]) -> Iterable[str]:
    for part in parts:
        plain = typing.get_origin(part) or part
        if plain is str and Path in parts:
            continue
        yield _KINDS[plain][1] if plain in _KINDS else _one(getattr(plain, "__name__", plain))


def _one(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAEIO' else 'a'} {noun}"


def _problem(value: object, parts: list[Any], default: object) -> str:
    """Return why a value is none of these; nothing if it is one.

    Text that may be left out is not empty, or nobody would know what is meant.
    """
    if Any in parts or object in parts:
        return ""
    if not any(_is(value, part) for part in parts):
        return f"is {_one(type(value).__name__)}"
    if isinstance(value, str | os.PathLike):
        if value == "" and (Path in parts or default not in ("", inspect.Parameter.empty)):
            return "is empty"
        return "has a NUL in it" if "\0" in str(os.fspath(value)) else ""
    if isinstance(value, list | tuple) and Sequence[str] in parts:
        others = [one for one in value if not isinstance(one, str)]
        return f"has a part that is no text, {quoted(others[0])}" if others else ""
    if isinstance(value, Mapping):
        others = [key for key in value if not isinstance(key, str)]
        return f"has a key that is no text, {quoted(others[0])}" if others else ""
    return ""


def _is(value: object, part: Any) -> bool:
    """Whether a value is of a type, or its class is called so."""
    if isinstance(part, str):
        return any(kind.__name__ == part for kind in type(value).__mro__)
    plain = typing.get_origin(part) or part
    if isinstance(value, bool) and plain is not bool:
        return False
    return isinstance(value, _KINDS.get(plain, (plain, ""))[0])
