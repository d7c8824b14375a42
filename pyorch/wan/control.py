# SPDX-License-Identifier: GPL-2.0-only
"""Takes links that change during a run, returns what a controller then changes: rates and paths.

The controller looks at the links at each epoch, plans for what it finds, and some time later tells
sources and switches, in three steps: who is to send less does so; flows move, while the entries of
their old paths stay, so that what is under way there arrives (make before break); who is to send
more does so. What it plans depends on nothing but the links: when they are as they were at the
start, so is the plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyorch.errors import TheoryError
from pyorch.units import TIME, format_exact
from pyorch.wan.paths import Cable, Cables, Columns
from pyorch.wan.request import Request
from pyorch.wan.traffic import Traffic, re_engineered


@dataclass(frozen=True)
class Control:
    """When a controller acts.

    Attributes
    ----------
    delay_ps : int
        From looking at the links to the first step.
    step_ps : int
        From step to step.
    epoch_ps : int
        It looks at multiples of this; 0: whenever a link changes.
    away : sequence of (int, int)
        From when to when it neither looks nor tells anything.
    """

    delay_ps: int
    step_ps: int = 0
    epoch_ps: int = 0
    away: Sequence[tuple[int, int]] = ()

    def looks_ps(self, changed_ps: int) -> int:
        """Return when it looks at a change and then can tell of it."""
        looks_ps = changed_ps
        if self.epoch_ps:
            looks_ps = -(-changed_ps // self.epoch_ps) * self.epoch_ps
        for start_ps, end_ps in sorted(self.away):
            if looks_ps < end_ps and looks_ps + self.delay_ps + 2 * self.step_ps >= start_ps:
                looks_ps = end_ps
        return looks_ps


@dataclass(frozen=True)
class Step:
    """When links changed, and from when on a plan is in force: lower rates, paths, higher rates."""

    changed_ps: int
    lower_ps: int
    move_ps: int
    raise_ps: int
    before: Traffic
    after: Traffic


def steps(
    control: Control,
    request: Request,
    first: Traffic,
    network: tuple[Columns, Columns, Sequence[tuple[str, int]]],
    events: Columns,
    overhead: float = 0.0,
) -> list[Step]:
    """Return what a controller does when links change, by time.

    Parameters
    ----------
    control : Control
        When it acts.
    request, first, overhead
        What was asked, and what `engineered` has made of it.
    network : nodes, links, sites
        As `Cables` takes them.
    events : mapping of ndarray
        Table ``link_events``.

    Raises
    ------
    TheoryError
        What is left of the network has no path for a demand.
    """
    order = np.argsort(events["time_ps"], kind="stable")
    rate_bps = np.minimum(events["rate_bps"], events.get("rate_back_bps", events["rate_bps"]))
    rows = [(int(events["time_ps"][i]), _cable(events, i), int(rate_bps[i])) for i in order]
    nodes, links, sites = network
    found: list[Step] = []
    last, in_force, seen_ps = first, links["rate_bps"], -1
    for looks_ps in sorted({control.looks_ps(time_ps) for time_ps, _, _ in rows}):
        changed_ps = min(time_ps for time_ps, _, _ in rows if time_ps > seen_ps)
        rate_bps, seen_ps = _rates_at(looks_ps, rows, links), looks_ps
        if (rate_bps == in_force).all():
            continue
        made, in_force = first, rate_bps
        if (rate_bps != links["rate_bps"]).any():
            left = {name: column[rate_bps > 0] for name, column in links.items()}
            left["rate_bps"] = rate_bps[rate_bps > 0]
            try:
                made = re_engineered(request, first, Cables(nodes, left, sites), overhead)
            except TheoryError as error:
                when = format_exact(looks_ps, TIME)
                raise TheoryError(f"with the links as they are after {when}: {error}") from None
        lower_ps = looks_ps + control.delay_ps
        move_ps = lower_ps + control.step_ps
        raise_ps = move_ps + control.step_ps
        found.append(Step(changed_ps, lower_ps, move_ps, raise_ps, last, made))
        last = made
    return found


def _cable(events: Columns, row: int) -> Cable:
    a, b = sorted((int(events["node_a"][row]), int(events["node_b"][row])))
    return a, b, int(events["parallel"][row])


def _rates_at(time_ps: int, rows: list[tuple[int, Cable, int]], links: Columns) -> np.ndarray:
    """Return the rate of each link when what has changed by then has changed, 0 = cut [bit/s]."""
    now = {cable: rate_bps for changed_ps, cable, rate_bps in rows if changed_ps <= time_ps}
    ends = np.sort(np.stack([links["node_a"], links["node_b"]]), axis=0)
    cables = zip(*ends.tolist(), links["parallel"].tolist(), strict=True)
    rates = zip(cables, links["rate_bps"].tolist(), strict=True)
    return np.array([now.get(cable, rate_bps) for cable, rate_bps in rates], dtype=np.int64)
