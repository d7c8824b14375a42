# SPDX-License-Identifier: GPL-2.0-only
"""What a format of another simulator has."""

from typing import ClassVar, Protocol

import numpy as np

from pyorch.spec.resolved import Spec


class Contract(Protocol):
    """One file of this folder."""

    NAME: str
    OPTIONAL: ClassVar[tuple[str, ...]] = ("remarks",)

    @staticmethod
    def files(spec: Spec, tables: dict) -> dict[str, str | bytes]:
        """Return what each file holds by its name; what the format cannot say is an error."""

    @staticmethod
    def starts_there(start_ps: np.ndarray) -> np.ndarray:
        """Return the starts as the other simulator reads them [ps]."""

    @staticmethod
    def remarks(tables: dict) -> list[str]:
        """Return sentences on what else the files do not say exactly."""
