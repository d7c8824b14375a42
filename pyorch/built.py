# SPDX-License-Identifier: GPL-2.0-only
"""Where the C++ modules and what is built of them lie: in the clone, in a wheel, in a study.

A wheel has no sources of modules; `hatch_build.py` puts what was built from them into the package.
"""

import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
#: The repository, if the package is installed in place (`pip install --editable`).
REPOSITORY = _PACKAGE.parent
#: Sources of pyorch's own modules.
MODULES = REPOSITORY / "ns3-modules"
#: What a wheel brings along.
PACKAGED = _PACKAGE / "_built"
#: What each column of a table is.
DEFINITIONS = next(
    (page for page in [REPOSITORY / "docs" / "definitions.md"] if page.exists()),
    PACKAGED / "definitions.md",
)
#: Whether there are no sources, so that nothing can be, or has to be, built.
IS_PACKAGED = PACKAGED.is_dir() and not MODULES.is_dir()
#: What pyorch itself is used with; another one, for example with sanitizers, can be chosen for a
#: process.
INSTALLED = Path(
    os.environ.get("PYORCH_BUILD", PACKAGED if IS_PACKAGED else REPOSITORY / "build")
).resolve()
#: The library that every run loads, and the one that a run of the fluid engine loads too.
ENGINE, FLUID = "libfacade.so", "libfluid.so"
_SOURCES = PACKAGED / MODULES.name if IS_PACKAGED else MODULES
#: How modules are built, and what their test suites share; a wheel brings both along.
CMAKE_PARTS, TEST_HEADERS = _SOURCES / "cmake", _SOURCES / "facade" / "test"


@dataclass(frozen=True)
class Build:
    """A folder of built modules: the installed ones, or those of a study beside links to them."""

    folder: Path
    study: Path | None = None
    #: Sanitizers with which the modules of the study are built and run: ``address,undefined``.
    sanitize: str = ""

    @property
    def libraries(self) -> Path:
        """Folder of the libraries."""
        return self.folder / "lib"

    @property
    def headers(self) -> Path:
        """Folder of the headers."""
        return self.folder / "include"

    @property
    def typeids(self) -> Path:
        """What the build says about the types of the modules."""
        return self.folder / "typeids.json"

    def module_libraries(self) -> list[Path]:
        """Return the libraries of the modules without their tests, sorted by name."""
        found = self.libraries.glob("lib*.so")
        return sorted(path for path in found if not path.name.endswith("-test.so"))


def here() -> Build:
    """Return the build that is used in this folder: of the study that it is, or the installed one.

    A study is asked for its modules each time, since a notebook may change its folder.
    """
    own = study()
    if own is None or not any(any(f.glob("*/CMakeLists.txt")) for f in module_folders(own)):
        return Build(INSTALLED)
    sanitize = os.environ.get("PYORCH_SANITIZE", "")
    return Build(own / "build" / ("sanitized" if sanitize else ""), own, sanitize)


def study() -> Path | None:
    """Return this folder if it is a study, which has a place for C++ modules of its own."""
    folder = Path.cwd()
    own = folder != REPOSITORY and (folder / "ns3-modules").is_dir()
    return folder if own and not (folder / "ns3-modules" / "CMakeLists.txt").exists() else None


def module_folders(study: Path) -> list[Path]:
    """Return the folders of modules that a study builds: its own, then those of packages.

    An installed package names itself as an entry point of the group ``pyorch.ns3-modules``, and has
    its modules in a folder ``ns3-modules/``.
    """
    folders = [study / "ns3-modules"]
    for point in entry_points("pyorch.ns3-modules"):
        spec = importlib.util.find_spec(point.module)
        places = spec.submodule_search_locations if spec else None
        folders += [Path(place) / "ns3-modules" for place in places or []]
    return folders


def entry_points(group: str) -> list[metadata.EntryPoint]:
    """Return what installed packages offer under a name."""
    return list(_entry_points().select(group=group))


@lru_cache(maxsize=1)
def _entry_points():
    """Return those of all groups: packages are looked through once."""
    return metadata.entry_points()


def shown(path: Path) -> str:
    """Return a path as a person at the repository, or in this folder, would write it."""
    for folder in (REPOSITORY, Path.cwd()):
        if path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)
