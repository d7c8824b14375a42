# SPDX-License-Identifier: GPL-2.0-only
"""What a controller has: its parameters, and what it decides at an epoch of a run."""

from typing import Any, Protocol

from pyorch.spec.fields import Closed
from pyorch.wan.online import Seen
from pyorch.wan.plan import Plan
from pyorch.wan.request import Request


class Contract(Protocol):
    """One file of this folder."""

    Params: type[Closed]

    @staticmethod
    def plan(
        params: Closed,
        request: Request,
        seen: Seen,
        memory: dict[str, Any],
    ) -> Plan:
        """Return a grant for each demand of `request`, in its order.

        Its links are those that are up, with the rates that they have; its demands are as
        configured: what they ask for now only `seen` tells. Splits are multiples of 1 / quanta.
        `memory` is kept from epoch to epoch. The same arguments give the same plan.
        """
