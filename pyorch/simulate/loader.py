# SPDX-License-Identifier: GPL-2.0-only
"""Loads the facade of the engine and the libraries of the TypeIds that are named, no others.

``from ns import ns`` would load all of ns-3 and take seven seconds; a scenario needs two of its
libraries and one header that includes nothing of ns-3.
"""

import ctypes
import importlib.util
import json
import os
import re
import signal
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from pyorch import built
from pyorch.built import ENGINE, FLUID
from pyorch.errors import BuildError, did_you_mean
from pyorch.simulate.results import sha256

FACADE_HEADER = "ns3/fabric-facade.h"
CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)


class Loaded(NamedTuple):
    """A library as it was when it was loaded: a later build may put another one in its place."""

    path: Path
    sha256: str
    stamp: tuple[int, ...]


#: Libraries loaded so far, in order: the module's or the wheel's file by its name.
loaded: dict[str, Loaded] = {}


def facade_of(type_names: Iterable[str], *, fluid: bool = False):
    """Return the C++ namespace ``ns3::fabric``, with the libraries of `libraries_of` loaded."""
    load_libraries(libraries_of(type_names, fluid=fluid))
    return facade_namespace()


def libraries_of(type_names: Iterable[str], *, fluid: bool = False) -> list[str]:
    """Return the file names of the libraries of the engine and of types, each once.

    Parameters
    ----------
    type_names : iterable of str
        TypeIds that a scenario names, ``"ns3::RoceTransport"``.
    fluid : bool
        Also that of the fluid engine.

    Raises
    ------
    BuildError
        The modules are not built, or no module registers one of the types.
    """
    index = library_index()
    names = [ENGINE, FLUID] if fluid else [ENGINE]
    for name in type_names:
        if name not in index:
            raise BuildError(
                f"no module in {built.shown(built.MODULES)} registers a TypeId '{name}'."
                f"{did_you_mean(name, index) or ' Known: ' + ', '.join(sorted(index)) + '.'}"
            )
        names.append(index[name])
    return list(dict.fromkeys(names))


def load_libraries(names: Iterable[str]) -> None:
    """Load libraries of this build; raise BuildError if one is not there or cannot be loaded."""
    for name in names:
        load_library(built.here().libraries / name)


def engine() -> ctypes.CDLL:
    """Return the library of the engine, for what it offers in C."""
    load_library(built.here().libraries / ENGINE)
    return ctypes.CDLL(str(built.here().libraries / ENGINE))


def library_index() -> dict[str, str]:
    """Return the file name of the library that registers each TypeId."""
    return {entry["name"]: entry["library"] for entry in _entries()}


def with_named(named: Iterable[tuple[str, Mapping[str, str]]]) -> list[str]:
    """Return these types and all that their attributes name, given or by default.

    Parameters
    ----------
    named : iterable of (str, mapping)
        TypeIds and the attributes that were given, as text: ``ns3::X[A=ns3::Y]`` names two types.
    """
    known = {entry["name"]: entry for entry in _entries()}
    found: dict[str, None] = {}
    waiting = [(name, dict(given)) for name, given in named]
    while waiting:
        name, given = waiting.pop(0)
        found[name] = None
        defaults = {
            attribute["name"]: attribute["default"]
            for attribute in known.get(name, {"attributes": []})["attributes"]
            if attribute.get("contract")
        }
        for text in (defaults | given).values():
            inner = [other for other in _TYPE_NAME.findall(text) if other in known]
            waiting += [(other, {}) for other in inner if other not in found]
    return list(found)


_TYPE_NAME = re.compile(r"ns3::[\w:]+")


def _entries() -> list[dict]:
    """Return what the build has written of each TypeId."""
    try:
        return json.loads(built.here().typeids.read_text())
    except FileNotFoundError:
        raise BuildError(
            f"{built.shown(built.here().typeids)} is not there: the C++ modules are not built."
            " Run: make setup"
        ) from None


def facade_namespace():
    """Return ``ns3::fabric`` as Python sees it; the engine's library must be loaded."""
    os.environ.setdefault("CPPYY_API_PATH", "none")  # not used; cppyy warns if it is not found
    import cppyy  # takes half a second, so only where it is needed

    for number in CRASHES:  # cppyy's handler would print a hundred lines of its own frames
        signal.signal(number, signal.SIG_DFL)
    cppyy.add_include_path(str(built.here().headers))
    cppyy.include(FACADE_HEADER)
    return cppyy.gbl.ns3.fabric


def load_library(path: Path) -> None:
    """Load a shared library and, before it, whatever it needs of the wheel and of our modules.

    Our libraries carry no search path (their bytes would depend on the machine), so the dynamic
    linker names the first one it misses, we load that, and it tries again.
    """
    if path.name in loaded:
        return
    while True:
        found = Loaded(path, sha256(path), _stamp(path)) if path.exists() else None
        try:
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            load_library(_needed(path, str(error)))
        else:
            loaded[path.name] = found
            return


def check_unchanged() -> None:
    """Refuse a result that cannot be repeated.

    Raises
    ------
    BuildError
        A library on disk is not the one that this process has loaded.
    """
    for name, library in loaded.items():
        path = library.path
        if not path.exists() or (_stamp(path) != library.stamp and sha256(path) != library.sha256):
            raise BuildError(
                f"{name} was built anew while this run was going, so its result would be named"
                " after another program. No result was written. Run it again."
            )


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes with any writing of a file, or another file in its place."""
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _needed(path: Path, error: str) -> Path:
    """Return the library whose absence the dynamic linker reports."""
    missing = re.match(r"(lib[^:/]+\.so[^:/]*): ", error)
    for folder in (built.here().libraries, wheel_libraries()):
        if missing and missing[1] not in loaded and (folder / missing[1]).exists():
            return folder / missing[1]
    raise BuildError(
        f"{built.shown(path)} cannot be loaded: {error}. Build it again: make clean setup"
    )


def wheel_libraries() -> Path:
    """Return the folder of ns-3's own libraries."""
    spec = importlib.util.find_spec("ns3")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError("the Python package ns3 is not installed. Run: make setup")
    return Path(spec.submodule_search_locations[0]) / "lib64"
