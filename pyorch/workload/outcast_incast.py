# SPDX-License-Identifier: GPL-2.0-only
"""One host sends to several while one of its receivers also receives from others.

The shared message competes at both ends: its sender has `targets` messages (outcast), its receiver
gets `senders` (incast). With fair sharing at each link it gets the smaller of the two shares, and
whoever holds the rest back shows how well a transport fills both links.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.draws import stream
from pyorch.spec.fields import Closed, FieldError, Flag, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import equal_messages, hosts

Fan = Annotated[int, Field(strict=True, ge=1)]


class Params(Closed):
    """Messages of the outcast and of the incast; the shared one counts in both.

    Hosts in order: the sender, the shared receiver, the other receivers, the other senders; or
    all drawn at random.
    """

    targets: Fan
    senders: Fan
    message_bytes: MessageBytes = Field(alias="message")
    random_hosts: Flag = False
    start_ps: TimePs = Field(0, alias="start")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if there are not that many hosts."""
    counts = network.counts
    needed = params.targets + params.senders
    if needed > counts["hosts"]:
        raise FieldError(
            "senders",
            f"{params.targets} targets and {params.senders} senders are {needed} different hosts;"
            f" the topology has {counts['hosts']}.",
        )


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the shared message, the rest of the outcast, the rest of the incast."""
    ids = hosts(nodes)
    if params.random_hosts:
        ids = stream(seed, "outcast_incast").permutation(ids)
    sender, receiver = ids[0], ids[1]
    others_out = ids[2 : params.targets + 1]
    others_in = ids[params.targets + 1 : params.targets + params.senders]
    src = np.concatenate([np.full(params.targets, sender), others_in])
    dst = np.concatenate([[receiver], others_out, np.full(len(others_in), receiver)])
    return equal_messages(src, dst, params.message_bytes, params.start_ps)
