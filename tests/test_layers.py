# SPDX-License-Identifier: GPL-2.0-only
"""The packages and the only direction in which they import each other."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pyorch"
PACKAGES = ["errors", "units", "plugins", "reading", "writing", "jobs", "sockets", "forks", "built",
            "draws", "origin", "spec", "topology", "theory", "collective", "training", "wan",
            "controller", "workload", "allocation", "failure", "render", "export", "simulate",
            "traces", "metrics", "figures", "study", "report", "views", "runs", "scaffold",
            "workflow", "api", "cli"]  # fmt: skip
MODULES = sorted([*PACKAGE.glob("[!_]*.py"), *PACKAGE.glob("*/**/*.py")])
CPP = PACKAGE.parent / "ns3-modules"
#: What modules of C++ may include beside their own: all others see the contracts, and what these
#: are made of; a transport also its base. `fluid` is an engine, `netdevice` a way to drive one.
CONTRACTS = {"engine/model", "fabric/contract", "fabric/network"}
INCLUDES = {
    "engine": set(),
    "fluid": {*CONTRACTS, "fabric/model", "fabric/helper"},
    "netdevice": {*CONTRACTS, "fabric/helper"},
}


def package_of(path):
    """Return the package a file is in."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def doors(path):
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
    for other in doors(path):
        if other == "__version__":
            continue
        assert PACKAGES.index(other) <= PACKAGES.index(package), f"{path} imports {other}"


@pytest.mark.parametrize("module", sorted(p.parent.name for p in CPP.glob("*/CMakeLists.txt")))
def test_a_module_of_cpp_sees_contracts_and_never_another_family(module):
    if module == "fabric":
        return  # its packages are parts of one engine
    allowed = INCLUDES.get(module, CONTRACTS if module == "host" else {*CONTRACTS, "host/model"})
    where = {path.name: path.parent.relative_to(CPP).as_posix() for path in CPP.glob("*/*/*.h")}
    for path in [*(CPP / module).glob("model/*"), *(CPP / module).glob("helper/*")]:
        for header in re.findall(r'^#include "(?:ns3/)?([\w-]+\.h)"', path.read_text(), re.M):
            folder = where.get(header, module)
            assert folder.partition("/")[0] == module or folder in allowed, f"{path}: {header}"


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


#: Folders of the packet engine, by level: each includes folders of lower levels alone.
LEVELS = {"network": 0, "contract": 1, "observe": 2, "skip": 2, "model": 2, "parallel": 3,
          "helper": 4}  # fmt: skip


def test_a_folder_of_the_packet_engine_sees_only_those_below_it():
    where = {path.name: path.parent.name for path in CPP.glob("fabric/*/*.h")}
    for folder, level in LEVELS.items():
        paths = list((CPP / "fabric" / folder).iterdir())
        assert paths
        for path in paths:
            for header in re.findall(r'^#include "(?:ns3/)?([\w-]+\.h)"', path.read_text(), re.M):
                other = where.get(header, folder)
                assert other == folder or LEVELS[other] < level, f"{path}: {header}"


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
