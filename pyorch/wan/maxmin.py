# SPDX-License-Identifier: GPL-2.0-only
"""Max-min fair rates by progressive filling: over several paths by linear programs, over one alone.

All raise a common fair share together; who cannot go on keeps what it has, the others go on. Rates
are what bandwidth functions say of that share. Source: B4, SIGCOMM 2013, section 5; its heuristic
fills the best tunnel of each first, here each level is the optimum over all tunnels.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

Points = Sequence[tuple[float, float]]
#: Below this an increase is none, in units of what is raised at once.
_LEAST = 1e-9
#: A dual value below this is that of a constraint with room.
_LEAST_DUAL = 1e-7


def rate_at(points: Points, share: float) -> float:
    """Return what a bandwidth function, given by its bends, says of a fair share."""
    shares, rates = zip(*points, strict=True)
    return float(np.interp(share, shares, rates))


def share_at(points: Points, rate: float) -> float:
    """Return the least fair share at which a bandwidth function says a rate."""
    for (low, a), (high, b) in zip(points, points[1:], strict=False):
        if rate <= b:
            return high if b == a else low + (high - low) * max(0.0, rate - a) / (b - a)
    return points[-1][0]


def capped(points: Points, rate: float) -> Points:
    """Return a bandwidth function that ends at a rate."""
    share = share_at(points, rate)
    return [*(point for point in points if point[0] < share and point[1] < rate), (share, rate)]


def _below(functions: Sequence[Points], share: float) -> np.ndarray:
    """Return which groups want more than they have at a share."""
    return np.array([share < points[-1][0] for points in functions])


def _next_bend(functions: Sequence[Points], active: np.ndarray, share: float) -> float:
    return min(
        point[0] for group in np.flatnonzero(active).tolist() for point in functions[group]
        if point[0] > share
    )  # fmt: skip


def over_tunnels(
    usage: np.ndarray, owner: np.ndarray, functions: Sequence[Points], capacity: np.ndarray
) -> np.ndarray:
    """Return the rate of each tunnel when groups are max-min fair over all of theirs.

    Parameters
    ----------
    usage : ndarray, n_links x n_tunnels
        1 where a tunnel crosses a link.
    owner : ndarray, n_tunnels
        Group of each tunnel.
    functions : sequence, n_groups
        Bandwidth function of each group, (0, 0) first.
    capacity : ndarray, n_links
        In the unit of the rates.
    """
    n_groups = len(functions)
    unit = float(capacity.max(initial=0.0)) or 1.0
    own = (owner[None, :] == np.arange(n_groups)[:, None]).astype(float)
    rates, active, share = np.zeros(n_groups), _below(functions, 0.0), 0.0
    while active.any():
        upper = _next_bend(functions, active, share)
        goal = np.array([rate_at(points, upper) for points in functions])
        more = np.where(active, goal - rates, 0.0)
        part, duals = _raise(usage, own, rates / unit, more / unit, capacity / unit)
        share += part * (upper - share)
        rates = rates + part * more
        if part < 1 - _LEAST:
            active &= duals * more / unit <= _LEAST_DUAL
        else:
            share = upper
        active &= _below(functions, share)
    return _shortest(usage, own, rates / unit, capacity / unit) * unit


def _raise(
    usage: np.ndarray, own: np.ndarray, rates: np.ndarray, more: np.ndarray, capacity: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the largest part, up to 1, of `more` that all can have at once, and who binds it."""
    n_links, n_tunnels = usage.shape
    cost = np.zeros(n_tunnels + 1)
    cost[-1] = -1
    above = np.block([[usage, np.zeros((n_links, 1))], [-own, more[:, None]]])
    limits = np.concatenate([capacity, -rates])
    bounds = [(0, None)] * n_tunnels + [(0, 1)]
    solved = linprog(cost, A_ub=above, b_ub=limits, bounds=bounds, method="highs")
    if not solved.success:  # rates of before are only just possible
        return 0.0, np.where(more > 0, 1.0 / np.maximum(more, _LEAST), 0.0)
    return float(solved.x[-1]), -solved.ineqlin.marginals[n_links:]


def _shortest(
    usage: np.ndarray, own: np.ndarray, rates: np.ndarray, capacity: np.ndarray
) -> np.ndarray:
    """Return the rates of tunnels that give groups theirs with the fewest links in use."""
    # What a level has found is exact to the tolerance of the solver.
    for slack in (1 - 1e-9, 1 - 1e-7, 1 - 1e-6):
        solved = linprog(usage.sum(axis=0), A_ub=usage, b_ub=capacity, A_eq=own,
                         b_eq=rates * slack, bounds=(0, None), method="highs")  # fmt: skip
        if solved.success:
            return solved.x
    raise AssertionError(f"no split of rates that are possible: {solved.message}")


def over_splits(usage: np.ndarray, functions: Sequence[Points], capacity: np.ndarray) -> np.ndarray:
    """Return max-min fair rates of groups whose splits are given.

    Parameters
    ----------
    usage : ndarray, n_links x n_groups
        Part of a group's rate that crosses a link.
    functions, capacity
        As for `over_tunnels`.
    """
    rates, active, share = np.zeros(len(functions)), _below(functions, 0.0), 0.0
    while active.any():
        upper = _next_bend(functions, active, share)
        goal = np.array([rate_at(points, upper) for points in functions])
        more = np.where(active, goal - rates, 0.0)
        load, slope = usage @ rates, usage @ more
        room = np.maximum(capacity - load, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(slope > 0, room / slope, np.inf)
        part = float(min(1.0, parts.min(initial=1.0)))
        rates = rates + part * more
        share += part * (upper - share)
        if part < 1:
            full = parts <= part * (1 + _LEAST)
            active &= ~((usage[full] > 0).any(axis=0) & (more > 0))
        else:
            share = upper
        active &= _below(functions, share)
    return rates


def quantised(rates: np.ndarray, owner: np.ndarray, quanta: int) -> np.ndarray:
    """Return the part of its group that each tunnel carries, in multiples of 1 / quanta.

    The quanta that rounding down leaves go to the tunnels with the largest remainders.
    """
    splits = np.zeros(len(rates))
    for group in np.unique(owner):
        mine = np.flatnonzero(owner == group)
        total = rates[mine].sum()
        exact = rates[mine] / total * quanta if total > 0 else np.eye(len(mine))[0] * quanta
        whole = np.floor(exact + _LEAST)
        left = quanta - int(whole.sum())
        whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
        splits[mine] = whole / quanta
    return splits
