# SPDX-License-Identifier: GPL-2.0-only
"""The rooms of the house and the only direction in which doors open."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pyorch"
ROOMS = ["errors", "units", "plugins", "reading", "writing", "jobs", "forks", "built", "draws",
         "spec", "topology", "theory", "collective", "training", "wan", "controller",
         "workload", "failure", "render", "export", "simulate", "traces", "metrics", "figures",
         "study", "report", "views", "runs", "scaffold", "workflow", "api", "cli"]  # fmt: skip
MODULES = sorted([*PACKAGE.glob("[!_]*.py"), *PACKAGE.glob("*/**/*.py")])


def room_of(path):
    """Return the room a file is in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def doors(path):
    """Yield the rooms that one module imports from, in all three spellings."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in getattr(node, "names", [])]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            if name.startswith("pyorch."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_a_later_room(path):
    room = room_of(path)
    for other in doors(path):
        if other == "__version__":
            continue
        assert ROOMS.index(other) <= ROOMS.index(room), f"{path} imports {other}"


def test_the_simulating_room_imports_nothing_of_the_analysis():
    # pyarrow is Apache-licensed and the process that loads ns-3 is GPL-2.0-only.
    foreign = {"pandas", "pyarrow", "pydantic", "jinja2", "matplotlib", "scipy", "snakemake"}
    for path in (PACKAGE / "simulate").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in getattr(node, "names", [])]
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & foreign, path


def test_only_the_simulating_room_loads_ns3():
    for path in MODULES:
        imported = {
            alias.name.split(".")[0]
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert room_of(path) == "simulate" or not imported & {"cppyy", "ns", "ns3"}, path


def test_one_module_touches_the_insides_of_snakemake():
    users = [
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or node.names[0].name]
        if name.split(".")[0] == "snakemake"
    ]
    assert set(users) == {"workflow/snakemake.py"}


def test_every_code_file_has_its_licence_in_the_first_line():
    root = PACKAGE.parent
    files = [path for folder in ("pyorch", "plots", "tests", "benchmarks")
             for path in (root / folder).rglob("*.py")]  # fmt: skip
    for path in [*files, root / "Snakefile"]:
        assert path.read_text().startswith("# SPDX-License-Identifier: GPL-2.0-only"), path
