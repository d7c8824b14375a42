# SPDX-License-Identifier: GPL-2.0-only
"""Takes a budget and a rack, returns what they buy: racks, GPUs, power, and who can feed it.

Source: [hotnets24] section 2 and table 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pyorch.theory._quantities import Real


@dataclass(frozen=True)
class Rack:
    """One rack of accelerators, which is also one scale-up domain."""

    n_gpus: Real
    cost_usd: Real
    power_w: Real  #: at full load
    sparse_flop_per_s: Real  #: with structured sparsity, all GPUs together

    @property
    def dense_flop_per_s(self) -> Real:
        """Rate without sparsity [FLOP/s]: half of the sparse rate."""
        return self.sparse_flop_per_s / 2


@dataclass(frozen=True)
class Budget:
    """Money, and what must be paid for beside the racks."""

    total_usd: Real
    compute_share: Real  #: of the money that buys racks [1]
    overhead_share: Real  #: storage and network power over compute power [1]
    pue_low: Real  #: power usage effectiveness, site over IT power [1]
    pue_high: Real


@dataclass(frozen=True)
class Site:
    """What a budget buys; counts are not rounded, because the source does not round them either."""

    n_racks: Real
    n_gpus: Real
    compute_w: Real
    it_w: Real  #: compute, storage and network
    low_w: Real  #: whole site at the low PUE
    high_w: Real
    dense_flop_per_s: Real


@dataclass(frozen=True)
class Authority:
    """One balancing authority of the power grid, with what it can spare (table 1)."""

    name: str
    region: str
    spare_w: float


def build_site(budget: Budget, rack: Rack) -> Site:
    """Return what the compute share of the budget buys."""
    n_racks = budget.total_usd * budget.compute_share / rack.cost_usd
    return site_of_racks(n_racks, budget, rack)


def site_of_racks(n_racks: Real, budget: Budget, rack: Rack) -> Site:
    """Return the site that a number of racks makes, whatever they cost."""
    compute_w = n_racks * rack.power_w
    it_w = compute_w * (1 + budget.overhead_share)
    return Site(
        n_racks=n_racks,
        n_gpus=n_racks * rack.n_gpus,
        compute_w=compute_w,
        it_w=it_w,
        low_w=it_w * budget.pue_low,
        high_w=it_w * budget.pue_high,
        dense_flop_per_s=n_racks * rack.dense_flop_per_s,
    )


def count_hosts(grid: Iterable[Authority], needed_w: Real) -> Real:
    """Return how many authorities can spare `needed_w` alone; same shape as `needed_w`."""
    spare_w = np.array([authority.spare_w for authority in grid])
    return (spare_w >= np.asarray(needed_w)[..., None]).sum(axis=-1)
