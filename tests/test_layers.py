# SPDX-License-Identifier: GPL-2.0-only
"""The packages and the only direction in which they import each other."""

import ast
import re
from pathlib import Path

import networkx as nx
import pytest

PACKAGE = Path(__file__).parents[1] / "pyorch"
PACKAGES = ["errors", "formats", "units", "built", "trust", "plugins", "reading", "writing",
            "calls", "jobs", "sockets", "forks", "draws", "origin", "spec", "topology", "theory",
            "collective", "training", "trace_format", "serving", "wan",
            "controller", "workload", "allocation", "failure", "render", "export", "simulate",
            "traces", "metrics", "figures", "study", "report", "views", "look", "runs", "scaffold",
            "workflow", "api", "session", "measured", "explain", "cli"]  # fmt: skip
MODULES = sorted([*PACKAGE.glob("[!_]*.py"), *PACKAGE.glob("*/**/*.py")])
CPP = PACKAGE.parent / "ns3-modules"
#: Modules of C++: each includes only modules of lines above its own.
LINES = [["engine"], ["topology"], ["contract"], ["fabric", "host"],
         ["observe", "skip", "parallel"], ["facade"], ["fluid", "netdevice"]]  # fmt: skip
#: What a scenario chooses by a TypeId sees the contracts, and a transport its base.
CHOSEN = {"engine", "topology", "contract", "host"}


def package_of(path):
    """Return the package a file is in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(path):
    """Yield the packages that one module imports from, in all three spellings."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in getattr(node, "names", [])]
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        for name in names:
            if name.startswith("pyorch."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_imports_a_later_package(path):
    package = package_of(path)
    for other in imports_of(path):
        if other == "__version__":
            continue
        assert PACKAGES.index(other) <= PACKAGES.index(package), f"{path} imports {other}"


def seen_by(module):
    """Return the modules of which a module may include headers."""
    for i, line in enumerate(LINES):
        if module in line:
            return {other for above in LINES[:i] for other in above}
    return CHOSEN


@pytest.mark.parametrize("module", sorted(p.parent.name for p in CPP.glob("*/CMakeLists.txt")))
def test_a_module_of_cpp_includes_only_modules_of_lines_above_its_own(module):
    where = {path.name: path.relative_to(CPP).parts[0] for path in CPP.glob("*/*/*.h")}
    paths = [*(CPP / module).glob("model/*"), *(CPP / module).glob("helper/*")]
    assert paths
    for path in paths:
        for header in re.findall(r'^#include "(?:ns3/)?([\w-]+\.h)"', path.read_text(), re.M):
            other = where.get(header, module)
            assert other == module or other in seen_by(module), f"{path}: {header}"


@pytest.mark.parametrize(
    "path", [p for p in MODULES if PACKAGES.index(package_of(p)) <= PACKAGES.index("metrics")],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)  # fmt: skip
def test_no_function_of_a_step_hides_an_import(path):
    # pyorch.origin follows what stands at the margin; a function asks `plugins.on_demand`.
    tree = ast.parse(path.read_text())
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [a.name for a in node.names] if isinstance(node, ast.Import) else []
                assert not [name for name in names if name.split(".")[0] == "pyorch"], path


def test_the_page_for_maintainers_shows_both_orders():
    page = (PACKAGE.parent / "docs" / "maintaining.md").read_text()
    packages, modules = re.findall(r"^```text\n(.*?)^```", page, re.M | re.S)

    assert packages.split() == PACKAGES
    assert [re.split(r" {2,}", line)[0].split() for line in modules.splitlines()] == LINES


def test_no_circle_of_includes_has_more_than_two_units():
    # A unit is a header and the source of the same name.
    units = {path.name: path.with_suffix("") for path in CPP.glob("*/[mh]*/*.h")}
    includes = nx.DiGraph()
    for path in CPP.glob("*/[mh]*/*.*"):
        for header in re.findall(r'^#include "(?:ns3/)?([\w-]+\.h)"', path.read_text(), re.M):
            if header in units:
                includes.add_edge(path.with_suffix(""), units[header])
    circles = [circle for circle in nx.strongly_connected_components(includes) if len(circle) > 2]
    assert includes
    assert circles == []


def test_no_class_of_cpp_has_a_friend():
    for path in CPP.rglob("*.h"):
        assert not re.search(r"^ *friend (class|struct) ", path.read_text(), re.M), path


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
        assert package_of(path) == "simulate" or not imported & {"cppyy", "ns", "ns3"}, path


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
