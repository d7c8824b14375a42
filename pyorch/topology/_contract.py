# SPDX-License-Identifier: GPL-2.0-only
"""What a topology has: its parameters, its tables, and its numbers in closed form."""

from typing import ClassVar, Protocol

import numpy as np

from pyorch.spec.fields import Closed
from pyorch.spec.resolved import Link


class Contract(Protocol):
    """One file of this folder."""

    Params: type[Closed]
    OWN_LINKS: bool  # rates and delays are not those of `link`, which may leave them out
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        "OWN_LINKS",
        "relays",
        "reach",
        "networks",
        "top_switches",
        "remarks",
    )

    @staticmethod
    def tables(params: Closed, link: Link) -> dict[str, dict[str, np.ndarray]]:
        """Return the node and link tables; columns as in docs/definitions.md."""

    @staticmethod
    def counts(params: Closed) -> dict[str, int]:
        """Return at least hosts, hosts_per_leaf and cables, without making the tables.

        What is to be a site of multi_site has switches and top_switches (of the highest tier) too.
        """

    @staticmethod
    def relays(params: Closed, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the host that takes in a message whole and sends it on; -1 where none has to.

        A topology in which some host does has `rails` among its counts.
        """

    @staticmethod
    def reach(params: Closed, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return the network that carries each message, as an index of `REACHES`.

        Without this function the scale-out network carries all of them.
        """

    @staticmethod
    def networks(params: Closed, link: Link) -> list[str]:
        """Return the name of the network of each node, row by row of its table; hosts have any.

        Without this function the planes are the networks.
        """

    @staticmethod
    def top_switches(params: Closed, nodes: dict[str, np.ndarray]) -> np.ndarray:
        """Return the switches to which border switches of multi_site have links.

        Without this function they are those of the highest tier.
        """

    @staticmethod
    def remarks(params: Closed) -> tuple[str, ...]:
        """Return sentences on what a file says and a run does not follow, each on one line."""
