# SPDX-License-Identifier: GPL-2.0-only
"""What a failure model has: its parameters, what it refuses, and its outages."""

from typing import Protocol

import numpy as np

from pyorch.failure._outage import Outages
from pyorch.spec.fields import Closed

Columns = dict[str, np.ndarray]


class Contract(Protocol):
    """One file of this folder."""

    Params: type[Closed]

    @staticmethod
    def check(params: Closed, nodes: Columns, links: Columns, stop_ps: int) -> None:
        """Raise FieldError if it does not fit the network or the time of the run."""

    @staticmethod
    def outages(
        params: Closed,
        nodes: Columns,
        links: Columns,
        seed: int,
        stop_ps: int,
    ) -> Outages:
        """Return the outages that begin before the run stops."""
