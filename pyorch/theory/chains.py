# SPDX-License-Identifier: GPL-2.0-only
"""Takes messages that wait for one another, returns how soon each could end with nobody in its way.

The longest chain is the least time of a collective on an ideal network; so are the bytes of its
busiest port.
"""

import numpy as np

from pyorch.errors import TheoryError


def earliest_ends_ps(
    alone_ps: np.ndarray, flow: np.ndarray, after: np.ndarray, gap_ps: np.ndarray
) -> np.ndarray:
    """Return when each message could be at its receiver, from the start of the first [ps].

    Parameters
    ----------
    alone_ps : ndarray of int64, n_messages
        What each takes alone.
    flow, after, gap_ps : ndarray of int64, n_dependencies
        Row `flow` begins no sooner than `gap_ps` after the end of row `after`.

    Raises
    ------
    TheoryError
        Messages wait for each other.
    """
    order = np.argsort(after, kind="stable")
    flow, gap_ps = flow[order], gap_ps[order]
    first = np.searchsorted(after[order], np.arange(len(alone_ps) + 1))
    waits = np.bincount(flow, minlength=len(alone_ps))
    start_ps = np.zeros(len(alone_ps), dtype=np.int64)
    ready, n_done = np.flatnonzero(waits == 0), 0
    while len(ready):
        n_done += len(ready)
        n_followers = first[ready + 1] - first[ready]
        within = np.arange(n_followers.sum())
        within -= np.repeat(np.cumsum(n_followers) - n_followers, n_followers)
        rows = np.repeat(first[ready], n_followers) + within
        ends_ps = np.repeat(start_ps[ready] + alone_ps[ready], n_followers)
        np.maximum.at(start_ps, flow[rows], ends_ps + gap_ps[rows])
        np.subtract.at(waits, flow[rows], 1)
        ready = np.unique(flow[rows][waits[flow[rows]] == 0])
    if n_done < len(alone_ps):
        raise TheoryError(f"{len(alone_ps) - n_done} messages wait for each other.")
    return start_ps + alone_ps


def busiest_port_ps(host: np.ndarray, busy_ps: np.ndarray, alone_ps: np.ndarray) -> int:
    """Return the least time of the host that sends, or receives, for longest [ps].

    Parameters
    ----------
    host : ndarray, n_messages
        Who sends, or receives, each message.
    busy_ps, alone_ps : ndarray, n_messages
        How long it occupies the link of that host; what it takes alone.
    """
    _, row = np.unique(host, return_inverse=True)
    rest_ps = np.full(row.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(rest_ps, row, alone_ps - busy_ps)
    total_ps = np.bincount(row, weights=busy_ps).astype(np.int64)
    return int((total_ps + rest_ps).max())
