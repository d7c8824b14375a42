# SPDX-License-Identifier: GPL-2.0-only
"""Host i sends one message to host i + stride, counted around: a regular permutation."""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, FieldError, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import equal_messages, hosts


class Params(Closed):
    """One message for each host, all started at once."""

    stride: Annotated[int, Field(strict=True, ge=1)]
    message_bytes: MessageBytes = Field(alias="message")
    start_ps: TimePs = Field(0, alias="start")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if a host would send to itself."""
    counts = network.counts
    if params.stride % counts["hosts"] == 0:
        raise FieldError(
            "stride",
            f"{params.stride}: with {counts['hosts']} hosts each would send to itself. Write 1 to"
            f" {max(counts['hosts'] - 1, 1)}.",
        )


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return one flow for each host, by source."""
    ids = hosts(nodes)
    return equal_messages(ids, np.roll(ids, -params.stride), params.message_bytes, params.start_ps)
