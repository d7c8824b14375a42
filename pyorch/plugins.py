# SPDX-License-Identifier: GPL-2.0-only
"""Finds the modules in the folder of a package: a plug-in is a file, and there is no list."""

import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from pyorch.errors import PluginError, did_you_mean, quoted

_PAGE = "docs/extending.md"
#: Plug-ins that keep the contract of their kind.
_kept: set[ModuleType] = set()
#: Names of the modules that this process has loaded as plug-ins, with their contracts, and on
#: demand: `pyorch.origin` asks which.
loaded: set[str] = set()


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
    loaded.update((f"{package}.{name}", f"{package}._contract"))
    module = sys.modules.get(f"{package}.{name}")
    if module is not None and not str(name).startswith("_") and module in _kept:
        return module
    known = names(package)
    if name not in known:
        kind = package.rpartition(".")[2]
        raise PluginError(
            f"no {kind} {quoted(name)}. Found in {package.replace('.', '/')}: {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    module = importlib.import_module(f"{package}.{name}")
    check_contract(module, package)
    _kept.add(module)
    return module


def on_demand(name: str) -> ModuleType:
    """Return a module of ours that only some runs need; it is noted that this one does."""
    loaded.add(name)
    return importlib.import_module(name)


def check_contract(module: ModuleType, package: str) -> None:
    """Hold a plug-in against the Protocol of its kind, ``Contract`` in ``_contract.py``.

    Raises
    ------
    PluginError
        A part is missing, takes other arguments, or one that may be left out seems misspelt.
    """
    if importlib.util.find_spec(f"{package}._contract") is None:
        return
    contract = importlib.import_module(f"{package}._contract").Contract
    optional = getattr(contract, "OPTIONAL", ())
    parts = {name for name in vars(contract) if name[0] != "_" and name != "OPTIONAL"}
    parts |= contract.__annotations__.keys()
    kind, own = package.rpartition(".")[2], _defined(module)
    where = f"{kind} '{module.__name__.rpartition('.')[2]}'"
    for part in sorted(parts):
        found, wanted = getattr(module, part, None), getattr(contract, part, None)
        if found is None:
            near = difflib.get_close_matches(part, own - parts, n=1, cutoff=0.75)
            if near:
                raise PluginError(f"{where}: has {near[0]}; did you mean {part}?")
            if part not in optional:
                raise PluginError(f"{where}: has no {part}. Its kind is described in {_PAGE}.")
        elif callable(wanted) and (names := _arguments(found)) != _arguments(wanted):
            raise PluginError(
                f"{where}: {part} takes ({', '.join(names)}), and is called with"
                f" ({', '.join(_arguments(wanted))})."
            )


def _defined(module: ModuleType) -> set[str]:
    """Return the public functions, classes and plain values that stand in the file of a module."""
    return {
        name for name, its in vars(module).items()
        if name[0] != "_" and (
            isinstance(its, (bool, int, str)) or getattr(its, "__module__", "") == module.__name__
        )
    }  # fmt: skip


def _arguments(function: Callable) -> list[str]:
    return list(inspect.signature(function).parameters)


def discover(package: str) -> dict[str, ModuleType]:
    """Return all plug-in modules of a package by name, in sorted order."""
    return {name: load(package, name) for name in names(package)}
