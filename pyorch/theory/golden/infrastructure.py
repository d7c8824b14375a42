# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] section 2: budget, racks, power, and who can feed them."""

from pyorch.theory import infrastructure
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, MEGA, PETA, TERA
from pyorch.theory.golden.claims import printed


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _given() | _derived() | _grid()


def _given() -> dict[str, float]:
    design, dense = given.site(), given.dense()
    budget, rack = design.budget, design.rack
    return {
        "p.infra.budget": budget.total_usd,
        "p.infra.gpus_per_rack": rack.n_gpus,
        "p.infra.rack_cost": rack.cost_usd,
        "p.infra.rack_tdp": rack.power_w,
        "p.infra.rack_sparse": rack.sparse_flop_per_s / PETA,
        "p.infra.gpu_mem": dense.cluster.gpu_memory_bytes / GIGA,
        "p.infra.scaleup": dense.network.scale_up_bps / GIGA,
        "p.infra.nic": dense.network.scale_out_bps / GIGA,
        "p.infra.compute_share": budget.compute_share,
        "p.infra.overhead": budget.overhead_share,
        "p.infra.pue_low": budget.pue_low,
        "p.infra.pue_high": budget.pue_high,
        **{f"p.table1.{a.name.lower()}": a.spare_w / MEGA for a in design.grid},
    }


def _derived() -> dict[str, float]:
    design = given.site()
    budget, rack = design.budget, design.rack
    site = infrastructure.build_site(budget, rack)
    # 3.62 GW gives both printed site totals exactly; it comes from the GPUs as printed.
    as_printed = infrastructure.site_of_racks(printed("p.infra.gpus") / rack.n_gpus, budget, rack)
    return {
        "p.infra.rack_dense": rack.dense_flop_per_s / PETA,
        "p.infra.gpu_dense": rack.dense_flop_per_s / rack.n_gpus,
        "p.infra.gpu_sparse": rack.sparse_flop_per_s / rack.n_gpus,
        "p.infra.scaleup_bytes": given.dense().network.scale_up_bps / 8 / TERA,
        "p.infra.racks": site.n_racks,
        "p.infra.gpus": site.n_gpus,
        "p.infra.power": site.compute_w / GIGA,
        "p.infra.pf": site.dense_flop_per_s / PETA,
        "p.infra.flops": site.dense_flop_per_s,
        "p.infra.it_power": site.it_w / GIGA,
        "p.infra.total_low": site.low_w / GIGA,
        "p.infra.total_high": site.high_w / GIGA,
        "p.infra.it_power_implied": round(as_printed.it_w / GIGA, 2),
        "p.infra.gpus_per_dc": site.n_gpus / design.datacenters,
    }


def _grid() -> dict[str, float]:
    design = given.site()
    site = infrastructure.build_site(design.budget, design.rack)
    half = design.datacenters
    return {
        "p.table1.fits_whole": infrastructure.count_hosts(design.grid, site.low_w),
        "p.table1.fits_half_low": infrastructure.count_hosts(design.grid, site.low_w / half),
        "p.table1.fits_half_high": infrastructure.count_hosts(design.grid, site.high_w / half),
    }
