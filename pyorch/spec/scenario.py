# SPDX-License-Identifier: GPL-2.0-only
"""Takes a scenario file, leaves its plain values, with the place each of them was written at."""

from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath

from pyorch.errors import SpecError, did_you_mean, quoted
from pyorch.spec import overrides, yaml_lines
from pyorch.spec.yaml_lines import Path, dotted

SCALES = ("smoke", "laptop", "paper")
DEFAULT_SCALE = "laptop"


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
    lines: dict[Path, int] = field(repr=False)
    origins: tuple[tuple[Path, str], ...] = ()
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
            values = overrides.replaced(self.values, path, self._shaped(path, value))
        except SpecError as error:
            raise SpecError(f"{where}: {error}") from None
        return replace(self, values=values, origins=(*self.origins, (path, where)))

    def _inner(self, path: Path) -> Path:
        """Return the path inside our values: a single mapping is element 0 of its list."""
        if path[0] in self.listed and len(path) > 1 and not isinstance(path[1], int):
            return (path[0], 0, *path[1:])
        return path

    def _shaped(self, path: Path, value: object) -> object:
        return shaped(path[0], value) if len(path) == 1 else none_is_none(path, value)

    def error(self, path: Path, message: str) -> SpecError:
        """Return the error of a value: where it was written, its path, and what is wrong."""
        as_written = self._as_written(path)
        shown = dotted(as_written)
        for target, where in reversed(self.origins):
            if path[: len(target)] == target or target[: len(path)] == path:
                return SpecError(f"{where}: {shown}: {message}")
        written = overrides.split(".".join(map(str, as_written))) if as_written else ()
        while written and written not in self.lines:
            written = written[:-1]
        line = f":{self.lines[written]}" if written in self.lines and written else ""
        return SpecError(f"{self.source}{line}: {shown}: {message}")

    def _as_written(self, path: Path) -> Path:
        """Return the key path as the user wrote it."""
        if len(path) > 1 and path[0] in self.listed and path[1] == 0:
            return (path[0], *path[2:])
        return path

    def at_scale(self, scale: str) -> "ScenarioFile":
        """Return the scenario with the overrides of one scale; without ``scales`` it is itself.

        A list of names for ``variants`` leaves only these, in the order of the file.
        """
        if scale not in SCALES:
            raise SpecError(
                f"scale '{scale}': there are {', '.join(SCALES)}.{did_you_mean(scale, SCALES)}"
            )
        chosen = self._section("scales", SCALES).get(scale) or {}
        if not isinstance(chosen, dict):
            raise self.error(("scales", scale), "write key paths and values below it, or {}.")
        result = self
        for key, value in chosen.items():
            if key == "variants" and isinstance(value, list):
                value = self._chosen_variants(value, ("scales", scale, key))
            result = result.with_value(key, value, self.place(("scales", scale, key)))
        return result

    def _chosen_variants(self, names: list, path: Path) -> dict[str, dict]:
        """Return those of the variants that have these names."""
        found = self.variants()
        for name in names:
            if not isinstance(name, str) or name not in found:
                known = ", ".join(found)
                hint = did_you_mean(str(name), found)
                raise self.error(path, f"no variant {quoted(name)}. There are {known}.{hint}")
        return {name: content for name, content in found.items() if name in names}

    def variants(self) -> dict[str, dict]:
        """Return the named joint overrides; without any, one that has no name and no overrides."""
        found = self._section("variants", None)
        for name, content in found.items():
            if not isinstance(content, dict):
                raise self.error(
                    ("variants", name), "write label and key paths with values below it."
                )
        return found or {"": {}}

    def sweep(self) -> dict[str, list]:
        """Return the swept key paths, each with its list of values."""
        found = self._section("sweep", None)
        for key, values in found.items():
            if not isinstance(values, list) or not values:
                raise self.error(("sweep", key), "write a list of at least one value: [1, 2, 3].")
        return found

    def place(self, path: Path) -> str:
        """Return where something of the file stands: ``x.yaml:12: scales.smoke``."""
        line = f":{self.lines[path]}" if path in self.lines else ""
        return f"{self.source}{line}: {dotted(path[:2])}"

    def _section(self, name: str, allowed: tuple[str, ...] | None) -> dict:
        content = self.values.get(name) or {}
        if not isinstance(content, dict):
            raise self.error((name,), "write a mapping of keys to values.")
        for key in content:
            if allowed and key not in allowed:
                hint = did_you_mean(key, allowed)
                raise self.error((name, key), f"there is {', '.join(allowed)} here.{hint}")
        return content


def shaped(key: str | int, value: object) -> object:
    """Return a top-level value in its one shape: lists where several are allowed."""
    if key in ("workload", "transport") and isinstance(value, dict):
        return [value]
    if key == "switch" and isinstance(value, dict) and value.get("flow_control") == "none":
        return {**value, "flow_control": None}
    return value


def none_is_none(path: Path, value: object) -> object:
    """Return None for ``flow_control: none``; YAML has ``null`` for it, people write none."""
    return None if path[-1] == "flow_control" and value == "none" else value


def scenario_files(folder: FilePath | str = "scenarios") -> list[FilePath]:
    """Return all scenario files of a folder, sorted."""
    return sorted(FilePath(folder).glob("*.yaml"))


def read_scenario(path: FilePath | str) -> ScenarioFile:
    """Return a scenario file as plain values.

    Raises
    ------
    SpecError
        It does not exist, is not YAML, or is not a mapping.
    """
    path = FilePath(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SpecError(f"{path}: is not a text file in UTF-8. Name a scenario.") from None
    except OSError as error:
        beside = sorted(p.name for p in path.parent.glob("*.yaml")) if path.parent.is_dir() else []
        known = f" In {path.parent}: {', '.join(beside)}." if beside else ""
        hint = did_you_mean(path.name, beside)
        raise SpecError(f"{path}: cannot be read ({error.strerror}).{known}{hint}") from None
    return parse_scenario(text, str(path))


def parse_scenario(text: str, source: str) -> ScenarioFile:
    """Return a scenario from its text; `source` is the file name for messages."""
    values, lines = yaml_lines.parse(text, source)
    if not isinstance(values, dict):
        raise SpecError(f"{source}: a scenario is a mapping of keys to values; begin with name:.")
    return scenario_of(values, source, lines)


def scenario_of(
    values: dict, source: str = "scenario", lines: dict[Path, int] | None = None
) -> ScenarioFile:
    """Return a scenario from plain values as YAML would give them."""
    single = {key for key in ("workload", "transport") if isinstance(values.get(key), dict)}
    shapely = {key: shaped(key, value) for key, value in values.items()}
    return ScenarioFile(source, shapely, lines or {}, listed=frozenset(single))
