# SPDX-License-Identifier: GPL-2.0-only
"""Changes copies of plain values at key paths, for scales, variants and --set."""

import re
from typing import Any

from pyorch.errors import SpecError, quoted
from pyorch.spec.yaml_lines import KeyPath, dotted, parse

_INDEX = re.compile("[0-9]{1,9}")
#: Sections whose keys are themselves key paths, so that no dot below them separates.
_PATH_KEYED = ("sweep",)


def split(key: str) -> KeyPath:
    """Return the parts of a key path; digits are list indices: ``workload.0.message``."""
    parts = key.split(".")
    if parts[0] in _PATH_KEYED and len(parts) > 1:
        parts = [parts[0], ".".join(parts[1:])]
    return tuple(int(part) if _INDEX.fullmatch(part) else part for part in parts)


def replaced(tree: Any, path: KeyPath, value: object, done: KeyPath = ()) -> Any:
    """Return `tree` with the value at `path` replaced; what is not on the path is shared.

    Raises
    ------
    SpecError
        The path leads through a value that has no keys, or through an index past the end.
    """
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(tree, list):
        if not isinstance(head, int) or head >= len(tree):
            raise SpecError(
                f"{dotted((*done, head))}: {dotted(done)} is a list of {len(tree)};"
                f" name an element, 0 to {len(tree) - 1}."
            )
        changed = list(tree)
        changed[head] = replaced(tree[head], rest, value, (*done, head))
        return changed
    if tree is not None and not isinstance(tree, dict):
        raise SpecError(
            f"{dotted((*done, head))}: {dotted(done)} is {quoted(tree)}, which has no keys."
            f" Set {dotted(done)} itself."
        )
    tree = tree or {}
    key = str(head)
    return {**tree, key: replaced(tree.get(key), rest, value, (*done, key))}


def parse_assignment(text: str, option: str = "--set") -> tuple[str, object]:
    """Return key path and value of ``key.path=value``; the value is read as YAML.

    Raises
    ------
    SpecError
        There is no ``=``, or the value is not YAML.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SpecError(
            f"{option} {quoted(text)[1:-1]}: write key.path=value,"
            " for example link.rate='400 Gb/s'."
        )
    try:
        return key.strip(), parse(value, option)[0]
    except SpecError:
        key = quoted(key)[1:-1]
        raise SpecError(f"{option} {key}: {quoted(value)} is not a YAML value. Quote it.") from None
