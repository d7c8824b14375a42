# SPDX-License-Identifier: GPL-2.0-only
"""What an algorithm of collectives has: what it can do, its messages, and their closed form."""

from typing import ClassVar, Protocol

from pyorch.collective._graph import Call, Counts, Graph
from pyorch.spec.fields import Closed


class Contract(Protocol):
    """One file of this folder."""

    OPERATIONS: tuple[str, ...]
    Params: type[Closed]
    IN_NETWORK: bool  # switches add up what messages carry
    OPTIONAL: ClassVar[tuple[str, ...]] = ("IN_NETWORK", "remarks")

    @staticmethod
    def remarks(params: Closed) -> tuple[str, ...]:
        """Return sentences on what a file says and the messages do not follow."""

    @staticmethod
    def check(call: Call, params: Closed) -> None:
        """Raise FieldError if the algorithm cannot do this: key of the workload or of Params."""

    @staticmethod
    def graph(call: Call, params: Closed) -> Graph:
        """Return the messages; each waits for rows above it alone."""

    @staticmethod
    def counts(call: Call, params: Closed) -> Counts:
        """Return how many messages and bytes there are, without making them."""
