# SPDX-License-Identifier: GPL-2.0-only
"""Reads a scenario file: its plain values, and the place where each was written."""

from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from pyorch import formats
from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.reading import read_bytes, shown
from pyorch.spec import messages, overrides, yaml_lines
from pyorch.spec.limits import LARGEST_TEXT_BYTES
from pyorch.spec.planning import PLANNING_KEYS, SCALES, Planning, no_such
from pyorch.spec.yaml_lines import KeyPath, dotted

DEFAULT_SCALE = "laptop"
#: Sections that are lists, and may be written as the mapping that a list of one holds.
ONE_OR_MORE = ("workload", "transport")
#: Sections that may be ``none``, and what the models have for that. In a class of links or switches
#: ``none`` is a value of its own, and nothing means: as elsewhere.
NONE: dict[KeyPath, object] = {
    ("link", "flow_control"): None, ("link", "loss_model"): None, ("link", "classes"): [],
    ("switch", "programs"): [], ("switch", "classes"): [],
    ("jobs",): None, ("failures",): [], ("trace",): {},
}  # fmt: skip


@dataclass(frozen=True)
class ScenarioFile:
    """Plain values with the origin of each override, so that a message can say where to look.

    Attributes
    ----------
    source : str
        File name as the user gave it.
    values : dict
        The content; overrides applied so far are in it.
    lines : dict
        Line of each path of the file as written.
    origins : tuple of (path, where)
        Overrides, oldest first: the path that was set and where that was asked for.
    listed : frozenset of str
        Sections written as a single mapping; they are lists of one from here on.
    """

    source: str
    values: dict
    lines: dict[KeyPath, int] = field(repr=False)
    origins: tuple[tuple[KeyPath, str], ...] = ()
    listed: frozenset[str] = frozenset()

    def with_value(self, key: str, value: object, where: str) -> "ScenarioFile":
        """Return a copy with the value at a key path replaced.

        Parameters
        ----------
        key : str
            Key path, ``transport.attributes.Gain``.
        value : object
            Plain value as YAML gives it.
        where : str
            Who asked for it: ``figure_5.yaml:12: scales.smoke`` or ``--set``.
        """
        path = self._inner(overrides.split(key))
        try:
            values = overrides.replaced(self.values, path, self._shaped(path, plain(value)))
        except SpecError as error:
            raise SpecError(f"{where}: {error}") from None
        return replace(self, values=values, origins=(*self.origins, (path, where)))

    def _inner(self, path: KeyPath) -> KeyPath:
        """Return the path inside our values: a single mapping is element 0 of its list."""
        if path[0] in self.listed and len(path) > 1 and not isinstance(path[1], int):
            return (path[0], 0, *path[1:])
        return path

    def _shaped(self, path: KeyPath, value: object) -> object:
        return normalised(path[0], value) if len(path) == 1 else none_is_none(path, value)

    def error(self, path: KeyPath, message: str) -> SpecError:
        """Return the error of a value: where it was written, its path, and what is wrong."""
        as_written = self._as_written(path)
        shown = dotted(as_written)
        for target, where in reversed(self.origins):
            if path[: len(target)] == target or target[: len(path)] == path:
                return SpecError(f"{where}: {shown}: {message}")
        written = overrides.split(".".join(map(str, as_written))) if as_written else ()
        if len(path) > 1 and written[:-1] not in self.lines:  # a change has made the section
            for target, where in reversed(self.origins):
                if target[: len(path) - 1] == path[:-1]:
                    return SpecError(f"{where}: {shown}: {message}")
        while written and written not in self.lines:
            written = written[:-1]
        line = f":{self.lines[written]}" if written in self.lines and written else ""
        return SpecError(f"{self.source}{line}: {shown}: {message}")

    def _as_written(self, path: KeyPath) -> KeyPath:
        """Return the key path as the user wrote it."""
        if len(path) > 1 and path[0] in self.listed and path[1] == 0:
            return (path[0], *path[2:])
        return path

    def at_scale(self, scale: str) -> "ScenarioFile":
        """Return the scenario with the overrides of one scale; without ``scales`` it is itself.

        A list of names for ``variants`` or ``cases`` leaves only these, in the order of the file.
        """
        check_scale(scale)
        result = self
        for key, value in self.planning().scales.get(scale, {}).items():
            if key in ("variants", "cases") and isinstance(value, list):
                value = self._chosen(key, value, ("scales", scale, key))
            result = result.with_value(key, value, self.place(("scales", scale, key)))
        return result

    def _chosen(self, section: str, names: list, path: KeyPath) -> dict[str, dict]:
        """Return those of the variants or cases that have these names."""
        found = getattr(self.planning(), section)
        for name in names:
            if not isinstance(name, str) or name not in found:
                raise self.error(path, no_such(section[:-1], name, found))
        return {name: content for name, content in found.items() if name in names}

    def planning(self) -> Planning:
        """Return the sections that say which runs there are.

        Raises
        ------
        SpecError
            One of them cannot be used; each is checked as a whole.
        """
        sections = {key: self.values[key] for key in PLANNING_KEYS if key in self.values}
        try:
            return Planning.model_validate(sections)
        except ValidationError as error:
            raise self.error(*messages.first(error, Planning)) from None

    def place(self, path: KeyPath) -> str:
        """Return where something of the file stands: ``x.yaml:12: scales.smoke``."""
        line = f":{self.lines[path]}" if path in self.lines else ""
        return f"{self.source}{line}: {dotted(path[:2])}"


def check_scale(scale: str) -> None:
    """Raise SpecError unless this is the name of a scale."""
    if scale not in SCALES:
        raise SpecError(
            f"scale {quoted(scale)}: there are {', '.join(SCALES)}.{did_you_mean(scale, SCALES)}"
        )


def normalised(key: str | int, value: object) -> object:
    """Return a top-level value in its one shape: lists where several are allowed."""
    if key in ONE_OR_MORE and isinstance(value, dict):
        return [value]
    if key in ("link", "switch") and isinstance(value, dict):
        return {name: none_is_none((key, name), part) for name, part in value.items()}
    if key == "engine" and isinstance(value, str):
        return {"type": value}
    return none_is_none((key,), value)


def none_is_none(path: KeyPath, value: object) -> object:
    """Return what ``flow_control: none`` says; YAML has ``null`` for it, people write none."""
    return copy(NONE[path]) if path in NONE and value == "none" else value


def scenario_files(folder: Path | str = "scenarios") -> list[Path]:
    """Return all scenario files of a folder, sorted."""
    return sorted(Path(folder).glob("*.yaml"))


def read_scenario(path: Path | str) -> ScenarioFile:
    """Return a scenario file as plain values.

    Raises
    ------
    SpecError
        It does not exist, is not YAML, or is not a mapping.
    """
    path = Path(path)
    beside = sorted(p.name for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
    known = f"In {path.parent}: {', '.join(beside[:20])}." if beside else ""
    advice = f"Name a scenario. {known}{did_you_mean(path.name, beside)}".strip()
    try:
        content = read_bytes(path, LARGEST_TEXT_BYTES, SpecError, advice)
        return parse_scenario(content.decode("utf-8-sig"), shown(path))
    except UnicodeDecodeError:
        raise SpecError(f"{shown(path)}: is not a text file in UTF-8. Name a scenario.") from None


def parse_scenario(text: str, source: str) -> ScenarioFile:
    """Return a scenario from its text; `source` is the file name for messages."""
    values, lines = yaml_lines.parse(text, source)
    if not isinstance(values, dict):
        raise SpecError(f"{source}: a scenario is a mapping of keys to values; begin with name:.")
    return scenario_of(values, source, lines)


def plain(value: Any) -> Any:
    """Return a value as YAML would give it: numbers and arrays of NumPy become Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def scenario_of(
    values: dict, source: str = "scenario", lines: dict[KeyPath, int] | None = None
) -> ScenarioFile:
    """Return a scenario from plain values as YAML would give them, in the current format."""
    try:
        values = formats.current(plain(values))
    except SpecError as error:
        line = (lines or {}).get((formats.KEY,))
        raise SpecError(f"{source}{f':{line}' if line else ''}: {error}") from None
    single = {key for key in ONE_OR_MORE if isinstance(values.get(key), dict)}
    normal = {key: normalised(key, value) for key, value in values.items()}
    return ScenarioFile(source, normal, lines or {}, listed=frozenset(single))
