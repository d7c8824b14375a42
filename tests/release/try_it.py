# SPDX-License-Identifier: GPL-2.0-only
"""Installs a wheel or a source distribution into an empty environment, and uses it as a user would.

    python tests/release/try_it.py dist/pyorch-0.1.0-py3-none-manylinux_2_34_x86_64.whl

There is no repository, an empty home, and the installed files cannot be written to: a scenario, a
sweep, a study with one plug-in of each kind, and a package with plug-ins. Standard library only.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "docs" / "extending" / "package"
sys.path.insert(0, str(ROOT / "tests" / "extending"))

from every_kind import make_and_use  # noqa: E402

SCENARIO = """\
name: one
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 1 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
sweep: {workload.message: [100 kB, 1 MB]}
"""


class Installed:
    """An environment with pyorch in it, and an empty home."""

    def __init__(self, place: Path):
        self.place, self.environment = place, place / "environment"
        (place / "home").mkdir()
        self.variables = {
            "PATH": f"{self.environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(place / "home"),
            "LANG": "C.UTF-8",
        }
        venv.create(self.environment, with_pip=True)

    def install(self, what: Path) -> None:
        """Install a file or folder, with the packages it needs, from pip's usual cache."""
        self._call(
            [self.environment / "bin" / "pip", "install", "--quiet", "--no-compile", str(what)],
            self.place, os.environ | {"PATH": self.variables["PATH"]},
        )  # fmt: skip

    def run(self, command: str, folder: Path) -> str:
        """Run a shell command as a user would; return its output."""
        return self._call(["/bin/sh", "-c", command], folder, self.variables)

    def _call(self, command: list, folder: Path, variables: dict) -> str:
        began_s = time.monotonic()
        done = subprocess.run(
            command, cwd=folder, env=variables, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit {done.returncode}")
        print(f"  {time.monotonic() - began_s:5.1f} s  {command[-1]}", flush=True)
        return done.stdout

    def files(self) -> dict[Path, str]:
        """Return the digest of each file of the package."""
        (package,) = self.environment.glob("lib/python3*/site-packages/pyorch")
        return {
            path: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in package.rglob("*") if path.suffix != ".pyc" and path.is_file()
        }  # fmt: skip


def main() -> None:
    """Try one file."""
    with tempfile.TemporaryDirectory(prefix="pyorch-release-") as folder:
        installed = Installed(Path(folder))
        installed.install(Path(sys.argv[1]).resolve())
        before = installed.files()
        for path in installed.environment.rglob("*"):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
        work = Path(folder) / "work"
        work.mkdir()
        (work / "one.yaml").write_text(SCENARIO)
        installed.run("pyorch run one.yaml --set 'workload.message=100 kB'", work)
        installed.run("pyorch sweep one.yaml --metric completion", work)
        installed.run("pyorch init study", work)
        make_and_use(lambda command: installed.run(command, work / "study"), work / "study")
        assert installed.files() == before, "files of the package were written to"

        for path in installed.environment.rglob("*"):
            if path.is_dir():
                path.chmod(path.stat().st_mode | 0o200)
        installed.install(PACKAGE)
        shutil.copy(PACKAGE / "cut.yaml", work / "study" / "scenarios")
        installed.run("pyorch sweep scenarios/cut.yaml --metric lost_share", work / "study")
        assert installed.files() == before, "files of the package were written to"


if __name__ == "__main__":
    main()
