# SPDX-License-Identifier: GPL-2.0-only
"""Writes a digest of each file of a finished run, and compares them later.

``manifest.json`` is written last, so it stands for a complete result. A file that somebody has
changed, or that a disk has, is named by who reads it; who only plans compares sizes and times.
"""

import json
from pathlib import Path

from pyorch import origin
from pyorch.errors import TraceError
from pyorch.reading import read_json, shown
from pyorch.simulate.results import save_json, sha256

FILE = "manifest.json"
_OWN = "manifest_sha256"
_AGAIN = "Make it again: pyorch run --force, or remove the folder."


def seal(folder: Path | str, **facts: object) -> None:
    """Write the size, the time and the digest of each file of a run into its manifest.

    Parameters
    ----------
    folder : path
        Has a ``manifest.json`` of the simulation, and everything else of the run.
    **facts
        More keys of the manifest.
    """
    folder = Path(folder)
    content = read_json(folder / FILE, TraceError, _AGAIN) | facts
    content["files"] = {
        path.name: {**_stamp(path), "sha256": sha256(path)}
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != FILE and not path.name.startswith(".")
    }
    content.pop(_OWN, None)
    save_json(folder / FILE, content | {_OWN: _digest(content)})


def read(folder: Path | str) -> dict:
    """Return the manifest of a run, checked against its own digest if it has one.

    Raises
    ------
    TraceError
        It is not there, or is damaged.
    """
    path = Path(folder) / FILE
    content = read_json(path, TraceError, _AGAIN)
    own = content.pop(_OWN, None)
    files = content.get("files", {})
    if (own is None) != (not files) or own is not None and own != _digest(content):
        raise TraceError(f"{shown(path)}: is damaged: it does not hold what was written. {_AGAIN}")
    return content


def check(folder: Path | str, name: str) -> None:
    """Compare one file of a run with its digest; one that no manifest names is not compared.

    Raises
    ------
    TraceError
        It is not there, or not what was written.
    """
    folder = Path(folder)
    if not (folder / FILE).exists():
        return
    recorded = read(folder).get("files", {}).get(name)
    if recorded is not None and (why := _difference(folder / name, recorded, whole=True)):
        raise TraceError(f"{shown(folder / name)}: {why}. {_AGAIN}")


def looks_whole(folder: Path | str) -> bool:
    """Return whether a folder has a complete result, by sizes and times of its files.

    Where a time differs, as in a copy, the digest decides.
    """
    try:
        files = read(folder).get("files", {})
    except TraceError:
        return False
    return bool(files) and not any(
        _difference(Path(folder) / name, recorded, whole=False) for name, recorded in files.items()
    )


def verify(folder: Path | str) -> list[str]:
    """Return one line for each file of a run that is not what was written.

    Raises
    ------
    TraceError
        It has no manifest of its files, or that is damaged.
    """
    folder = Path(folder)
    files = read(folder).get("files")
    if not files:
        raise TraceError(f"{shown(folder)}: is no finished run: {FILE} names no files. {_AGAIN}")
    found = ((name, _difference(folder / name, files[name], whole=True)) for name in sorted(files))
    return [f"{shown(folder / name)}: {why}" for name, why in found if why]


def _difference(path: Path, recorded: dict, whole: bool) -> str:
    """Return in what a file differs from its record; nothing if it does not."""
    try:
        stamp = _stamp(path)
        if stamp["bytes"] != recorded["bytes"]:
            return f"has {stamp['bytes']} bytes; {recorded['bytes']} were written"
        if (whole or stamp != {key: recorded[key] for key in stamp}) and (
            sha256(path) != recorded["sha256"]
        ):
            return "is damaged: it does not hold what was written"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    except (KeyError, TypeError):
        return f"has no complete record in {FILE}"
    return ""


def _stamp(path: Path) -> dict[str, int]:
    stat = path.stat()
    return {"bytes": stat.st_size, "changed_ns": stat.st_mtime_ns}


def _digest(content: dict) -> str:
    return origin.combined_digest(json.loads(json.dumps(content)))
