# SPDX-License-Identifier: GPL-2.0-only
"""What an algorithm of collectives has: what it can do, its messages, and their closed form."""

from typing import Protocol

from pyorch.collective._graph import Call, Counts, Graph
from pyorch.spec.fields import Closed


class Contract(Protocol):
    """One file of this folder."""

    OPERATIONS: tuple[str, ...]
    Params: type[Closed]
    IN_NETWORK: bool  # switches add up what messages carry
    OPTIONAL = ("IN_NETWORK",)

    def check(call: Call, params: Closed) -> None:  # noqa: N805
        """Raise FieldError if the algorithm cannot do this: key of the workload or of Params."""

    def graph(call: Call, params: Closed) -> Graph:  # noqa: N805
        """Return the messages; each waits for rows above it alone."""

    def counts(call: Call, params: Closed) -> Counts:  # noqa: N805
        """Return how many messages and bytes there are, without making them."""
