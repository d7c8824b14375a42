# SPDX-License-Identifier: GPL-2.0-only
"""The C++ modules, as they must be before the names of runs are known."""

import os
import subprocess
import sys
from pathlib import Path

from pyorch import jobs, trust
from pyorch.built import INSTALLED, IS_PACKAGED, MODULES, REPOSITORY, here, module_folders, study
from pyorch.errors import BuildError

#: Written by a build that has succeeded: when it began.
STAMP = ".up_to_date"


def bring_up_to_date() -> None:
    """Build the C++ modules if a source is newer than what was built of it.

    A build that was chosen with PYORCH_BUILD is used as it is, and so is that of a wheel. Whoever
    builds the modules of a study trusts its plug-ins in Python as well.

    Raises
    ------
    BuildError
        They do not build; the compiler has said why.
    """
    trust.grant(study())
    build = here()
    if "PYORCH_SANITIZE" in os.environ and not build.study:
        raise BuildError("PYORCH_SANITIZE is for a study that has modules; this folder has none.")
    if not IS_PACKAGED and "PYORCH_BUILD" not in os.environ:
        _build(INSTALLED, [MODULES], REPOSITORY, "make setup")
    if build.study:
        sources = [*module_folders(build.study), INSTALLED / build.typeids.name]
        _build(build.folder, sources, build.study, "python -m pyorch.simulate.build")


def note_success(began_ns: int) -> None:
    """Note that what the sources were at a time has been built."""
    stamp = here().folder / STAMP
    stamp.touch()
    os.utime(stamp, ns=(began_ns, began_ns))


def _build(folder: Path, sources: list[Path], where: Path, alone: str) -> None:
    command = [sys.executable, "-P", "-m", "pyorch.simulate.build"]
    environment = os.environ | {jobs.PARENT: str(os.getpid())}
    if _is_older(folder / STAMP, sources) and (
        subprocess.run(command, cwd=where, env=environment).returncode
    ):
        raise BuildError(f"the C++ modules do not build; see above. Alone: {alone}")


def _is_older(stamp: Path, sources: list[Path]) -> bool:
    """Return whether a source has changed since a build, or one has come or gone."""
    try:
        built_ns = stamp.stat().st_mtime_ns
    except OSError:
        return True
    paths = (path for source in sources for path in [source, *source.rglob("*")])
    return any(path.suffix != ".md" and _changed_ns(path) > built_ns for path in paths)


def _changed_ns(path: Path) -> int:
    stat = path.lstat()
    return max(stat.st_mtime_ns, stat.st_ctime_ns)
