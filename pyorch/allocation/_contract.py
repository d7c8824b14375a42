# SPDX-License-Identifier: GPL-2.0-only
"""What a scheduler of jobs has: its parameters, and who gets which hosts."""

from typing import Protocol

import numpy as np

from pyorch.spec.fields import Closed
from pyorch.spec.network import Columns


class Contract(Protocol):
    """One file of this folder."""

    Params: type[Closed]

    @staticmethod
    def allocate(
        params: Closed,
        sizes: list[int],
        nodes: Columns,
        links: Columns,
        seed: int,
    ) -> list[np.ndarray]:
        """Return the hosts of each job, counted from 0; FieldError if there are not enough.

        No host is handed out twice: whoever calls checks that.
        """
