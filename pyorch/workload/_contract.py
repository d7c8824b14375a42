# SPDX-License-Identifier: GPL-2.0-only
"""What a workload has: its parameters, what it refuses, and its messages."""

from typing import ClassVar, Protocol

from pyorch.spec.fields import Closed
from pyorch.spec.network import Columns, Network


class Contract(Protocol):
    """One file of this folder; what may be left out is in `OPTIONAL`."""

    Params: type[Closed]
    OPTIONAL: ClassVar[tuple[str, ...]] = (
        "tasks",
        "dependencies",
        "routes",
        "changes",
        "served",
        "service",
        "scheduler",
        "IS_OPEN",
        "remarks",
    )
    #: A program sends messages while the run goes on.
    IS_OPEN: bool

    @staticmethod
    def check(params: Closed, network: Network, stop_ps: int) -> None:
        """Raise FieldError if the workload does not fit the network, or begins after the stop."""

    @staticmethod
    def flows(params: Closed, nodes: Columns, links: Columns, seed: int) -> Columns:
        """Return src, dst, bytes, start_ps, maybe flow, rate_bps, connection; a row a message."""

    @staticmethod
    def tasks(params: Closed, nodes: Columns, links: Columns, seed: int) -> Columns:
        """Return computations and barriers: kind, node, stream, duration_ps, start_ps.

        Those with ``decides`` 1 are asked about while the run goes on.
        """

    @staticmethod
    def dependencies(params: Closed) -> Columns:
        """Return which rows wait for which, of `flows`, then of `tasks`: flow, after, at_sender."""

    @staticmethod
    def routes(params: Closed, nodes: Columns, links: Columns) -> Columns:
        """Return the paths of flows that keep to a given one: flow, hop, node, peer, ..., or {}."""

    @staticmethod
    def changes(
        params: Closed,
        nodes: Columns,
        links: Columns,
        events: Columns,
    ) -> dict[str, Columns]:
        """Return what becomes of flows as links change (``link_events``): tables or {}.

        ``rate_changes``, and ``routes`` with ``from_ps``.
        """

    @staticmethod
    def served(
        params: Closed,
        nodes: Columns,
        links: Columns,
        seed: int,
    ) -> dict[str, Columns]:
        """Return ``requests``, one for each task that decides, and ``servers``: hosts.

        With `service` and `scheduler` this makes messages and tasks as the run goes on.
        """

    @staticmethod
    def service(params: Closed):
        """Return a `pyorch.serving.Service`."""

    @staticmethod
    def scheduler(params: Closed, prompt_tokens, answer_tokens):
        """Return a `pyorch.serving.Scheduler`."""

    @staticmethod
    def remarks(params: Closed) -> tuple[str, ...]:
        """Return what users should know before a run, each on one line."""
