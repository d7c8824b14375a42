# SPDX-License-Identifier: GPL-2.0-only
"""Finds the plug-ins of a kind: a plug-in is a file, and there is no list.

Those of the study come from its folder of that name (``./topology/*.py``), those of installed
packages from their entry points (group ``pyorch.topology``), pyorch's own from its package.
"""

import ast
import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from importlib import metadata
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from pyorch import built, trust
from pyorch.errors import PluginError, did_you_mean, quoted

#: Where a plug-in comes from.
Place = Path | metadata.EntryPoint

_PAGE = "docs/extending.md"
#: Kinds of plug-ins, each a package of pyorch and, in a study, a folder of that name.
KINDS = frozenset(path.parent.name for path in Path(__file__).parent.glob("*/_contract.py"))
#: Plug-ins that keep the contract of their kind, and the study whose folder has them.
_kept: dict[ModuleType, Path | None] = {}
#: Names of the modules that this process has loaded as plug-ins, with their contracts, and on
#: demand: `pyorch.origin` asks which.
loaded: set[str] = set()


def names(package: str) -> list[str]:
    """Return the names of the plug-ins of a package, sorted; nothing is imported but the package.

    Parameters
    ----------
    package : str
        Dotted name, ``"pyorch.topology"``. Files that begin with ``_`` are no plug-ins.

    Raises
    ------
    PluginError
        There is no such package, or two plug-ins have one name.
    """
    return sorted(_places(package))


def locate(package: str, name: str) -> Path | None:
    """Return the file of a plug-in; None if there is none of that name."""
    place = _places(package).get(name)
    if place is None or isinstance(place, Path):
        return place
    spec = importlib.util.find_spec(place.module)
    return Path(spec.origin) if spec is not None and spec.origin else None


def name_of(path: Path) -> str:
    """Return the name, ``"pyorch.metrics.lost"``, of the plug-in whose file this is.

    Raises
    ------
    PluginError
        No plug-in has this file.
    """
    for package in (f"pyorch.{kind}" for kind in sorted(KINDS)):
        for name in names(package):
            if locate(package, name) == path:
                return f"{package}.{name}"
    raise PluginError(f"{path}: is the file of no plug-in.")


def summary(package: str, name: str) -> str:
    """Return the first line of what a plug-in says of itself, without importing it."""
    path = locate(package, name)
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0] if path else ""


def _places(package: str) -> dict[str, Place]:
    """Return where each plug-in of a package is: a file, or an entry point of another package."""
    paths = _own_files(package)
    if (folder := _folder_of_study(package)) is not None:
        paths += _files(folder)
    all_: list[tuple[str, Place]] = [(path.stem, path) for path in paths]
    all_ += [(one.name, one) for one in built.entry_points(package)]
    found: dict[str, Place] = {}
    for name, place in all_:
        if name in found:
            kind = package.rpartition(".")[2]
            raise PluginError(
                f"two plug-ins are called {kind} '{name}': {_where(found[name])} and"
                f" {_where(place)}. Rename one of them."
            )
        found[name] = place
    return found


def _own_files(package: str) -> list[Path]:
    """Return the plug-ins in the folder of a package itself."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise PluginError(f"there is no package {package}.")
    return [path for folder in spec.submodule_search_locations for path in _files(Path(folder))]


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("[!_]*.py"))


def _folder_of_study(package: str) -> Path | None:
    first, _, kind = package.partition(".")
    if first != "pyorch" or kind not in KINDS or (study := built.study()) is None:
        return None
    return study / kind


def _is_of_study(package: str, place: Place) -> bool:
    return isinstance(place, Path) and place.parent == _folder_of_study(package)


def _where(place: Place) -> str:
    if isinstance(place, Path):
        return built.shown(place)
    return f"{place.value} of {place.dist.name if place.dist else 'a package'}"


def load(package: str, name: object) -> ModuleType:
    """Return one plug-in module.

    Raises
    ------
    PluginError
        There is none of that name; or it is of a study in which this user has run nothing yet.
    """
    noted = f"{package}.{name}", f"{package}._contract"
    module = sys.modules.get(noted[0])
    if module in _kept and not str(name).startswith("_") and _kept[module] in (None, built.study()):
        loaded.update(noted)
        return module
    places = _places(package)
    if not isinstance(name, str) or name not in places:
        kind, known = package.rpartition(".")[2], sorted(places)
        raise PluginError(
            f"no {kind} {quoted(name)}. Found in {package.replace('.', '/')}: {', '.join(known)}."
            f"{did_you_mean(name, known)}"
        )
    loaded.update(noted)
    module = _imported(package, str(name), places[name])
    check_contract(module, package, str(name))
    _kept[module] = built.study() if _is_of_study(package, places[name]) else None
    return module


def _imported(package: str, name: str, place: Place) -> ModuleType:
    """Return the module of a plug-in, by the name that a plug-in of pyorch would have."""
    full = f"{package}.{name}"
    if not isinstance(place, Path):
        module = sys.modules[full] = place.load()
        return module
    study = built.study()
    if study is None or not _is_of_study(package, place):
        if getattr(sys.modules.get(full), "__file__", str(place)) != str(place):
            del sys.modules[full]  # of a study that was this folder before
        return importlib.import_module(full)
    trust.check(study, f"{package.rpartition('.')[2]} '{name}', {built.shown(place)},")
    loader = SourceFileLoader(full, str(place))
    spec = importlib.util.spec_from_file_location(full, place, loader=loader)
    assert spec is not None  # a file that ends in .py
    module = sys.modules[full] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    return module


def on_demand(name: str) -> ModuleType:
    """Return a module of ours that only some runs need; it is noted that this one does."""
    loaded.add(name)
    return importlib.import_module(name)


def check_contract(module: ModuleType, package: str, name: str = "") -> None:
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
    parts = {name for name in vars(contract) if name[0] != "_"} | contract.__annotations__.keys()
    parts -= {"OPTIONAL"}
    kind, own = package.rpartition(".")[2], _defined(module)
    where = f"{kind} '{name or module.__name__.rpartition('.')[2]}'"
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
    """Return the plug-in modules of a package itself by name, in sorted order.

    Those of a study are executed only when something names them.
    """
    return {path.stem: load(package, path.stem) for path in _own_files(package)}
