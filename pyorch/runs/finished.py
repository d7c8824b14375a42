# SPDX-License-Identifier: GPL-2.0-only
"""Whether the folder of a run holds its result, made by the libraries that are there now."""

from functools import lru_cache
from pathlib import Path

from pyorch import spec as specs
from pyorch import traces
from pyorch.errors import PyorchError
from pyorch.simulate import places
from pyorch.simulate.results import sha256
from pyorch.spec.files import without_paths

#: Written in this order, the tables last.
FILES = (
    "spec.json", "scenario.py", "tables.npz", "raw.npz", "manifest.json", "provenance.json",
    *(f"{table}.parquet" for table in traces.ALWAYS),
)  # fmt: skip


def is_finished(spec: dict, folder: Path | str) -> bool:
    """Return whether a run need not be run again: all its files, its spec, today's libraries."""
    folder = Path(folder)
    if not all((folder / name).exists() for name in FILES):
        return False
    try:
        same = without_paths(specs.read_spec(folder / "spec.json")) == without_paths(spec)
        recorded = traces.read_provenance(folder)["libraries_sha256"]
    except PyorchError:
        return False
    return same and all(_current(name, digest) for name, digest in recorded.items())


def _current(name: str, digest: str) -> bool:
    """Return whether a library of ours still has these bytes; those of the wheel do not change."""
    path = places.LIBRARIES / name
    if not path.exists():
        return name.startswith("libns3.")
    stat = path.stat()
    return _digest(path, stat.st_mtime_ns, stat.st_size) == digest


@lru_cache(maxsize=64)
def _digest(path: Path, _mtime_ns: int, _size: int) -> str:
    return sha256(path)
