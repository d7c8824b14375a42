# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] section 6.3: transfers, the single-path tail, the wide-area volume."""

from pyorch.theory import fluid, parallelism, topology_cost
from pyorch.theory._quantities import BITS_PER_BYTE, PS_PER_S, transfer_ps
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MEGA, MS, US
from pyorch.theory.golden.claims import printed

#: Draws of the permutation and of the hash that the single-path row is the mean of.
ECMP_SEEDS = 20


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _transfers() | _wan_volume() | {"p.fct.single_path": single_path_ms()}


def _transfers() -> dict[str, float]:
    port_bps = given.moe().network.scale_out_bps
    size_6, rate_6 = printed("p.fct.size6") * MEGA, printed("p.fct.rate6") * GIGA
    return {
        "p.fct.opt": parallelism.stage_times(given.moe()).pipeline_ps / MS,
        "p.fct.opt_dense": parallelism.stage_times(given.dense()).pipeline_ps / MS,
        "p.fct.opt_bytes": printed("p.fct.opt") * MS / PS_PER_S * port_bps / BITS_PER_BYTE / MEGA,
        "p.fct.radix": topology_cost.two_tier_radix(printed("p.fct.hosts")),
        "p.fct.opt6": transfer_ps(size_6, rate_6) / US,
    }


def _wan_volume() -> dict[str, float]:
    pair_bytes = parallelism.wan_pair_bytes(given.dense())
    window_s = printed("p.wan.window") / 1e3
    as_printed_bytes = printed("p.wan.vol") * MEGA
    return {
        "p.wan.vol_check": pair_bytes / MEGA,
        "p.wan.flow": pair_bytes * BITS_PER_BYTE / window_s / GIGA,
        "p.wan.flow300": as_printed_bytes * BITS_PER_BYTE / window_s / GIGA,
    }


def single_path_ms(seeds: int = ECMP_SEEDS) -> float:
    """Return the slowest flow of a hashed permutation [ms], mean over draws; alone it takes 1 ms.

    Max-min fluid, no transport: two tiers, full bisection, a random spine for each flow.
    """
    hosts, alone_ms = int(printed("p.fct.hosts")), printed("p.fct.opt")
    slowest = [fluid.slowest_of_permutation(hosts, seed) for seed in range(seeds)]
    return alone_ms * sum(slowest) / seeds
