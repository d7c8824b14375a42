# SPDX-License-Identifier: GPL-2.0-only
"""Takes hosts and a switch chip, returns the tiers, chips, cables and money of a folded Clos.

Source: [hotnets24] section 6.1. With k ports, n tiers give 2 (k/2)^n hosts full bisection.
Splitting a port over p planes multiplies k by p; splitting the hosts over r rails divides them.
Both save only by needing fewer tiers.
"""

from dataclasses import dataclass

import numpy as np

from pyorch.errors import TheoryError
from pyorch.theory._quantities import Real

#: No chip of 4 or more ports needs more tiers for any number of hosts that fits in 64 bits.
_MOST_TIERS = 64


@dataclass(frozen=True)
class Chip:
    """A switch chip."""

    capacity_bps: float
    lane_bps: float  #: rate of one serdes lane, the finest a port can be split

    def ports(self, rate_bps: Real) -> Real:
        """Return how many ports of `rate_bps` the chip has."""
        return np.asarray(self.capacity_bps) // rate_bps


@dataclass(frozen=True)
class Clos:
    """A network of `planes` times `rails` folded Clos, each of full bisection.

    Attributes
    ----------
    hosts : int
        Hosts [1], each with one NIC split over all planes of its rail.
    radix : int
        Ports of one chip at the rate of a whole NIC (one plane).
    planes, rails : int
        1 and 1 is the plain fat tree.
    """

    hosts: float
    radix: int
    planes: int = 1
    rails: int = 1

    @property
    def plane_radix(self) -> int:
        """Ports of one chip at the rate of one plane."""
        return self.radix * self.planes

    @property
    def hosts_per_rail(self) -> float:
        """Hosts that one folded Clos connects."""
        return self.hosts / self.rails

    @property
    def tiers(self) -> int:
        """Fewest tiers that connect the hosts of one rail."""
        return smallest_tiers(self.plane_radix, self.hosts_per_rail)

    @property
    def chips(self) -> float:
        """Switch chips of all planes and rails, not rounded to whole switches."""
        return self.planes * self.hosts * (2 * self.tiers - 1) / self.plane_radix

    @property
    def boxes(self) -> float:
        """Switches, if one box holds the chips of all planes."""
        return self.chips / self.planes

    @property
    def cables(self) -> float:
        """Switch-to-switch cables; the links of all planes share one."""
        return self.hosts * (self.tiers - 1)

    @property
    def optics(self) -> float:
        """Transceivers of the switch-to-switch cables, one at each end."""
        return 2 * self.cables

    @property
    def hosts_per_leaf(self) -> int:
        """Hosts under one first-tier chip."""
        return self.plane_radix // 2

    @property
    def whole_chips(self) -> int:
        """Chips if every tier of every plane and rail has whole switches.

        A tier below the top has one uplink per host, so hosts / (k/2) switches; the top has
        half as many, because all its ports face down.
        """
        half = self.plane_radix // 2
        lower = -(-int(np.ceil(self.hosts_per_rail)) // half)
        top = -(-lower * half // self.plane_radix) if self.tiers > 1 else 0
        below = (self.tiers - 1) * lower if self.tiers > 1 else 1
        return self.planes * self.rails * (below + top)


def capacity(radix: Real, tiers: Real) -> Real:
    """Return the most hosts of a folded Clos: 2 (k/2)^n."""
    return 2 * np.power(np.asarray(radix) // 2, np.asarray(tiers, float))


def smallest_tiers(radix: int, hosts: float) -> int:
    """Return the fewest tiers whose capacity reaches `hosts`.

    Raises
    ------
    TheoryError
        A radix below 4 never grows.
    """
    if radix < 4:
        raise TheoryError(f"a switch of {radix} ports builds no Clos; the radix is 4 or more.")
    if hosts <= 0:
        raise TheoryError(f"{hosts:g} hosts need no network; hosts is 1 or more.")
    return next(n for n in range(1, _MOST_TIERS) if capacity(radix, n) >= hosts)


def fewest_rails(hosts: float, radix: int, tiers: int) -> int:
    """Return the fewest rails that keep a network to `tiers` tiers."""
    return int(np.ceil(hosts / capacity(radix, tiers)))


def two_tier_radix(hosts: Real) -> Real:
    """Return the radix whose two-tier Clos connects exactly `hosts`: k^2 / 2 = H."""
    return np.sqrt(2 * np.asarray(hosts, float))


def optics_usd(clos: Clos, transceiver_usd: float) -> float:
    """Return the money for the transceivers of all switch-to-switch cables [USD]."""
    return clos.optics * transceiver_usd


def network_w(clos: Clos, chip_w: float, transceiver_w: float) -> float:
    """Return the power of chips and transceivers [W]; the source prints neither, so give both."""
    return clos.chips * chip_w + clos.optics * transceiver_w


def saving(old: float, new: float) -> float:
    """Return what `new` saves of `old` [1]."""
    return 1 - new / old
