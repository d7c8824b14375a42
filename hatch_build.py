# SPDX-License-Identifier: GPL-2.0-only
"""Puts the built C++ modules into a wheel; everything else about the package is pyproject.toml.

The libraries need no Python: they are linked to those of the ns3 package, whose symbols are the
same for every Python. So one wheel serves all.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement

#: What the build of the modules imports, and what reads their TypeIds.
NEEDED = {"cmake", "cppyy", "ninja", "ns3", "numpy"}


class Modules(BuildHookInterface):
    """Builds the C++ modules, and adds libraries, headers and TypeIds to a wheel."""

    def dependencies(self) -> list[str]:
        """Return what is installed before a build: versions are those of a run."""
        named = self.metadata.core.dependencies
        return [text for text in named if Requirement(text).name in NEEDED]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the modules, unless the package is only linked to: a clone builds for itself."""
        if version == "editable":
            return
        root = Path(self.root)
        path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-m", "pyorch.simulate.build"]
        done = subprocess.run(command, cwd=root, env=os.environ | {"PYTHONPATH": path})
        if done.returncode:
            raise SystemExit("The C++ modules do not build: see above.")
        build = root / "build"
        libraries = [p for p in build.glob("lib/*.so") if not p.stem.endswith("-test")]
        for library in libraries:  # the linker gives another mode than a copy has
            library.chmod(0o644)
        for file in [*libraries, build / "typeids.json", *build.glob("include/ns3/*.h")]:
            self._add(build_data, file.resolve(), file.relative_to(build))
        # A study builds its modules in the same way, and their tests with the same helpers.
        modules = root / "ns3-modules"
        for file in [*modules.glob("cmake/*"), *modules.glob("*/test/*.h")]:
            self._add(build_data, file, file.relative_to(root))
        # Meanings of columns, for those who are handed tables.
        self._add(build_data, root / "docs" / "definitions.md", Path("definitions.md"))
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"

    @staticmethod
    def _add(build_data: dict[str, Any], file: Path, name: Path) -> None:
        build_data["force_include"][str(file)] = f"pyorch/_built/{name.as_posix()}"
