# SPDX-License-Identifier: GPL-2.0-only
"""What workloads share: hosts, their leaves and rates."""

from collections.abc import Mapping

import numpy as np


def hosts(nodes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the ids of all hosts, ascending."""
    return np.sort(nodes["node"][nodes["is_switch"] == 0])


def leaf_of(nodes: Mapping[str, np.ndarray], links: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return, for each host in ascending order, the lowest switch that it is connected to."""
    ids = hosts(nodes)
    is_host = np.zeros(int(nodes["node"].max()) + 1, dtype=bool)
    is_host[ids] = True
    ends = np.concatenate([links["node_a"], links["node_b"]])
    others = np.concatenate([links["node_b"], links["node_a"]])
    lowest = np.full(len(is_host), np.iinfo(np.int64).max)
    from_host = is_host[ends]
    np.minimum.at(lowest, ends[from_host], others[from_host])
    return lowest[ids]


def access_rate_bps(nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]) -> np.ndarray:
    """Return, for each host in ascending order, the rate of all its links together [bit/s]."""
    total = np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64)
    for end in ("node_a", "node_b"):
        np.add.at(total, links[end], links["rate_bps"])
    return total[hosts(nodes)]


def equal_messages(src: np.ndarray, dst: np.ndarray, message_bytes: int, start_ps: int) -> dict:
    """Return the columns of messages that have one size and one start."""
    return {
        "src": src,
        "dst": dst,
        "bytes": np.full(len(src), message_bytes, dtype=np.int64),
        "start_ps": np.full(len(src), start_ps, dtype=np.int64),
    }
