# SPDX-License-Identifier: GPL-2.0-only
"""Takes resolved specs, returns their parameters by key path, and which of them differ."""

import re
from collections.abc import Iterable, Mapping, Sequence

from pyorch.units import format_si

#: Sections that a scenario may write as a list, or as one mapping.
_LISTS = ("workload", "transport", "failures")
#: Suffix of a name to its unit and how many of ours make one.
_UNITS = {"_ps": ("s", 1e-12), "_bps": ("bit/s", 1), "_bytes": ("B", 1)}


def flat(plain: object, path: str = "") -> dict[str, object]:
    """Return plain values with one entry for each key path; empty sections have none."""
    if isinstance(plain, Mapping):
        parts: Iterable[tuple[object, object]] = plain.items()
    elif isinstance(plain, list):
        parts = enumerate(plain)
    else:
        return {path: plain}
    found: dict[str, object] = {}
    for key, value in parts:
        found |= flat(value, f"{path}.{key}" if path else str(key))
    return found


def differing(many: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the key paths whose values are not the same in all of these, sorted.

    A section that some have and others have not, ``link.flow_control: none``, is not among them:
    the paths below it are.
    """
    many = list(many)
    known = {key for one in many for key in one}
    keys = sorted(known - _sections(known))
    missing = object()
    return [key for key in keys if len({repr(one.get(key, missing)) for one in many}) > 1]


def _sections(keys: Iterable[str]) -> set[str]:
    """Return every path above one of these."""
    words = [key.split(".") for key in keys]
    return {".".join(path[:n]) for path in words for n in range(1, len(path))}


def shown(key: str, value: object) -> str:
    """Return a value of a spec as a person writes it: ``800 Gbit/s`` for ``link.rate_bps``."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        for suffix, (unit, factor) in _UNITS.items():
            if key.endswith(suffix):
                return format_si(value * factor if factor != 1 else value, unit)
        if key.endswith("Bytes"):
            return format_si(value, "B")
    return str(value)


def without_unit(key: str) -> str:
    """Return a key path without its unit: ``link.rate`` for ``link.rate_bps``."""
    for suffix in _UNITS:
        key = key.removesuffix(suffix)
    return key


def short(key: str) -> str:
    """Return a key path as a user wrote it: without unit, and without the 0 of a single one."""
    key = without_unit(key)
    for section in _LISTS:
        key = key.replace(f"{section}.0.", f"{section}.")
    return key


def column_names(many: Iterable[Mapping[str, object]], keys: Iterable[str]) -> dict[str, str]:
    """Return the name of the column of each key path, as a sweep names it but with its unit.

    ``workload.0.senders`` is ``workload.senders`` unless one of these has several workloads.
    """
    several = {key.split(".")[0] for one in many for key in one if key.split(".")[1:2] == ["1"]}
    single = [section for section in _LISTS if section not in several]
    found = {}
    for key in keys:
        section, _, rest = key.partition(".0.")
        found[key] = f"{section}.{rest}" if rest and section in single else key
    return found


def distinguishing(many: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the key paths that a reader needs to tell these apart, sorted.

    An attribute that is the same wherever its type is the same says no more than the type.
    """
    many = list(many)
    keys = differing(many)
    found = []
    for key in keys:
        owner = key.partition(".attributes.")[0] + ".type"
        if owner != key and owner in keys:
            pairs = {(repr(one.get(owner)), repr(one.get(key))) for one in many}
            if len(pairs) == len({type_ for type_, _ in pairs}):
                continue
        if any(one.get(key) is not None for one in many):
            found.append(key)
    return found


def order(many: Sequence[Mapping[str, object]]) -> list[int]:
    """Return the places of these in the order of what tells them apart, the seed last.

    Numbers are ordered by their size, also those within a text.
    """
    keys = sorted(distinguishing(many), key="seed".__eq__)
    return sorted(range(len(many)), key=lambda i: [_rank(many[i].get(key)) for key in keys])


def _rank(value: object) -> tuple:
    """Return what a value is ordered by: nothing, numbers, texts."""
    if value is None:
        return (0,)
    if isinstance(value, int | float):
        return (1, value)
    parts = re.split(r"(\d+)", str(value))
    return (2, [(int(part), "") if part.isdecimal() else (-1, part) for part in parts])


def headings(keys: Iterable[str]) -> list[str]:
    """Return the last words of each key path, as many as it takes to tell it from the others."""
    paths = [[word for word in short(key).split(".") if word != "attributes"] for key in keys]
    found = []
    for path in paths:
        n_words = 2 if path[-1] == "type" or path[-1].isdecimal() else 1
        while n_words < len(path) and sum(p[-n_words:] == path[-n_words:] for p in paths) > 1:
            n_words += 1
        found.append(" ".join(path[-n_words:]))
    return found
