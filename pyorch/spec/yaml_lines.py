# SPDX-License-Identifier: GPL-2.0-only
"""Reads YAML text: its plain values and the line on which each key stands."""

import re
from typing import Any, ClassVar

import yaml

from pyorch.errors import SpecError, quoted
from pyorch.spec.limits import DEEPEST, MOST_VALUES

#: Keys and indices from the top of the file to a value.
KeyPath = tuple[str | int, ...]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # either
    """YAML with the words of version 1.2: 010 is ten, 1:30 and no are text, 1e-3 is a number."""

    yaml_implicit_resolvers: ClassVar = {}

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """Return a whole number: decimal, 0o17 or 0xff."""
        text = self.construct_scalar(node)
        if not _INTEGER.fullmatch(text):
            raise ValueError(text)
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        """Return a number, an infinity or no number at all."""
        text = self.construct_scalar(node)
        if not _FLOAT.fullmatch(text):
            raise ValueError(text)
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
#: What plain words mean, the core schema of YAML 1.2, and the merge key.
_WORDS = {
    "null": (re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    "bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    "int": (_INTEGER, list("-+0123456789")),
    "float": (_FLOAT, list("-+.0123456789")),
    "merge": (re.compile("<<"), ["<"]),
}
for _name, (_pattern, _first) in _WORDS.items():
    _whole = re.compile(rf"(?:{_pattern.pattern})\Z")
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _whole, _first)
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)
_WIDEST = 2**64
_PLAIN = ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


def parse(text: str, source: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the value of a YAML document and the line of every path in it.

    Parameters
    ----------
    text : str
        One YAML document.
    source : str
        File name for messages.

    Raises
    ------
    SpecError
        Not YAML; a key that stands twice: YAML would silently keep the last one; or nested too
        deep, or too much.
    """
    try:
        _refuse_too_much(text, source)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            lines: dict[KeyPath, int] = {}
            return (None if node is None else _value(loader, node, (), lines, source)), lines
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = error.problem or error.context
        raise SpecError(f"{where}: this is not YAML: {problem}. Check the line.") from None
    except yaml.reader.ReaderError as error:
        raise SpecError(
            f"{source}: this is not YAML: character {error.character:#06x} at position"
            f" {error.position}. Take it out."
        ) from None


def _refuse_too_much(text: str, source: str) -> None:
    """Raise where it is so deep that a parser has no stack for it, or more than may be kept."""
    depth = n_nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            depth += isinstance(event, yaml.CollectionStartEvent)
            n_nodes += 1
        if depth > DEEPEST or n_nodes > 2 * MOST_VALUES + 1:  # each value with its key
            raise _too_deep(source, event.start_mark.line + 1)


def _too_deep(source: str, line: int) -> SpecError:
    return SpecError(
        f"{source}:{line}: nested more than {DEEPEST} deep, or more than {MOST_VALUES} values"
        " with all aliases written out. Write less."
    )


def _value(loader, node, path: KeyPath, lines: dict[KeyPath, int], source: str) -> object:
    """Return the plain value of a node and note the lines below it."""
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if len(path) > DEEPEST or len(lines) > MOST_VALUES:
        raise _too_deep(source, line)
    if not isinstance(node, yaml.ScalarNode) and node.tag not in _PLAIN:
        raise SpecError(f"{source}:{line}: {dotted(path)}: {quoted(node.tag)} is no plain list or"
                        " mapping. Take the tag out.")  # fmt: skip
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(loader, child, (*path, index), lines, source)
            for index, child in enumerate(node.value)
        ]
    if not isinstance(node, yaml.MappingNode):
        return _scalar(loader, node, path, source)
    _refuse_twins(node, path, source)
    loader.flatten_mapping(node)
    if len(node.value) > MOST_VALUES:
        raise _too_deep(source, line)
    result = {}
    for key_node, child in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise SpecError(
                f"{source}:{key_node.start_mark.line + 1}: a key is a list or a mapping. Write a"
                " name."
            )
        key = _scalar(loader, key_node, path, source)
        if not isinstance(key, str):
            key = str(key_node.value)
        lines[(*path, key)] = key_node.start_mark.line + 1
        result[key] = _value(loader, child, (*path, key), lines, source)
    return result


def _scalar(loader, node, path: KeyPath, source: str) -> object:
    """Return a plain value that is no mapping and no list."""
    where = f"{source}:{node.start_mark.line + 1}: {dotted(path)}"
    try:
        value = loader.construct_object(node, deep=True)
    except (ValueError, KeyError, IndexError, OverflowError):
        kind = node.tag.rpartition(":")[2]
        raise SpecError(f"{where}: {quoted(node.value)} is no {kind}. Quote it.") from None
    if isinstance(value, int) and abs(value) >= _WIDEST:
        raise SpecError(
            f"{where}: {quoted(node.value)} does not fit 64 bits. Write a smaller number."
        )
    return value


def _refuse_twins(node, path: KeyPath, source: str) -> None:
    """Raise if one mapping has a key twice."""
    seen: dict[str, int] = {}
    for key_node, _ in node.value:
        key, line = str(key_node.value), key_node.start_mark.line + 1
        if key in seen and key != "<<":
            raise SpecError(
                f"{source}:{line}: {dotted((*path, key))} stands twice,"
                f" first in line {seen[key]}. Keep one of them."
            )
        seen[key] = line


def dotted(path: KeyPath) -> str:
    """Return a path as a user writes it: ``link.rate``; on one line, and long keys are cut."""
    return ".".join(quoted(str(part))[1:-1] for part in path)
