# SPDX-License-Identifier: GPL-2.0-only
"""What a format of another simulator has."""

from typing import Protocol

import numpy as np

from pyorch.spec.resolved import Spec


class Contract(Protocol):
    """One file of this folder."""

    NAME: str
    OPTIONAL = ("remarks",)

    def files(spec: Spec, tables: dict) -> dict[str, str | bytes]:  # noqa: N805
        """Return what each file holds by its name; what the format cannot say is an error."""

    def starts_there(start_ps: np.ndarray) -> np.ndarray:  # noqa: N805
        """Return the starts as the other simulator reads them [ps]."""

    def remarks(tables: dict) -> list[str]:  # noqa: N805
        """Return sentences on what else the files do not say exactly."""
