# SPDX-License-Identifier: GPL-2.0-only
"""Each of the first n hosts sends one message to each of the others, all at the same time.

Flow ids go round: first everybody's message to the next host, then to the one after it.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, Count, FieldError, MessageBytes, TimePs
from pyorch.spec.limits import MOST_FLOWS
from pyorch.spec.network import Network
from pyorch.workload._hosts import equal_messages, hosts


class Params(Closed):
    """`hosts` take part (0: all), every `spacing`-th host from the first.

    With `server_hosts` each so many in a row are a server, and send each other nothing.
    """

    message_bytes: MessageBytes = Field(alias="message")
    hosts: Annotated[int, Field(strict=True, ge=0)] = 0
    spacing: Annotated[int, Field(strict=True, ge=1)] = 1
    server_hosts: Count = 1
    start_ps: TimePs = Field(0, alias="start")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not that many hosts, or only one."""
    counts = network.counts
    available = -(-counts["hosts"] // params.spacing)
    if params.hosts > available or (params.hosts or available) < 2:
        raise FieldError(
            "hosts",
            f"{params.hosts or available} hosts of {available} (every {params.spacing}. of"
            f" {counts['hosts']}); write 2 to {available}, or 0 for all.",
        )
    n = params.hosts or available
    if params.server_hosts >= n:
        raise FieldError(
            "server_hosts", f"all {n} hosts are one server, so nobody sends. Lower it, to 1 for no"
            " servers.",
        )  # fmt: skip
    if n * (n - 1) > MOST_FLOWS:
        raise FieldError(
            "hosts", f"{n} hosts send {n * (n - 1):,} messages; at most {MOST_FLOWS:,}. Lower it,"
            " or raise spacing.",
        )  # fmt: skip


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return n (n - 1) flows, or fewer with servers of several hosts."""
    ids = hosts(nodes)[:: params.spacing]
    ids = ids[: params.hosts] if params.hosts else ids
    n = len(ids)
    src = np.tile(np.arange(n), n - 1)
    dst = (src + np.repeat(np.arange(1, n), n)) % n
    apart = src // params.server_hosts != dst // params.server_hosts
    return equal_messages(ids[src[apart]], ids[dst[apart]], params.message_bytes, params.start_ps)
