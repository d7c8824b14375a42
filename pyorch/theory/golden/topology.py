# SPDX-License-Identifier: GPL-2.0-only
"""Rows of [hotnets24] section 6.1: chips, tiers, cables and money of the scale-out network."""

from pyorch.theory import infrastructure, topology_cost
from pyorch.theory.golden import _inputs as given
from pyorch.theory.golden._inputs import GIGA, TERA
from pyorch.theory.golden.claims import printed
from pyorch.theory.topology_cost import saving


def rows() -> dict[str, float]:
    """Return computed values by row id."""
    return _chip() | _fat_tree() | _planes() | _rails() | _savings()


def _chip() -> dict[str, float]:
    design = given.site()
    chip, wanted = design.chip, design.topology
    ports = {f"p.topo.k{rate}": chip.ports(rate * GIGA) for rate in (800, 400, 200, 100)}
    return ports | {
        "p.topo.hosts": wanted.hosts,
        "p.topo.chip": chip.capacity_bps / TERA,
        "p.topo.serdes": wanted.port_bps / chip.lane_bps,
        "p.topo.optic": wanted.transceiver_usd,
        "p.topo.netshare": 100 * wanted.network_share,
        "p.topo.planes": wanted.planes,
        "p.topo.rails": wanted.rails,
        "p.topo.rails76_in": wanted.rails_combined,
    }


def _fat_tree() -> dict[str, float]:
    design = given.site()
    tree, wanted = design.clos(), design.topology
    money = design.budget.total_usd * wanted.network_share
    return {
        "p.topo.ft_tiers": tree.tiers,
        "p.topo.ft_switches": tree.chips,
        "p.topo.ft_links": tree.cables,
        "p.topo.cost": topology_cost.optics_usd(tree, wanted.transceiver_usd),
        "p.topo.netbudget": money / design.datacenters,
    }


def _planes() -> dict[str, float]:
    design = given.site()
    tree, planes = design.clos(), design.clos(planes=design.topology.planes)
    return {
        "p.topo.mp_tiers": planes.tiers,
        "p.topo.mp_chips": planes.chips,
        "p.topo.mp_boxes": planes.boxes,
        "p.topo.mp_cables": planes.cables,
        "p.topo.mp_chip_saving": 100 * saving(tree.chips, planes.chips),
        "p.topo.mp_link_saving": 100 * saving(tree.cables, planes.cables),
        "p.topo.locality": planes.hosts_per_leaf / tree.hosts_per_leaf,
    }


def _rails() -> dict[str, float]:
    design = given.site()
    wanted = design.topology
    planes, rails, more = wanted.planes, wanted.rails, wanted.rails_combined
    by_rail = design.clos(rails=rails)
    both = design.clos(planes=planes, rails=rails)
    site = infrastructure.build_site(design.budget, design.rack)
    half_site = site.n_gpus / design.datacenters
    whole = design.clos(hosts=more * printed("p.topo.rail_hosts"), planes=planes, rails=more)
    return {
        "p.topo.rail_hosts": by_rail.hosts_per_rail,
        "p.topo.rail_tiers64": by_rail.tiers,
        "p.topo.rail_tiers256": both.tiers,
        "p.topo.rails76": design.clos(planes=planes, rails=more).chips,
        "p.topo.rails76_840": design.clos(hosts=half_site, planes=planes, rails=more).chips,
        "p.topo.rails76_int": whole.whole_chips,
        "p.topo.rails72_int": both.whole_chips,
        "p.topo.cables": both.cables,
        "p.topo.min_rails": topology_cost.fewest_rails(wanted.hosts, both.plane_radix, both.tiers),
    }


def _savings() -> dict[str, float]:
    design = given.site()
    tree = design.clos()
    rails = design.clos(planes=design.topology.planes, rails=design.topology.rails)
    return {
        # With the numbers as printed; 57.1 % with the chips that the formula gives.
        "p.topo.chip_saving": 100 * saving(tree.chips, printed("p.topo.rails76")),
        "p.topo.link_saving": 100 * saving(tree.cables, rails.cables),
    }
