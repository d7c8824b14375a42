# SPDX-License-Identifier: GPL-2.0-only
"""Receivers that tell when they have room: a message goes when its buffer has been announced.

Source: Gangidi et al., "RDMA over Ethernet for distributed AI training at Meta scale", SIGCOMM
2024, receiver-driven admission: NCCL sends a clear-to-send for each buffer that is free.
"""

import numpy as np
from pydantic import Field

from pyorch.collective._graph import AT_RECEIVER, Graph
from pyorch.spec.fields import Closed, Count, MessageBytes
from pyorch.workload._queue_pairs import turns

#: The `step` of an announcement, which has no place in the algorithm.
ANNOUNCEMENT = -1


class ClearToSend(Closed):
    """Buffers that a receiver has for each sender, and the size of an announcement."""

    buffers: Count = 8
    announcement_bytes: MessageBytes = Field(64, alias="bytes")


def with_announcements(graph: Graph, lane: np.ndarray, given: ClearToSend) -> Graph:
    """Return messages with an announcement before each, which it waits for.

    A receiver announces a buffer to a sender when what was in it has come: that many messages
    before. The first of them are announced at once. An announcement is the row above its message.

    Parameters
    ----------
    graph : Graph
        Messages in the order in which a sender hands them over.
    lane : ndarray, one per message
        Which of several connections between the same two ranks carries it.
    given : ClearToSend
        Buffers and bytes.
    """
    n = len(graph.src)
    announced, message = 2 * np.arange(n), 2 * np.arange(n) + 1
    order = np.lexsort([turns(graph.src, graph.dst, lane), lane, graph.dst, graph.src])
    turn = turns(graph.src, graph.dst, lane)[order]
    later = np.flatnonzero(turn >= given.buffers)
    freed, waiting = order[later - given.buffers], order[later]

    def woven(own: np.ndarray | int | bool, of_messages: np.ndarray) -> np.ndarray:
        column = np.empty(2 * n, dtype=of_messages.dtype)
        column[announced], column[message] = own, of_messages
        return column

    return Graph(
        src=woven(graph.dst, graph.src), dst=woven(graph.src, graph.dst),
        bytes=woven(given.announcement_bytes, graph.bytes), step=woven(ANNOUNCEMENT, graph.step),
        own=woven(True, graph.own), needed=woven(False, graph.needed),
        reduced=woven(False, graph.reduced),
        flow=np.concatenate([message[graph.flow], message, announced[waiting]]),
        after=np.concatenate([message[graph.after], announced, message[freed]]),
        at_sender=np.concatenate([graph.at_sender, np.full(n + len(later), AT_RECEIVER)]),
    )  # fmt: skip
