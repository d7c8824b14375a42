# SPDX-License-Identifier: GPL-2.0-only
"""Lists the files of pyorch and of plug-ins that a process has used, each with its digest.

A result is named after its spec. What else has made it are modules, plug-ins and data of this
package, of the study and of packages with plug-ins: modules follow from the statements that import
them, plug-ins and data are noted while they are loaded and opened. A process that makes one run and
nothing else therefore knows just what made it; a file that is edited later is seen by its digest.
"""

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from pyorch import built, plugins
from pyorch.errors import BuildError

PACKAGE = Path(__file__).resolve().parent
_ROOT = PACKAGE.name
#: How the names of its files begin, also where a link leads to it; then those of the study.
_prefixes = [f"{PACKAGE}{os.sep}", f"{Path(__file__).parent}{os.sep}"]
_IMPORT = re.compile(
    rf"^(?:from ({_ROOT}[\w.]*) import (?:\(([^)]*)\)|([^(#\n]*))|import ({_ROOT}\.[\w.]+))",
    re.MULTILINE,
)
#: Their modules start and watch processes and hand a spec and a folder through to them.
STARTERS = ("forks", "jobs", "workflow")
#: How the names of files of a study begin.
_STUDY = "./"
#: When this process, or the one that it was forked from, began to load what it runs [ns].
_began_ns = time.time_ns()
_opened: set[str] = set()


@lru_cache(maxsize=1)
def watch() -> None:
    """Note from now on which data of the package, and beside plug-ins, this process opens."""
    if (study := built.study()) is not None:
        _prefixes.extend(f"{study / kind}{os.sep}" for kind in plugins.KINDS)
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple) -> None:
    if (
        event == "open"
        and isinstance(arguments[0], str)
        and arguments[0].startswith(tuple(_prefixes))
    ):
        _opened.add(arguments[0])


def used() -> list[str]:
    """Return plug-ins and data that this process has loaded and opened, as `files` takes them."""
    data = {path.resolve() for path in map(Path, _opened) if _is_data(path)}
    return sorted([*plugins.loaded, *map(_shown, data)])


def files(roots: Iterable[str]) -> list[Path]:
    """Return the files of pyorch that roots are made of.

    Parameters
    ----------
    roots : iterable of str
        Modules (``"pyorch.render"``), whose imports are followed, and data
        (``"pyorch/workload/cdf/websearch.csv"``).
    """
    roots = list(roots)
    data = [_placed(name) for name in roots if "/" in name]
    waiting = [name for name in roots if "/" not in name]
    found: dict[str, Path] = {}
    while waiting:
        name = waiting.pop()
        path = _module(name)
        if name not in found and path is not None:
            found[name] = path
            waiting += [name.rpartition(".")[0], *_imports(path, *_stamp(path))]
    modules = {path for name, path in found.items() if name.split(".")[1] not in STARTERS}
    return sorted([*modules, *data])


def digest(*roots: str) -> str:
    """Return one digest of modules, of what they import, and of all data that lie beside these.

    For what is made in moments, so that nobody has noted which data it opens.
    """
    modules = files(roots)
    folders = {path.parent for path in modules if _is_own(path) or _is_of_study(path)} - {PACKAGE}
    data = {path for folder in folders for path in folder.rglob("*") if _is_data(path)}
    return combined_digest({_shown(path): digest_of(path) for path in {*modules, *data}})[:16]


def digest_of_script(path: Path | str) -> str:
    """Return one digest of what a script outside of the package imports of it."""
    path = Path(path)
    return digest(*_imports(path, *_stamp(path))) if path.is_file() else ""


def _is_data(path: Path) -> bool:
    return path.suffix not in (".py", ".pyc") and path.is_file()


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its path from the folder of the package.

    Raises
    ------
    BuildError
        One of them is not what this process has loaded.
    """
    paths = list(paths)
    _refuse_edited(paths)
    return {_shown(path): digest_of(path) or "" for path in paths}


def check_unedited() -> None:
    """Raise BuildError if a module of ours that this process has loaded was edited since."""
    names = [name for name in list(sys.modules) if name.startswith(f"{_ROOT}.")]
    _refuse_edited(filter(None, map(_module, names)))


def _refuse_edited(paths: Iterable[Path]) -> None:
    for path in paths:
        if not path.is_file() or path.stat().st_ctime_ns > _began_ns:
            raise BuildError(
                f"{_shown(path)} was edited while this run was going, so nobody knows which text"
                " made its result. No result was written. Run it again."
            )


def current(recorded: Mapping[str, str]) -> str:
    """Return the first file that does not have its recorded digest any more; nothing if all do."""
    differ = (name for name, digest in recorded.items() if digest_of(_placed(name)) != digest)
    return next(differ, "")


def digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file as it is now; None if it is not there."""
    try:
        stamp = _stamp(path)
    except OSError:
        return None
    return _digest(path, *stamp)


def combined_digest(content: object) -> str:
    """Return one digest of values that JSON holds."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _placed(name: str) -> Path:
    """Return the file that `_shown` has named."""
    if name.startswith(_STUDY):
        return Path.cwd() / name
    if "/" in name:
        return PACKAGE.parent / name
    return plugins.locate(*name.rsplit(".", 1)) or Path(name)  # a plug-in of another package


def _shown(path: Path) -> str:
    """Return a name of a file that holds on other machines, too."""
    if _is_own(path):
        return path.relative_to(PACKAGE.parent).as_posix()
    if _is_of_study(path):
        return f"{_STUDY}{path.relative_to(Path.cwd()).as_posix()}"
    return plugins.name_of(path)


def _is_own(path: Path) -> bool:
    return path.is_relative_to(PACKAGE)


def _is_of_study(path: Path) -> bool:
    return any(path.is_relative_to(Path.cwd() / kind) for kind in plugins.KINDS)


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what changes with any writing of a file, or another file in its place."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=4096)
def _digest(path: Path, *_: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _module(name: str) -> Path | None:
    """Return the file of a module of ours, or of a plug-in; None for other names.

    The package itself has none: it offers the Python API, and no module of ours uses that.
    """
    return _own_module(name) or _plugin_of_others(name)


@lru_cache(maxsize=4096)
def _own_module(name: str) -> Path | None:
    first, *parts = name.split(".")
    if first != _ROOT or not parts:
        return None
    path = PACKAGE.joinpath(*parts)
    candidates = path.with_suffix(".py"), path / "__init__.py"
    return next((one for one in candidates if one.is_file()), None)


def _plugin_of_others(name: str) -> Path | None:
    first, *parts = name.split(".")
    is_one = first == _ROOT and len(parts) == 2 and parts[0] in plugins.KINDS
    return plugins.locate(*name.rsplit(".", 1)) if is_one else None


@lru_cache(maxsize=4096)
def _imports(path: Path, *_: int) -> tuple[str, ...]:
    """Return the names that a module imports of this package; of `from a import b` also ``a.b``.

    Statements that are indented are left out: they stand for a type checker, or in a function, and
    those of a run are `plugins.on_demand` there.
    """
    found = []
    for package, several, few, module in _IMPORT.findall(path.read_text(encoding="utf-8")):
        names = (several + few).split(",")
        found += [module or package]
        found += [f"{package}.{words.split()[0]}" for words in names if words.strip()]
    return tuple(found)
