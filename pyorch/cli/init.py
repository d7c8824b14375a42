# SPDX-License-Identifier: GPL-2.0-only
"""A study: a folder of one's own with scenarios, figures and modules, anywhere."""

import shutil
from pathlib import Path

from pyorch.errors import OutputError
from pyorch.writing import make_folder

#: What a new study holds; ``gitignore`` gets its dot there.
CONTENT = Path(__file__).resolve().parents[1] / "study"


def init(folder: Path) -> list[Path]:
    """Make a study; return its files.

    Raises
    ------
    OutputError
        A file that it would have is there already: nothing is replaced.
    """
    sources = sorted(path for path in CONTENT.rglob("*") if path.is_file() and _belongs(path))
    targets = [folder / _named(path.relative_to(CONTENT)) for path in sources]
    for target in targets:
        if target.exists():
            raise OutputError(
                f"{target}: is there already, and nothing was written."
                " Name another folder: python -m pyorch init my-study"
            )
    for source, target in zip(sources, targets, strict=True):
        make_folder(target.parent)
        shutil.copyfile(source, target)
    return targets


def _belongs(path: Path) -> bool:
    return "__pycache__" not in path.parts


def _named(path: Path) -> Path:
    return path.with_name(".gitignore") if path.name == "gitignore" else path
