# SPDX-License-Identifier: GPL-2.0-only
"""Built modules of this user's machine by their content: a second clone compiles nothing.

The same sources give the same bytes in any folder, so what decides the libraries is hashed: the
sources, the compiler, its flags, Python and the ns3 wheel. Kept in ``~/.cache/pyorch/modules``
(``XDG_CACHE_HOME``); ``PYORCH_CACHE=off`` neither reads nor writes there.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from pyorch import built

#: Builds that are kept; the ones that were used last.
KEPT = 20
MANIFEST = "manifest.json"
STAMP = ".from_cache"


def folder(name: str = "modules") -> Path | None:
    """Return where builds, or other things, are kept; None where they are not."""
    if os.environ.get("PYORCH_CACHE") == "off":
        return None
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "pyorch" / name


def key() -> str:
    """Return the name of a build: a hash of everything that decides its bytes."""
    digest = hashlib.sha256()
    compiler = os.environ.get("CXX", "c++")
    said = subprocess.run([compiler, "-v"], capture_output=True, text=True).stderr
    flags = [os.environ.get(name, "") for name in ("CXX", "CXXFLAGS", "LDFLAGS")]
    facts = [said, *flags, sys.version, *(version(name) for name in ("ns3", "cmake"))]
    digest.update(json.dumps(facts).encode())
    for path in sorted(built.MODULES.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(built.MODULES)} {content}\n".encode())
    return digest.hexdigest()[:32]


def restore(name: str) -> bool:
    """Put a kept build into the build folder; return whether it is there and whole.

    What a compiler has built in this folder is left to the compiler.
    """
    if (built.here().folder / "build.ninja").exists():
        return False
    stamp = built.here().folder / STAMP
    if stamp.exists() and stamp.read_text() == name and built.here().typeids.exists():
        return True
    stamp.unlink(missing_ok=True)
    kept = folder() and folder() / name
    if not kept or not (manifest := _whole(kept)):
        return False
    for file in manifest["files"]:
        target = built.here().folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f"{target.name}.tmp")  # a library may be loaded right now
        shutil.copyfile(kept / file, temporary)
        temporary.rename(target)
    built.here().headers.joinpath("ns3").mkdir(parents=True, exist_ok=True)
    for header, source in manifest["headers"].items():
        link = built.here().headers / "ns3" / header
        link.unlink(missing_ok=True)
        link.symlink_to(built.MODULES / source)
    os.utime(kept)
    stamp.write_text(name)
    return True


def _whole(kept: Path) -> dict | None:
    """Return the manifest of a kept build if each of its files is what it was."""
    try:
        manifest = json.loads((kept / MANIFEST).read_text())
        for file, digest in manifest["files"].items():
            if hashlib.sha256((kept / file).read_bytes()).hexdigest() != digest:
                return None
    except (OSError, ValueError, KeyError):
        return None
    return manifest


def keep(name: str) -> None:
    """Keep the build of the build folder; a full disk or a read-only home is no error."""
    home = folder()
    if home is None or (home / name / MANIFEST).exists():
        return
    try:
        home.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".new-", dir=home))
        files = [built.here().typeids, *built.here().module_libraries()]
        digests = {}
        for path in files:
            file = str(path.relative_to(built.here().folder))
            (temporary / file).parent.mkdir(exist_ok=True)
            shutil.copyfile(path, temporary / file)
            digests[file] = hashlib.sha256(path.read_bytes()).hexdigest()
        headers = {
            link.name: str(link.resolve().relative_to(built.MODULES.resolve()))
            for link in (built.here().headers / "ns3").glob("*.h")
        }
        (temporary / MANIFEST).write_text(json.dumps({"files": digests, "headers": headers}))
        if not (home / name).exists():
            temporary.rename(home / name)
        shutil.rmtree(temporary, ignore_errors=True)
        _forget(home)
    except (OSError, ValueError):
        return


def _forget(home: Path) -> None:
    """Remove the builds that nobody has used for longest."""
    kept = sorted(home.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[KEPT:]:
        shutil.rmtree(path, ignore_errors=True)
