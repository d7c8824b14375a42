# SPDX-License-Identifier: GPL-2.0-only
"""What a format of traces has: the keys of a scenario that it uses, and its reader."""

from pathlib import Path
from typing import ClassVar, Protocol

from pyorch.training.foreign import Asked, Trace


class Contract(Protocol):
    """One file of this folder."""

    USES: tuple[str, ...]  # of the keys of `trace` that say what a file leaves open
    OPTIONAL: ClassVar[tuple[str, ...]] = ("others",)

    @staticmethod
    def read(asked: Asked) -> Trace:
        """Return tasks by rank, and sentences on what the files say and the tasks do not.

        FieldError names file and place of what is wrong, at `asked.key` of the workload.
        """

    @staticmethod
    def others(folder: Path, name: str) -> list[str]:
        """Return the files that belong to the one of this name, relative to the folder."""
