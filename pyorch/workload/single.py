# SPDX-License-Identifier: GPL-2.0-only
"""Messages between two hosts on an otherwise idle network: one, or several at once."""

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, Count, FieldError, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import equal_messages, hosts


class Params(Closed):
    """From the host with index `source` to that with index `target`; -1 is the last host."""

    messages: Count = 1
    message_bytes: MessageBytes = Field(alias="message")
    source: int = Field(0, ge=-1, strict=True)
    target: int = Field(-1, ge=-1, strict=True)
    start_ps: TimePs = Field(0, alias="start")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the two are one host, or a host that is not there."""
    counts = network.counts
    for name in ("source", "target"):
        if getattr(params, name) >= counts["hosts"]:
            raise FieldError(
                name,
                f"{getattr(params, name)}: hosts are counted from 0 to {counts['hosts'] - 1}.",
            )
    if params.source % counts["hosts"] == params.target % counts["hosts"]:
        raise FieldError("target", f"{params.target}: is the source too. Choose another host.")


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the flows."""
    ids = hosts(nodes)
    src, dst = (np.repeat(ids[host], params.messages) for host in (params.source, params.target))
    return equal_messages(src, dst, params.message_bytes, params.start_ps)
