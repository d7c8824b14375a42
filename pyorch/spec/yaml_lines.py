# SPDX-License-Identifier: GPL-2.0-only
"""Takes YAML text, leaves its plain values and the line on which each key stands."""

import yaml

from pyorch.errors import SpecError, quoted

#: Keys and indices from the top of the file to a value.
Path = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: Far beyond any scenario; a few lines with aliases can mean more than any memory holds.
_DEEPEST, _MOST_VALUES = 40, 100_000
_WIDEST = 2**64
_PLAIN = ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")


def parse(text: str, source: str) -> tuple[object, dict[Path, int]]:
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
        _refuse_depth(text, source)
        loader = _LOADER(text)
        try:
            node = loader.get_single_node()
            lines: dict[Path, int] = {}
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


def _refuse_depth(text: str, source: str) -> None:
    """Raise where the nesting is so deep that a parser has no stack for it."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST:
            raise _too_deep(source, event.start_mark.line + 1)


def _too_deep(source: str, line: int) -> SpecError:
    return SpecError(
        f"{source}:{line}: nested more than {_DEEPEST} deep, or more than {_MOST_VALUES} values"
        " with all aliases written out. Write less."
    )


def _value(loader, node, path: Path, lines: dict[Path, int], source: str) -> object:
    """Return the plain value of a node and note the lines below it."""
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    if len(path) > _DEEPEST or len(lines) > _MOST_VALUES:
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
    if len(node.value) > _MOST_VALUES:
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


def _scalar(loader, node, path: Path, source: str) -> object:
    """Return a plain value that is no mapping and no list."""
    where = f"{source}:{node.start_mark.line + 1}: {dotted(path)}"
    try:
        value = loader.construct_object(node, deep=True)
    except (ValueError, KeyError, IndexError, OverflowError):
        kind = node.tag.rpartition(":")[2]
        raise SpecError(f"{where}: {quoted(node.value)} is no {kind}. Quote it.") from None
    if isinstance(value, int) and abs(value) >= _WIDEST:
        raise SpecError(f"{where}: {quoted(node.value)} does not fit 64 bits.")
    return value


def _refuse_twins(node, path: Path, source: str) -> None:
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


def dotted(path: Path) -> str:
    """Return a path as a user writes it: ``link.rate``; on one line, and long keys are cut."""
    return ".".join(quoted(str(part))[1:-1] for part in path)
