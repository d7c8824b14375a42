# SPDX-License-Identifier: GPL-2.0-only
"""N hosts send one message each to the same host at the same time."""

import numpy as np
from pydantic import Field

from pyorch.draws import stream
from pyorch.spec.fields import Closed, Count, FieldError, Flag, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import hosts


class Params(Closed):
    """`senders` messages to the host with index `receiver`.

    The senders are the hosts after the receiver in order, or drawn at random.
    """

    senders: Count
    message_bytes: MessageBytes = Field(alias="message")
    receiver: int = Field(0, ge=0, strict=True)
    start_ps: TimePs = Field(0, alias="start")
    random_senders: Flag = False


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not that many hosts."""
    counts = network.counts
    if params.receiver >= counts["hosts"]:
        raise FieldError(
            "receiver", f"{params.receiver}: hosts are counted from 0 to {counts['hosts'] - 1}."
        )
    if params.senders > counts["hosts"] - 1:
        raise FieldError(
            "senders",
            f"{params.senders} senders and a receiver do not fit {counts['hosts']} hosts;"
            f" at most {counts['hosts'] - 1}.",
        )


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return one flow for each sender."""
    ids = hosts(nodes)
    others = np.roll(ids, -params.receiver)[1:]
    if params.random_senders:
        src = stream(seed, "incast").choice(others, size=params.senders, replace=False)
    else:
        src = others[: params.senders]
    n = params.senders
    return {
        "src": src,
        "dst": np.full(n, ids[params.receiver], dtype=np.int64),
        "bytes": np.full(n, params.message_bytes, dtype=np.int64),
        "start_ps": np.full(n, params.start_ps, dtype=np.int64),
    }
