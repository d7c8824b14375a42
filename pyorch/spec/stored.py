# SPDX-License-Identifier: GPL-2.0-only
"""Reads a resolved spec from disk and checks it as if it had just been written in YAML.

A ``spec.json`` is handed on and edited. So it is turned back into a scenario, resolved again by the
same models, and must come out as it stands. What is newer than it gets its default; attributes are
checked by the modules that register them, when they are loaded.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pyorch.errors import PyorchError, SpecError, quoted
from pyorch.reading import read_json, shown
from pyorch.spec import files, schema, typeids
from pyorch.spec.resolve import Resolver
from pyorch.spec.resolved import Spec
from pyorch.spec.scenario import scenario_of
from pyorch.spec.written import as_written, plugin_as_written
from pyorch.spec.yaml_lines import KeyPath, dotted

_RESOLVER = Resolver(None)
#: Sections whose keys belong to the plug-in that they name.
PLUGINS = {"topology": "topology", "workload": "workload", "failures": "failure",
            "jobs": "allocation"}  # fmt: skip


def read_spec(path: Path | str) -> Spec:
    """Return a resolved spec.

    Raises
    ------
    SpecError
        No such file, not JSON, or not what pyorch would have written.
    """
    advice = "Make it with: pyorch spec SCENARIO.yaml --run RUN --out SPEC.json"
    return checked(read_json(path, SpecError, advice), shown(path))


def read_recorded(path: Path | str) -> Spec:
    """Return the resolved spec that a run has left, as it stands.

    Files that the run was made of need not be there any more.

    Raises
    ------
    SpecError
        No such file, not JSON, or no resolved spec.
    """
    values = read_json(path, SpecError, "Make the run again.")
    try:
        return Spec.model_validate(values)
    except (ValidationError, PyorchError, KeyError, TypeError, AttributeError):
        return checked(values, shown(path))  # says where it is wrong


def checked(values: dict, source: str) -> Spec:
    """Return a resolved spec that has passed all checks again.

    Raises
    ------
    SpecError
        With the source, the key and what is allowed.
    """
    resolved = _RESOLVER.resolve(scenario_of(_as_scenario(values), source))
    if found := _difference(values, resolved.plain(), ()):
        path, given = found
        raise SpecError(
            f"{source}: {dotted(path)}: {quoted(given)} is not what a resolved spec holds here."
            " Edit the scenario, and make the spec again."
        )
    return resolved


def scenario_of_spec(spec: Spec) -> dict:
    """Return the scenario that resolves to a spec, as it would stand in YAML: to be changed.

    Raises
    ------
    SpecError
        A file that it names is gone, or holds something else than when the run was named.
    """
    return files.with_names(_as_scenario(spec.plain()))


def _difference(given: Any, resolved: Any, path: KeyPath) -> tuple[KeyPath, Any] | None:
    """Return the first value that is not the resolved one, and where it stands."""
    if isinstance(given, dict) and isinstance(resolved, dict):
        missing = object()
        pairs = [(key, value, resolved.get(key, missing)) for key, value in given.items()]
    elif isinstance(given, list) and isinstance(resolved, list) and len(given) == len(resolved):
        pairs = [(index, *values) for index, values in enumerate(zip(given, resolved, strict=True))]
    else:
        return None if type(given) is type(resolved) and given == resolved else (path, given)
    found = (_difference(mine, its, (*path, key)) for key, mine, its in pairs)
    return next((one for one in found if one), None)


def _as_scenario(spec: dict) -> dict:
    """Return the scenario that resolves to a spec; what is no spec is left for the models."""
    model = schema.complete(typeids.load())
    found = as_written(model, {k: v for k, v in spec.items() if k not in PLUGINS})
    for name, kind in PLUGINS.items():
        if name in spec:
            given = spec[name]
            many = isinstance(given, list)
            parts = [plugin_as_written(kind, part) for part in (given if many else [given])]
            if name == "jobs":
                parts = [{k: v for k, v in part.items() if k != "placed"}
                         if isinstance(part, dict) else part for part in parts]  # fmt: skip
            found[name] = parts if many else parts[0]
    names = [t.get("name") if isinstance(t, dict) else None for t in _listed(spec, "transport")]
    for load in _listed(found, "workload"):
        if isinstance(load, dict) and "transport" in load:
            by_reach = load["transport"]
            if isinstance(by_reach, dict):
                load["transport"] = {k: _named(index, names) for k, index in by_reach.items()}
            else:
                load["transport"] = _named(by_reach, names)
    return found


def _listed(spec: dict, key: str) -> list:
    return spec[key] if isinstance(spec.get(key), list) else []


def _named(index: Any, names: list) -> object:
    known = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(names)
    return names[index] if known else f"number {index}"
