# SPDX-License-Identifier: GPL-2.0-only
"""Takes failures, checkpoints and spares, returns which share of its time a job trains.

Units (devices, hosts or racks: what is replaced as a whole) fail independently, at a constant rate,
and one that fails interrupts the job. The job then goes back to its last checkpoint. The unit is
replaced by a spare at once, or the job waits for the first repair.

Source: J. T. Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps",
FGCS 22 (2006), equation 3 and section 4, for the time of an interval with its interruptions; A. K.
Erlang's loss formula for the wait: failures come at a constant rate unless the job waits, so units
in repair are customers of a loss system, whatever the distribution of repair times.
"""

import math
from dataclasses import dataclass

import numpy as np

from pyorch.errors import TheoryError


@dataclass(frozen=True)
class Operation:
    """How a job is run for days; all times in seconds.

    Attributes
    ----------
    units : int
        What the job needs at a time.
    unit_mtbf_s : float
        Mean time between failures of one unit [s].
    checkpoint_s : float
        For how long a checkpoint holds up the job [s].
    restart_s : float
        From a failure until the job trains again: detection, a spare, the last checkpoint [s].
    spares : int
        Units beyond those that the job needs.
    repair_s : float
        From the failure of a unit until it is a spare [s].
    """

    units: int
    unit_mtbf_s: float
    checkpoint_s: float
    restart_s: float
    spares: int = 0
    repair_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no operation."""
        if self.units < 1 or self.spares < 0:
            raise TheoryError("a job has at least one unit, and spares are 0 or more.")
        if not self.unit_mtbf_s > 0 or min(self.checkpoint_s, self.restart_s, self.repair_s) < 0:
            raise TheoryError("units fail after some time, and no time is negative.")

    @property
    def mtbf_s(self) -> float:
        """Mean time between interruptions of a job that does not wait [s]."""
        return self.unit_mtbf_s / self.units


@dataclass(frozen=True)
class Goodput:
    """Shares of the time [1], which add up to 1.

    `training` is kept; `lost` was trained after the last checkpoint and is trained again.
    """

    training: float
    checkpoints: float
    lost: float
    restarts: float
    waiting: float  #: for a repair, where no spare is left


def best_interval_s(operation: Operation) -> float:
    """Return the time of training between checkpoints that makes the most of the time [s].

    The derivative of Daly's time is zero where exp((t + d) / M) (1 - t / M) = 1; d is the time of a
    checkpoint and M the time between interruptions.
    """
    if not operation.checkpoint_s:
        return 0.0
    mtbf_s = operation.mtbf_s
    ratio = operation.checkpoint_s / mtbf_s
    from scipy.special import lambertw  # a run that trains has no use for it

    return mtbf_s * (1 + float(lambertw(-math.exp(-1 - ratio)).real))


def goodput(operation: Operation, interval_s: float | None = None) -> Goodput:
    """Return what becomes of the time of a job.

    Parameters
    ----------
    interval_s : float, optional
        Training between two checkpoints [s]; default: `best_interval_s`.

    Raises
    ------
    TheoryError
        The interval is not above 0, or so long that the job practically never ends.

    Examples
    --------
    >>> job = Operation(2048, unit_mtbf_s=2048 * 11_000, checkpoint_s=5, restart_s=300)
    >>> round(goodput(job).training, 3)
    0.944
    """
    interval_s = best_interval_s(operation) if interval_s is None else interval_s
    if not interval_s > 0:
        raise TheoryError("there is no time between checkpoints. Write an interval above 0.")
    mtbf_s, whole_s = operation.mtbf_s, interval_s + operation.checkpoint_s
    if (whole_s + operation.restart_s) / mtbf_s > 100:
        raise TheoryError(
            f"an interruption each {mtbf_s:.0f} s leaves no time for {interval_s:.0f} s of training"
            f" and {operation.restart_s:.0f} s of restart. Write shorter ones, or fewer units."
        )
    failed = math.expm1(whole_s / mtbf_s)  # attempts for each one that ends
    lost_s = mtbf_s * failed - whole_s
    restart_s = failed * mtbf_s * math.expm1(operation.restart_s / mtbf_s)
    runs = 1 - erlang_loss(operation.spares + 1, operation.repair_s / mtbf_s)
    part = runs / (whole_s + lost_s + restart_s)
    return Goodput(
        training=interval_s * part,
        checkpoints=operation.checkpoint_s * part,
        lost=lost_s * part,
        restarts=restart_s * part,
        waiting=1 - runs,
    )


def erlang_loss(servers: int, load: float) -> float:
    """Return the share of time in which all servers of a loss system are busy [1].

    Parameters
    ----------
    servers : int
        At least 1.
    load : float
        Arrivals during one service [1].
    """
    blocked = 1.0
    for number in range(1, servers + 1):
        blocked = load * blocked / (number + load * blocked)
    return blocked


def simulated(
    operation: Operation, interval_s: float, days: float, rng: np.random.Generator
) -> Goodput:
    """Return the shares of one random course of a job; repairs take their time each.

    Shares no formula with `goodput`: failures are drawn one by one.
    """
    end_s, now_s = days * 86_400.0, 0.0
    spent = dict.fromkeys(("training", "checkpoints", "lost", "restarts", "waiting"), 0.0)
    back_s: list[float] = []  # when units that are in repair come back
    left_s = 0.0  # of the restart
    done_s = 0.0  # of the interval and its checkpoint
    whole_s = interval_s + operation.checkpoint_s
    fails_s = rng.exponential(operation.mtbf_s)
    while now_s < end_s:
        step_s = min(left_s if left_s else whole_s - done_s, fails_s - now_s)
        now_s += step_s
        if left_s:
            spent["restarts"] += step_s
            left_s = max(left_s - step_s, 0.0)
        else:
            done_s += step_s
        if not left_s and done_s >= whole_s:
            spent["training"] += interval_s
            spent["checkpoints"] += operation.checkpoint_s
            done_s = 0.0
        if now_s >= fails_s:
            spent["lost"] += done_s
            done_s, left_s = 0.0, operation.restart_s
            back_s = [at for at in back_s if at > now_s] + [now_s + operation.repair_s]
            if len(back_s) > operation.spares:
                spent["waiting"] += min(back_s) - now_s
                now_s = min(back_s)
            fails_s = now_s + rng.exponential(operation.mtbf_s)
    total_s = sum(spent.values())
    return Goodput(**{name: its / total_s for name, its in spent.items()})
