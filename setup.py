# SPDX-License-Identifier: GPL-2.0-only
"""Puts the built C++ modules into a wheel; everything else about the package is pyproject.toml.

make wheel    # dist/pyorch-<version>-cp3<n>-none-linux_x86_64.whl
"""

import shutil
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"


class WithModules(build_py):
    """Copies libraries, headers and TypeIds beside the Python code."""

    def run(self):
        super().run()
        if self.editable_mode:
            return  # works in the repository, which builds for itself
        libraries = [path for path in BUILD.glob("lib/*.so") if not path.stem.endswith("-test")]
        if not libraries or not (BUILD / "typeids.json").exists():
            raise SystemExit(f"{BUILD}: the C++ modules are not built. Run: make setup")
        target = Path(self.build_lib) / "pyorch" / "_built"
        shutil.rmtree(target, ignore_errors=True)
        for path in [*libraries, BUILD / "typeids.json", *BUILD.glob("include/ns3/*.h")]:
            copy = target / path.relative_to(BUILD)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        # Modules of a study are built in the same way.
        shutil.copytree(ROOT / "ns3-modules" / "cmake", target / "cmake")


class ForThisPython(bdist_wheel):
    """Libraries are built against the ns3 wheel of one Python on one kind of machine."""

    def get_tag(self):
        _, _, platform = super().get_tag()
        return f"cp{sys.version_info.major}{sys.version_info.minor}", "none", platform


class Binary(Distribution):
    """What makes the platform a part of the wheel's name."""

    def has_ext_modules(self):
        return True


setup(
    cmdclass={"build_py": WithModules, "bdist_wheel": ForThisPython},
    distclass=Binary,
    options={"build": {"build_base": "build/wheel"}},
)
