# SPDX-License-Identifier: GPL-2.0-only
"""What ideal congestion control on one hashed path per flow would give: max-min fair fluid.

Every flow has one path. Rates are max-min fair at every moment and are solved anew whenever a
flow starts or ends [hotnets24 section 6.3]. No transport that keeps to one path can finish the
flows of a most loaded link sooner than its bytes over its rate, and max-min nearly reaches that.
"""

import numpy as np

from pyorch.errors import TheoryError

#: Shares closer than this are one level, and completions closer than this one moment [1].
_SAME = 1e-9


def max_min_rates(routes: np.ndarray, capacity: np.ndarray) -> np.ndarray:
    """Return the max-min fair rate of each flow, in the unit of `capacity`.

    Progressive filling where all local bottlenecks are filled at once: a link whose equal share is
    the least on the whole path of each of its flows will not get more, whatever happens elsewhere.

    Parameters
    ----------
    routes : ndarray, n_flows x n_hops
        Links of each flow, padded with -1; every flow has at least one.
    capacity : ndarray, n_links
        Rate of each link.
    """
    n_links = len(capacity)
    rates = np.zeros(len(routes))
    left = np.append(capacity.astype(np.float64), np.inf)
    waiting, links = np.arange(len(routes)), np.where(routes < 0, n_links, routes)
    while len(waiting):
        load = np.bincount(links.ravel(), minlength=n_links + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(load > 0, left / load, np.inf)
        on_path = share[links]
        least = on_path.min(axis=1)
        elsewhere = least[:, None] < on_path * (1 - _SAME)
        limited_elsewhere = np.bincount(links[elsewhere], minlength=n_links + 1)
        bottleneck = (load > 0) & (limited_elsewhere == 0)
        bottleneck[n_links] = False
        done = bottleneck[links].any(axis=1)
        rates[waiting[done]] = least[done]
        taken = np.bincount(
            links[done].ravel(), np.repeat(least[done], links.shape[1]), minlength=n_links + 1
        )
        left[:n_links] = np.maximum(left[:n_links] - taken[:n_links], 0)
        waiting, links = waiting[~done], links[~done]
    return rates


def fluid_fct_ps(
    routes: np.ndarray, wire_bytes: np.ndarray, start_ps: np.ndarray, rate_bps: np.ndarray
) -> np.ndarray:
    """Return the time from the start of each flow to its end under max-min fairness [ps].

    Parameters
    ----------
    routes : ndarray, n_flows x n_hops
        Directed links of each flow, padded with -1.
    wire_bytes, start_ps : ndarray, n_flows
        What each flow puts on each of its links [byte], and when it starts [ps].
    rate_bps : ndarray, n_links
        Rate of each directed link [bit/s].

    Returns
    -------
    ndarray of float64, n_flows
        Without propagation and without store-and-forward; ideal is wire_bytes over rate.
    """
    routes, capacity = _used_links(routes, rate_bps)
    start = start_ps.astype(np.float64)
    left = wire_bytes * 8.0 * 1e12  # [bit x 1e12], so that dividing by bit/s gives ps
    end = np.full(len(routes), np.nan)
    now = start.min(initial=0.0)
    running, pending = start <= now, start > now
    while running.any() or pending.any():
        rows = np.flatnonzero(running)
        rates = max_min_rates(routes[rows], capacity)
        until_end = left[rows] / rates if len(rows) else np.array([np.inf])
        until_start = start[pending].min(initial=np.inf) - now
        step = min(until_end.min(), until_start)
        left[rows] -= rates * step
        now += step
        finished = rows[until_end <= step * (1 + _SAME)] if len(rows) else rows
        end[finished] = now
        running[finished] = False
        arrived = pending & (start <= now)
        running |= arrived
        pending &= ~arrived
    return end - start


def _used_links(routes: np.ndarray, rate_bps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return routes over the links in use only, numbered anew, and the rates of these."""
    if routes.shape[1] == 0 or (routes < 0).all(axis=1).any():
        raise TheoryError("a flow has no link: its source is its destination.")
    used, numbered = np.unique(routes, return_inverse=True)
    numbered = numbered.reshape(routes.shape)
    if used[0] < 0:
        return numbered - 1, rate_bps[used[1:]]
    return numbered, rate_bps[used]


def link_load_ps(
    routes: np.ndarray, wire_bytes: np.ndarray, rate_bps: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Return how long each directed link is busy with all bytes of its flows [ps].

    The largest value is a strict bound: the last of the flows on that link cannot end sooner
    after the first of them has started, under any scheduling and any transport.
    """
    on_path = routes >= 0
    load = np.bincount(
        routes[on_path],
        np.broadcast_to(wire_bytes[:, None], routes.shape)[on_path].astype(np.float64),
        minlength=len(rate_bps),
    )
    return load * 8e12 / rate_bps


def flows_per_link(routes: np.ndarray, n_links: int) -> np.ndarray:
    """Return how many flows cross each directed link."""
    return np.bincount(routes[routes >= 0], minlength=n_links)
