# SPDX-License-Identifier: GPL-2.0-only
"""What there is: plug-ins with their first line, and folders that nothing names any more."""

import ast
from importlib.util import find_spec
from pathlib import Path

from pyorch import plugins
from pyorch import spec as specs
from pyorch.spec import typeids

_PACKAGES = {
    "topologies": "pyorch.topology",
    "workloads": "pyorch.workload",
    "metrics": "pyorch.metrics",
    "exports": "pyorch.export",
}


def rows(kind: str) -> list[tuple[str, str]]:
    """Return the names of one kind with the first line of what they say of themselves."""
    if kind == "transports":
        types = typeids.load()
        return [(name, types.help(name)) for name in types.choices("transport")]
    if kind == "scenarios":
        return [(str(path), question(path)) for path in specs.scenario_files()]
    package = _PACKAGES[kind]
    return [
        (name, first_line(find_spec(f"{package}.{name}").origin)) for name in plugins.names(package)
    ]


def first_line(path: str) -> str:
    """Return the first line of a module's docstring, without importing it."""
    return (ast.get_docstring(ast.parse(Path(path).read_text())) or "").partition("\n")[0]


def question(path: Path) -> str:
    """Return the first sentence after ``Question:`` in the header of a scenario."""
    lines = []
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    text = " ".join(lines).partition("Question:")[2].partition("Source:")[0]
    return " ".join(text.split())


def stale(results: Path, scenarios: Path | str = "scenarios") -> list[Path]:
    """Return folders of runs that no scenario names at any scale."""
    named = set()
    for path in specs.scenario_files(scenarios):
        file = specs.read_scenario(path)
        for scale in specs.SCALES:
            named |= {run.folder for run in specs.plan(file, scale)}
    found = [p for p in results.glob("*/s*-*") if (p / "spec.json").exists()]
    return sorted(path for path in found if f"{path.parent.name}/{path.name}" not in named)
