# SPDX-License-Identifier: GPL-2.0-only
"""One switch with all hosts around it, or one such switch in each of several planes.

Node ids: hosts first, then the switches by plane. A host has one port for each plane.
"""

import numpy as np

from pyorch.spec.fields import Closed, Count, Hosts
from pyorch.spec.resolved import Link
from pyorch.topology import _clos


class Params(Closed):
    """Hosts around a switch, and how many such switches there are."""

    hosts: Hosts
    planes: Count = 1


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    return _clos.tables(_shape(params), [link.rate_bps], [link.delay_ps], link.loss_ratio)


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    return _clos.counts(_shape(params))


def _shape(params: Params) -> _clos.Clos:
    return _clos.Clos(children=(params.hosts,), parents=(), parallel=(), planes=params.planes)
