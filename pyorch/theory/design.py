# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up, leaves networks for it: what each costs and how long GPUs wait for it.

Planes, rails and oversubscription decide tiers, chips and cables (`topology_cost`); what leaves a
switch decides the rate of the collectives over it. Every network is scored in closed form; those
that nothing beats in both, cost and exposed networking, may be solved at full size (`full_step`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyorch.errors import TheoryError
from pyorch.theory import exposed, full_step, parallelism
from pyorch.theory.full_step import Fabric, Outcome
from pyorch.theory.parallelism import Setup
from pyorch.theory.topology_cost import Clos


@dataclass(frozen=True)
class Prices:
    """What a network costs [USD]; the source prints the price of a transceiver alone."""

    transceiver_usd: float = 1000.0
    chip_usd: float = 0.0


@dataclass(frozen=True)
class Design:
    """One network of one data centre, and the exposed share of a step over it [1].

    `fluid_share` is none unless it was solved; `is_bound`: then it is at most that.
    """

    fabric: Fabric
    tiers: int
    chips: float
    cables: float
    usd: float
    share: float
    fluid_share: float | None = None
    is_bound: bool = False


def hosts(setup: Setup) -> int:
    """Return the devices of one data centre that have work."""
    place = setup.placement
    return place.racks_per_stage_and_datacenter * place.stages * setup.cluster.rack_gpus


def score(setup: Setup, fabric: Fabric, prices: Prices = Prices()) -> Design:
    """Return what a network costs and exposes, in closed form.

    With r hosts' rate over that up, an edge switch has 1 / r of its uplinks, and so has all above
    it: cables and chips but those of the edge are divided by r.
    """
    full_step.check(setup, fabric)
    clos = Clos(hosts(setup), fabric.radix, fabric.planes, fabric.rails)
    edge = 2 * clos.hosts / fabric.radix if clos.tiers > 1 else clos.chips
    chips = edge + (clos.chips - edge) / fabric.oversubscription
    cables = clos.cables / fabric.oversubscription
    usd = 2 * cables * prices.transceiver_usd + chips * prices.chip_usd
    return Design(fabric, clos.tiers, chips, cables, usd, _share(setup, fabric, clos.tiers))


def _share(setup: Setup, fabric: Fabric, tiers: int) -> float:
    """Return the exposed share when what leaves a switch shares its uplinks."""
    per_rail = setup.cluster.rack_gpus // fabric.rails
    times = parallelism.stage_times(setup)
    ahead = _rate_share(fabric, per_rail, tiers)
    among = _rate_share(fabric, per_rail * setup.placement.stages, tiers)
    slower = replace(
        times,
        pipeline_ps=times.pipeline_ps / ahead,
        dp2_ps=times.dp2_ps / among,
        dp4_ps=times.dp4_ps / among,
    )
    return float(exposed.expose(slower).share)


def _rate_share(fabric: Fabric, distance: int, tiers: int) -> float:
    """Return the rate of messages between hosts so many places apart, over that of a NIC [1].

    Of a group of s hosts below the same switches, min(s, distance) send to another group, over
    links up for s / r of them.
    """
    shares = [1.0]
    for level in range(1, tiers):
        size = fabric.half**level
        shares.append(size / fabric.oversubscription / min(size, distance))
    return min(shares)


def designs(
    setup: Setup,
    radix: int,
    planes: Iterable[int],
    rails: Sequence[int],
    oversubscriptions: Sequence[float],
    prices: Prices = Prices(),
) -> list[Design]:
    """Return all networks of these kinds, the cheapest first; of equal ones that with fewer chips.

    Raises
    ------
    TheoryError
        There can be no such network.
    """
    found = [
        score(setup, Fabric(radix, n_planes, n_rails, ratio), prices)
        for n_planes in planes
        for n_rails in rails
        for ratio in oversubscriptions
    ]
    if not found:
        raise TheoryError("no networks to choose from; give planes, rails and oversubscriptions.")
    return sorted(found, key=lambda d: (d.usd, d.chips, d.share, d.fabric.planes, d.fabric.rails))


def frontier(found: Iterable[Design]) -> list[Design]:
    """Return those for which no other costs at most as much and exposes less, cheapest first."""
    best: list[Design] = []
    for design in found:
        if not best or design.share < best[-1].share * (1 - 1e-12):
            best.append(design)
    return best


def solved(setup: Setup, chosen: Iterable[Design]) -> list[Design]:
    """Return designs with the share of rates that were solved for every device.

    Collectives that do not cross the network are solved once.
    """
    kept: dict[str, Outcome] = {}
    found = []
    for design in chosen:
        outcomes = []
        for phase in full_step.phases(setup):
            if phase.network == "wan" or phase.name == "dp4":
                continue
            outcome = kept.get(phase.name) or full_step.solve(setup, design.fabric, phase)
            outcomes.append(outcome)
            if phase.network == "scale_up":
                kept[phase.name] = outcome
            if phase.name == "dp2":  # its second half is that of stage 4
                outcomes.append(replace(outcome, name="dp4", rounds=outcome.rounds // 2))
        share = float(exposed.expose(full_step.stage_times(setup, outcomes)).share)
        is_bound = not all(outcome.is_exact for outcome in outcomes)
        found.append(replace(design, fluid_share=share, is_bound=is_bound))
    return found


def cheapest(found: Iterable[Design], most_share: float) -> Design | None:
    """Return the cheapest that exposes at most this, as solved where it was; none if none does."""
    for design in found:
        share = design.share if design.fluid_share is None else design.fluid_share
        if share <= most_share:
            return design
    return None
