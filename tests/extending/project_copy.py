# SPDX-License-Identifier: GPL-2.0-only
"""The page docs/extending.md in parts, and a copy of the project to follow it in."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from pyorch import built
from pyorch.simulate import build

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "extending.md"
EXAMPLE = ROOT / "docs" / "extending"
#: What is made, at the top and anywhere; no part of the project.
MADE = {".git", ".venv", "build", "results", "figures", "logs", ".snakemake", ".pytest_cache",
        ".ruff_cache", ".hypothesis", "pyorch.egg-info"}  # fmt: skip
CACHE = "__pycache__"


def blocks() -> list[tuple[str, str, str]]:
    """Return language, file and text of each block of code of the page; commands have no file."""
    found, file = [], ""
    parts = re.finditer(r"^`(\S+)`:$|^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    for name, language, text in (part.groups() for part in parts):
        file = name or file
        if language:
            found.append((language, "" if language == "sh" else file, text))
    return found


def _made(folder: str, names: list[str]) -> set[str]:
    return set(names) & (MADE | {CACHE} if Path(folder) == ROOT else {CACHE})


def environment(folder: Path) -> dict[str, str]:
    """Return the variables under which commands of a copy run.

    The engine is not compiled again: the bytes of its objects do not depend on the folder.
    """
    build.build()  # nothing to do after `make setup`
    variables = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "CMAKE_CXX_COMPILER_LAUNCHER": str(Path(__file__).with_name("compile-once")),
        "COMPILED": str(built.here().folder),
    }
    variables.pop("PYORCH_BUILD", None)
    return variables


class Copy:
    """A copy of the project, in which commands run as they would for a user."""

    def __init__(self, folder: Path):
        self.folder = folder
        shutil.copytree(ROOT, folder, ignore=_made)
        self._environment = environment(folder)

    def run(self, command: str) -> str:
        """Run a line of the page and return what it printed."""
        done = subprocess.run(
            command, shell=True, cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=self._environment,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def files(self) -> dict[str, str]:
        """Return a hash of every file that is no result, by its path."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
            and path.relative_to(self.folder).parts[0] not in MADE
            and CACHE not in path.parts
        }
