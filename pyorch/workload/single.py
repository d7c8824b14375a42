# SPDX-License-Identifier: GPL-2.0-only
"""One message between two hosts on an otherwise idle network."""

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, FieldError, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import hosts


class Params(Closed):
    """From the host with index `source` to that with index `target`; -1 is the last host."""

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
    """Return the one flow."""
    ids = hosts(nodes)
    return {
        "src": ids[[params.source]],
        "dst": ids[[params.target]],
        "bytes": np.array([params.message_bytes], dtype=np.int64),
        "start_ps": np.array([params.start_ps], dtype=np.int64),
    }
