# SPDX-License-Identifier: GPL-2.0-only
"""What a workload has: its parameters, what it refuses, and its messages."""

from typing import Protocol

from pyorch.spec.fields import Closed
from pyorch.spec.network import Columns, Network


class Contract(Protocol):
    """One file of this folder; what may be left out is in `OPTIONAL`."""

    Params: type[Closed]
    OPTIONAL = ("tasks", "dependencies", "routes", "changes", "served", "service", "scheduler")

    def check(params: Closed, network: Network, stop_ps: int) -> None:  # noqa: N805
        """Raise FieldError if the workload does not fit the network, or begins after the stop."""

    def flows(params: Closed, nodes: Columns, links: Columns, seed: int) -> Columns:  # noqa: N805
        """Return src, dst, bytes, start_ps and maybe flow, rate_bps, one row for each message."""

    def tasks(params: Closed, nodes: Columns, links: Columns, seed: int) -> Columns:  # noqa: N805
        """Return computations and barriers: kind, node, stream, duration_ps, start_ps.

        Those with ``decides`` 1 are asked about while the run goes on.
        """

    def dependencies(params: Closed) -> Columns:  # noqa: N805
        """Return which rows wait for which, of `flows`, then of `tasks`: flow, after, at_sender."""

    def routes(params: Closed, nodes: Columns, links: Columns) -> Columns:  # noqa: N805
        """Return the paths of flows that keep to a given one: flow, hop, node, peer, ..., or {}."""

    def changes(
        params: Closed,  # noqa: N805
        nodes: Columns,
        links: Columns,
        events: Columns,
    ) -> dict[str, Columns]:
        """Return what becomes of flows as links change (``link_events``): tables or {}.

        ``rate_changes``, and ``routes`` with ``from_ps``.
        """

    def served(
        params: Closed,  # noqa: N805
        nodes: Columns,
        links: Columns,
        seed: int,
    ) -> dict[str, Columns]:
        """Return ``requests``, one for each task that decides, and ``servers``: hosts.

        With `service` and `scheduler` this makes messages and tasks as the run goes on.
        """

    def service(params: Closed):  # noqa: N805
        """Return a `pyorch.serving.Service`."""

    def scheduler(params: Closed, prompt_tokens, answer_tokens):  # noqa: N805
        """Return a `pyorch.serving.Scheduler`."""
