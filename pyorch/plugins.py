# SPDX-License-Identifier: GPL-2.0-only
"""Takes the name of a package, leaves the modules in its folder: a plug-in is a file, no list."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from pyorch.errors import PluginError, did_you_mean


def names(package: str) -> list[str]:
    """Return the names of the plug-ins of a package, sorted; nothing is imported but the package.

    Parameters
    ----------
    package : str
        Dotted name, ``"pyorch.topology"``. Files that begin with ``_`` are no plug-ins.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PluginError(f"there is no package {package}.")
    found = {
        path.stem
        for folder in spec.submodule_search_locations
        for path in Path(folder).glob("[!_]*.py")
    }
    return sorted(found)


def load(package: str, name: object) -> ModuleType:
    """Return one plug-in module.

    Raises
    ------
    PluginError
        The folder has no file of that name.
    """
    module = sys.modules.get(f"{package}.{name}")
    if module is not None and not str(name).startswith("_"):
        return module
    known = names(package)
    if name not in known:
        kind = package.rpartition(".")[2]
        raise PluginError(
            f"no {kind} '{name}'. Found in {package.replace('.', '/')}: {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    return importlib.import_module(f"{package}.{name}")


def discover(package: str) -> dict[str, ModuleType]:
    """Return all plug-in modules of a package by name, in sorted order."""
    return {name: load(package, name) for name in names(package)}
