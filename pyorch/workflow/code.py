# SPDX-License-Identifier: GPL-2.0-only
"""What of pyorch itself a result depends on, as digests: Snakemake sees no edit in an import."""

import hashlib
from functools import lru_cache
from pathlib import Path

import pyorch
from pyorch.simulate import places

PACKAGE = Path(pyorch.__file__).parent
#: What a package is made of: programs, templates, presets, tables, styles.
SUFFIXES = {".py", ".jinja", ".yaml", ".csv"}
_PLUGINS = {"topology", "workload", "failure"}


def of_packages(*packages: str) -> str:
    """Return the digest of whole packages, and of what all of them share."""
    return _digest(tuple(sorted(path for name in packages for path in _package(name))))


def of_run(spec: dict) -> str:
    """Return the digest of all that makes a run."""
    return _digest(files_of(spec))


def files_of(spec: dict) -> tuple[Path, ...]:
    """Return what makes a run: its own plug-ins, what these share, and the packages on its way."""
    chosen = [PACKAGE / "topology" / f"{spec['topology']['type']}.py"]
    chosen += [PACKAGE / "workload" / f"{load['type']}.py" for load in spec["workload"]]
    if any(load["type"] == "wan_demands" for load in spec["workload"]):
        chosen += _package("wan")
    chosen += [
        PACKAGE / "controller" / f"{load['control']['controller']['type']}.py"
        for load in spec["workload"] if (load.get("control") or {}).get("controller")
    ]  # fmt: skip
    if any(load["type"] == "collective" for load in spec["workload"]):
        chosen += _package("collective")  # an algorithm may be made of others
    chosen += [PACKAGE / "failure" / f"{failure['type']}.py" for failure in spec["failures"]]
    return _with_shared(tuple(sorted(set(chosen))), bool(spec["failures"]))


@lru_cache(maxsize=256)
def _with_shared(chosen: tuple[Path, ...], fails: bool) -> tuple[Path, ...]:
    kinds = _PLUGINS if fails else _PLUGINS - {"failure"}
    shared = [path for kind in kinds for path in (PACKAGE / kind).glob("_*.py")]
    steps = [path for name in ("render", "simulate", "traces") for path in _package(name)]
    return tuple(sorted({*chosen, *shared, *steps}))


def of_libraries(names: list[str]) -> str:
    """Return the digest of the shared libraries that a run loads."""
    return _digest(tuple(places.library(name) for name in sorted(names)))


@lru_cache(maxsize=64)
def _package(name: str) -> tuple[Path, ...]:
    inside = [path for path in (PACKAGE / name).rglob("*") if path.suffix in SUFFIXES]
    return tuple(sorted([*inside, *PACKAGE.glob("*.py")]))


@lru_cache(maxsize=256)
def _digest(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.parent.name}/{path.name} {_content(path)}\n".encode())
    return digest.hexdigest()[:16]


@lru_cache(maxsize=4096)
def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
