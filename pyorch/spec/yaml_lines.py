# SPDX-License-Identifier: GPL-2.0-only
"""Takes YAML text, leaves its plain values and the line on which each key stands."""

import yaml

from pyorch.errors import SpecError

#: Keys and indices from the top of the file to a value.
Path = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        Not YAML, or a key that stands twice: YAML would silently keep the last one.
    """
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        lines: dict[Path, int] = {}
        return (None if node is None else _value(loader, node, (), lines, source)), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        problem = error.problem or error.context
        raise SpecError(f"{where}: this is not YAML: {problem}. Check the line.") from None
    finally:
        loader.dispose()


def _value(loader, node, path: Path, lines: dict[Path, int], source: str) -> object:
    """Return the plain value of a node and note the lines below it."""
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(loader, child, (*path, index), lines, source)
            for index, child in enumerate(node.value)
        ]
    if not isinstance(node, yaml.MappingNode):
        return loader.construct_object(node, deep=True)
    _refuse_twins(node, path, source)
    loader.flatten_mapping(node)
    result = {}
    for key_node, child in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            key = str(key_node.value)
        lines[(*path, key)] = key_node.start_mark.line + 1
        result[key] = _value(loader, child, (*path, key), lines, source)
    return result


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
    """Return a path as a user writes it: ``link.rate``."""
    return ".".join(str(part) for part in path)
