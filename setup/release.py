# SPDX-License-Identifier: GPL-2.0-only
"""Writes a wheel and a source distribution of a clean clone, then tries both elsewhere.

    make release        # dist/pyorch-<version>.tar.gz, ...-py3-none-....whl, ...-constraints.txt

The wheel is built from the source distribution. It is the same, byte for byte, in any folder: the
time of its files is that of the commit. auditwheel checks the oldest Linux that its tag admits.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
#: The oldest C library that Debian 12's compiler links to.
PLATFORM = "manylinux_2_34_x86_64"
TRY = ROOT / "tests" / "release" / "try_it.py"


def output_of(*command: object) -> str:
    """Return what a program prints; it must succeed."""
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def main() -> None:
    """Build, check and name both files."""
    target = Path(sys.argv[1]).resolve()
    if edited := output_of("git", "status", "--porcelain"):
        sys.exit(f"A release is built from a commit, and these files differ from it:\n{edited}")
    os.environ["SOURCE_DATE_EPOCH"] = output_of("git", "log", "-1", "--format=%ct")
    with tempfile.TemporaryDirectory() as folder:
        output_of(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        (wheel,), (sources,) = Path(folder).glob("*.whl"), Path(folder).glob("*.tar.gz")
        ours = [f"--exclude={name}" for name in ("libns3.*", *libraries(wheel))]
        output_of(
            sys.executable, "-m", "auditwheel", "repair", f"--plat={PLATFORM}", *ours,
            f"--wheel-dir={target}", wheel,
        )  # fmt: skip
        sources.rename(target / sources.name)
    version = sources.name.removesuffix(".tar.gz")
    (target / f"{version}-constraints.txt").write_text(constraints())
    for path in (target / sources.name, *target.glob(f"{version}-*.whl")):
        print(f"Trying {path.name}:", flush=True)
        subprocess.run([sys.executable, TRY, path], check=True)
    for path in sorted(target.glob("pyorch-*")):
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}")


def constraints() -> str:
    """Return the versions that were tested, for pip's --constraint: the lock without digests."""
    pins = re.findall(r"^(\S+==\S+(?: ; .*?)?) \\$", LOCK.read_text(), re.MULTILINE)
    return "".join(f"{pin}\n" for pin in pins)


def libraries(wheel: Path) -> list[str]:
    """Return the names of the libraries of a wheel, which find each other as a run loads them."""
    names = output_of(sys.executable, "-m", "zipfile", "-l", wheel).split()
    return sorted({Path(name).name for name in names if name.endswith(".so")})


if __name__ == "__main__":
    main()
