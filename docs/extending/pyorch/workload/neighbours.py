# SPDX-License-Identifier: GPL-2.0-only
"""Host i sends one message to each of the hosts i - distance and i + distance, counted around."""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, FieldError, MessageBytes, TimePs
from pyorch.spec.network import Network
from pyorch.workload._hosts import equal_messages, hosts


class Params(Closed):
    """Two messages for each host, all started at once."""

    distance: Annotated[int, Field(strict=True, ge=1)] = 1
    message_bytes: MessageBytes = Field(alias="message")
    start_ps: TimePs = Field(0, alias="start")


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the two neighbours of a host are one, or the host itself."""
    counts = network.counts
    if 2 * params.distance >= counts["hosts"]:
        raise FieldError(
            "distance",
            f"{params.distance}: with {counts['hosts']} hosts the two neighbours must be two hosts."
            f" Write 1 to {max((counts['hosts'] - 1) // 2, 1)}.",
        )


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return two flows for each host, by source; the seed decides nothing here."""
    ids = hosts(nodes)
    both = np.stack([np.roll(ids, params.distance), np.roll(ids, -params.distance)], axis=1)
    return equal_messages(np.repeat(ids, 2), both.ravel(), params.message_bytes, params.start_ps)
