# SPDX-License-Identifier: GPL-2.0-only
"""The queue pairs of a connection: which one carries a message, or which parts of it.

A queue pair has one header, so one path where switches hash: all that it carries takes that path.

Source: NCCL 2.30.7, src/transport/net_ib: NCCL_IB_QPS_PER_CONNECTION, NCCL_IB_SPLIT_DATA_ON_QPS.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.collective._graph import Graph
from pyorch.spec.fields import Closed, Flag

#: Parts of a message that is split begin at multiples of this [byte].
ALIGNED_BYTES = 128


class Connection(Closed):
    """How many queue pairs a connection has; its messages take them in turns."""

    per_connection: Annotated[int, Field(strict=True, ge=1, le=128)] = 1


class QueuePairs(Connection):
    """The same, or with `split` each message takes all of them."""

    split: Flag = False


def over_queue_pairs(
    graph: Graph, lane: np.ndarray, pairs: QueuePairs, shared: np.ndarray
) -> tuple[Graph, np.ndarray]:
    """Return messages, cut where they are split, and the queue pair of each, from 1.

    Parameters
    ----------
    graph : Graph
        Messages in the order in which a sender hands them over.
    lane : ndarray, one per message
        Which of several connections between the same two ranks carries it, from 0.
    pairs : QueuePairs
        How many there are, and who takes them.
    shared : ndarray of bool, one per message
        Whether all queue pairs carry messages of this kind; the first one carries all others.
    """
    n = pairs.per_connection
    if not pairs.split or n == 1:
        turn = turns(graph.src, graph.dst, 2 * lane + shared)
        return graph, 1 + lane * n + np.where(shared, turn % n, 0)
    aligned = -(-graph.bytes // (n * ALIGNED_BYTES)) * ALIGNED_BYTES
    size = np.maximum(1, np.where(shared, aligned, graph.bytes))
    parts = np.maximum(1, -(-graph.bytes // size))
    first = np.cumsum(parts) - parts
    whole = np.repeat(np.arange(len(parts)), parts)
    part = np.arange(len(whole)) - first[whole]
    size_bytes = np.minimum(size[whole], graph.bytes[whole] - part * size[whole])
    columns = {name: getattr(graph, name)[whole] for name in
               ("src", "dst", "step", "own", "needed", "reduced")}  # fmt: skip
    # What waits for a message waits for all of its parts, and so does each part of what waits.
    times = parts[graph.flow] * parts[graph.after]
    row = np.repeat(np.arange(len(times)), times)
    within = np.arange(len(row)) - (np.cumsum(times) - times)[row]
    of_flow, of_after = np.divmod(within, parts[graph.after][row])
    cut = Graph(
        **columns, bytes=size_bytes, flow=first[graph.flow][row] + of_flow,
        after=first[graph.after][row] + of_after, at_sender=graph.at_sender[row],
    )  # fmt: skip
    return cut, 1 + lane[whole] * n + part


def messages_of(pair: np.ndarray, pairs: QueuePairs) -> np.ndarray:
    """Return which message each row is or is a part of, from 0, by the queue pair that carries it.

    `over_queue_pairs` puts parts one behind the other, the first one on the first queue pair.
    """
    if not pairs.split:
        return np.arange(len(pair))
    return np.cumsum((pair - 1) % pairs.per_connection == 0) - 1


def turns(src: np.ndarray, dst: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """Return which message of its connection each is, from 0."""
    order = np.lexsort([np.arange(len(lane)), lane, dst, src])
    ends = np.stack([src[order], dst[order], lane[order]])
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = (ends[:, 1:] != ends[:, :-1]).any(axis=0)
    row = np.arange(len(order))
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = row - np.maximum.accumulate(np.where(begins, row, 0))
    return turn
