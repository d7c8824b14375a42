# SPDX-License-Identifier: GPL-2.0-only
"""Checks the name of a new plug-in; a name that it may not have is refused in one line."""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from pyorch import built, plugins
from pyorch.errors import PluginError, quoted
from pyorch.scaffold.kinds import File, Module
from pyorch.spec.limits import LONGEST_NAME

#: Targets and folders of the build that are no modules.
_TAKEN = {"all", "bin", "clean", "help", "include", "install", "lib", "stock", "test"}


def words(name: str) -> str:
    """Return a name as C++ writes it, ``SlowStart`` for ``slow-start``."""
    return "".join(word.capitalize() for word in name.split("-"))


def class_of(kind: Module, name: str) -> str:
    """Return the C++ class of a plug-in, ``SlowStartTransport`` for ``slow-start``."""
    return words(stem(kind, name))


def stem(kind: Module, name: str) -> str:
    """Return the name of its files and of its test suite, ``slow-start-transport``.

    A name that says already what it is keeps to that.
    """
    suffix = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.suffix).lower()
    return name if name.endswith(f"-{suffix}") else f"{name}-{suffix}"


def check_file(kind: File, name: str, path: Path) -> None:
    """Raise PluginError unless a plug-in that is a file may be called so."""
    where = f"{kind.name} {quoted(name)}:"
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        raise PluginError(
            f"{where} not a name for a file. Write at most {LONGEST_NAME} lower-case letters and"
            f" digits, words joined by _, for example '{_nearest(name, '_')}'."
        )
    if path.exists():
        raise PluginError(
            f"{where} {built.shown(path)} exists already. Choose another name, or remove the file."
        )
    group = kind.path.split("/")[1] if kind.path.startswith("pyorch/") else ""
    if group in plugins.KINDS and name in plugins.names(f"pyorch.{group}"):
        raise PluginError(f"{where} pyorch or a package has one of this name. Choose another name.")


def check_module(kind: Module, name: str, own: Path, others: list[Path]) -> None:
    """Raise PluginError unless a module may be called so in a folder, beside those of others."""
    modules = [own, *others]
    where = f"{kind.name} {quoted(name)}:"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > LONGEST_NAME:
        raise PluginError(
            f"{where} not a name for a folder, a header and a class. Write at most {LONGEST_NAME}"
            f" lower-case letters and digits, words joined by -, for example"
            f" '{_nearest(name, '-')}'."
        )
    if (own / name).exists():
        raise PluginError(
            f"{where} {built.shown(own / name)} exists already. Choose another name, or"
            " remove the folder."
        )
    if any((folder / name).exists() for folder in others):
        raise PluginError(f"{where} pyorch has a module of this name. Choose another name.")
    if name in _TAKEN or name.endswith("-test") or name in _stock_modules():
        raise PluginError(
            f"{where} a module of ns-3 or a part of the build has this name. Choose another one."
        )
    header = f"{stem(kind, name)}.h"
    if owner := _owner_of_header(header, modules):
        raise PluginError(
            f"{where} its header ns3/{header} would hide {owner}. Choose another name."
        )
    if owner := _owner_of_class(class_of(kind, name), modules):
        raise PluginError(
            f"{where} its TypeId ns3::{class_of(kind, name)} is that of a class in {owner}. Choose"
            " another name."
        )


def _nearest(name: str, joint: str) -> str:
    """Return what the user may have meant, ``slow-start`` for ``SlowStart``."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    parts = re.sub(r"[^a-z0-9]+", "-", split).lstrip("0123456789-")[:20].rstrip("-")
    return (parts or "slow-start").replace("-", joint)


def _stock() -> Path:
    """Return the folder of the ns3 package, which is not loaded."""
    spec = find_spec("ns3")
    assert spec is not None and spec.submodule_search_locations, "pyorch depends on it"
    return Path(spec.submodule_search_locations[0])


def _stock_modules() -> set[str]:
    return {path.stem.partition("-")[2] for path in _stock().glob("lib64/libns3.*-*.so")}


def _headers(folders: list[Path]) -> Iterator[Path]:
    """Yield all headers that a module can include as ns3/<file>."""
    yield from _stock().glob("include/ns3/*.h")
    for folder in folders:
        yield from sorted(folder.glob("*/*/*.h"))


def _owner_of_header(file: str, modules: list[Path]) -> str | None:
    found = (built.shown(path) for path in _headers(modules) if path.name == file)
    return next(found, None)


def _owner_of_class(name: str, modules: list[Path]) -> str | None:
    """Return where a class of this name is declared, or which built module registers its TypeId."""
    declared = re.compile(rf"^\s*(?:class|struct)\s+{name}\b".encode(), re.MULTILINE)
    for path in _headers(modules):
        text = path.read_bytes()
        if name.encode() in text and declared.search(text):
            return built.shown(path)
    if built.here().typeids.exists():
        for entry in json.loads(built.here().typeids.read_text()):
            module = entry["library"].removeprefix("lib").removesuffix(".so")
            if entry["name"] == f"ns3::{name}":
                owners = (folder / module for folder in modules if (folder / module).exists())
                return next(map(built.shown, owners), None)
    return None
