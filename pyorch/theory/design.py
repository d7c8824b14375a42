# SPDX-License-Identifier: GPL-2.0-only
"""Takes a training set-up, returns networks for it: what each costs and how long GPUs wait for it.

Planes, rails and oversubscription decide tiers, chips and cables (`topology_cost`); what leaves a
switch decides the rate of the collectives over it. Every network is scored in closed form; those
that nothing beats in both, cost and exposed networking, may be solved at full size (`full_step`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from pyorch.errors import TheoryError
from pyorch.theory import exposed, full_step, parallelism
from pyorch.theory.full_step import Fabric, Outcome
from pyorch.theory.parallelism import Setup
from pyorch.theory.schedules import STEADY
from pyorch.theory.topology_cost import Clos

#: The schedule that hides messages of a pass behind another one.
_PAIRED = "dualpipe"


@dataclass(frozen=True)
class Prices:
    """What a network costs and draws; the source prints the price of a transceiver alone."""

    transceiver_usd: float = 1000.0
    chip_usd: float = 0.0
    transceiver_w: float = 0.0
    chip_w: float = 0.0


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
    watt: float
    share: float
    fluid_share: float | None = None
    is_bound: bool = False

    @property
    def best_share(self) -> float:
        """What is exposed as solved, or in closed form where it was not [1]."""
        return self.share if self.fluid_share is None else self.fluid_share


def hosts(setup: Setup) -> int:
    """Return the devices of one data centre that have work."""
    place = setup.placement
    return place.racks_per_stage_and_datacenter * place.stages * setup.cluster.rack_gpus


def score(setup: Setup, fabric: Fabric, prices: Prices = Prices()) -> Design:
    """Return what a network costs and exposes, in closed form.

    With r hosts' rate over that up, the switches of a tier have 1 / r of their uplinks, and so has
    all above them: cables and chips of the tiers above are divided by r.

    Raises
    ------
    TheoryError
        There is no such network, or it has fewer tiers than ratios.
    """
    full_step.check(setup, fabric)
    clos = Clos(hosts(setup), fabric.radix, fabric.planes, fabric.rails)
    if clos.tiers <= len(fabric.upper) + 1 and fabric.upper:
        raise TheoryError(
            f"{clos.tiers} tiers have {clos.tiers - 1} ratios of oversubscription between them, not"
            f" {len(fabric.upper) + 1}."
        )
    up = [clos.hosts / fabric.thinned(level) for level in range(1, clos.tiers)]
    # Each tier but the top one faces both ways; half of a top switch's ports would look up.
    below = [clos.hosts, *up]
    chips = sum(2 * links / fabric.radix for links in below[:-1]) + below[-1] / fabric.radix
    cables = sum(up)
    usd = 2 * cables * prices.transceiver_usd + chips * prices.chip_usd
    watt = 2 * cables * prices.transceiver_w + chips * prices.chip_w
    return Design(fabric, clos.tiers, chips, cables, usd, watt, _share(setup, fabric, clos.tiers))


def _share(setup: Setup, fabric: Fabric, tiers: int) -> float:
    """Return the exposed share when what leaves a switch shares its uplinks."""
    per_rail = setup.cluster.rack_gpus // fabric.rails
    ahead = _rate_share(fabric, per_rail, tiers)
    far = per_rail * setup.placement.stages
    experts = parallelism.Spread.of(setup.placement, setup.degrees.experts, "experts")
    to_all = _all_to_all_share(fabric, far, experts.racks, tiers)
    return _slowed(setup, ahead, _rate_share(fabric, far, tiers), to_all)


@lru_cache(maxsize=256)
def _slowed(setup: Setup, ahead: float, among: float, to_all: float) -> float:
    """Return the exposed share where messages get a share of the rate of a NIC.

    Parameters
    ----------
    ahead, among, to_all : float
        Of messages to the next stage, of rings of racks of a stage, and of experts [1].
    """
    times = parallelism.stage_times(setup)
    slower = replace(
        times,
        pipeline_ps=times.pipeline_ps / ahead,
        dp2_ps=times.dp2_ps / among,
        dp4_ps=times.dp4_ps / among,
        gather_out_ps=times.gather_out_ps / among,
        expert_out_ps=times.expert_out_ps / to_all,
        context_out_ps=times.context_out_ps / among,
    )
    return float(exposed.expose(slower).share)


@dataclass(frozen=True)
class Remedy:
    """A change that is not one of the scale-out network, and the share with it at best [1]."""

    change: str
    share: float


def remedies(setup: Setup) -> list[Remedy]:
    """Return what a network of full bisection would expose after each of some changes.

    Changes that the job or its memory does not allow are left out.
    """
    network, job = setup.network, setup.job
    changed = {
        "scale-up at twice the rate": {"scale_up_bps": 2 * network.scale_up_bps},
        "scale-out NICs at twice the rate": {"scale_out_bps": 2 * network.scale_out_bps},
    }
    found = [
        Remedy(name, float(exposed.expose_setup(exposed.with_rates(setup, **rates)).share))
        for name, rates in changed.items()
    ]
    more = replace(setup, job=replace(job, micro_batches=2 * job.micro_batches))
    smaller = [("twice the micro-batches", more)]
    if setup.tensor % 2 == 0:
        half = replace(setup, tensor=setup.tensor // 2)
        fewer = replace(half.degrees, data=0)
        smaller.append(("half the tensor-parallel degree", replace(half, degrees=fewer)))
    degrees = setup.degrees
    if degrees.schedule not in (STEADY, _PAIRED):
        paired = replace(degrees, schedule=_PAIRED, virtual_stages=1)
        smaller.append((f"schedule {_PAIRED}", replace(setup, degrees=paired)))
    racks = parallelism.Spread.of(setup.placement, degrees.experts, "experts").racks
    copies = parallelism.visited_racks(setup, racks) or setup.model.active_experts
    if racks > 1 and copies > 1:
        visited = min(racks, copies // 2)
        copied = replace(degrees, expert_racks=visited)
        smaller.append((f"expert_racks {visited}", replace(setup, degrees=copied)))
    for name, other in smaller:
        try:
            other.check()
            found.append(Remedy(name, float(exposed.expose_setup(other).share)))
        except TheoryError:
            continue
    return found


def _rate_share(fabric: Fabric, distance: int, tiers: int) -> float:
    """Return the rate of messages between hosts so many places apart, over that of a NIC [1].

    Of a group of s hosts below the same switches, min(s, distance) send to another group, over
    links up for s / r of them.
    """
    shares = [1.0]
    for level in range(1, tiers):
        size = fabric.half**level
        shares.append(size / fabric.thinned(level) / min(size, distance))
    return min(shares)


def _all_to_all_share(fabric: Fabric, distance: int, racks: int, tiers: int) -> float:
    """Return the rate of messages from each to all of some racks, over that of a NIC [1].

    The racks are so many places apart. A group of s hosts below the same switches has s / distance
    of them, one at least, so a host sends the rest of its messages out, over 1 / r of a link up.
    """
    shares = [1.0]
    for level in range(1, tiers):
        below = min(racks, max(1.0, fabric.half**level / distance))
        if below < racks:
            leaving = (racks - below) / (racks - 1)
            shares.append(1 / (fabric.thinned(level) * leaving))
    return min(shares)


def designs(
    setup: Setup,
    radix: int,
    planes: Iterable[int],
    rails: Sequence[int],
    oversubscriptions: Sequence[float | tuple[float, ...]],
    prices: Prices = Prices(),
) -> list[Design]:
    """Return all networks of these kinds, the cheapest first; of equal ones that with fewer chips.

    A ratio of oversubscription is that of the edge, or of each tier from the edge on; networks of
    fewer tiers have none of these, and one of a single tier has no ratio.

    Raises
    ------
    TheoryError
        There can be no such network.
    """
    found = []
    for n_planes in planes:
        for n_rails in rails:
            full_step.check(setup, Fabric(radix, n_planes, n_rails))
            tiers = Clos(hosts(setup), radix, n_planes, n_rails).tiers
            for ratio in oversubscriptions if tiers > 1 else (1.0,):
                edge, *upper = ratio if isinstance(ratio, tuple) else (ratio,)
                if upper and tiers <= len(upper) + 1:
                    continue
                fabric = Fabric(radix, n_planes, n_rails, edge, upper=tuple(upper))
                found.append(score(setup, fabric, prices))
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


def shortlist(found: Sequence[Design], most_share: float, number: int) -> list[Design]:
    """Return the cheapest that expose at most this; if there is none, those that expose least."""
    good = [design for design in found if design.best_share <= most_share]
    return good[:number] or sorted(found, key=lambda design: design.best_share)[:number]


def solved(setup: Setup, chosen: Iterable[Design]) -> list[Design]:
    """Return designs with the share of rates that were solved for every device.

    Rounds of the same messages are solved once, and so is what does not cross the network.
    """
    kept: dict[tuple, Outcome] = {}
    found = []
    for design in chosen:
        outcomes = []
        for phase in full_step.phases(setup):
            if phase.network == "wan":
                continue
            fabric = None if phase.network == "scale_up" else design.fabric
            key = (fabric, phase.network, phase.message_bytes, phase.dst.tobytes())
            if key not in kept:
                kept[key] = full_step.solve(setup, design.fabric, phase)
            outcomes.append(replace(kept[key], name=phase.name, rounds=phase.rounds))
        share = float(exposed.expose(full_step.stage_times(setup, outcomes)).share)
        is_bound = not all(outcome.is_exact for outcome in outcomes)
        found.append(replace(design, fluid_share=share, is_bound=is_bound))
    return found
