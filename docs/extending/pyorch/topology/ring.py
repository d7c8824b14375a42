# SPDX-License-Identifier: GPL-2.0-only
"""Switches in a circle, each with some hosts; two paths lead to the opposite of an even circle.

Node ids: hosts by switch, then switches around the circle.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, Hosts
from pyorch.spec.resolved import Link


class Params(Closed):
    """Size of the circle."""

    switches: Annotated[int, Field(strict=True, ge=3)]
    hosts_per_switch: Hosts = 1


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    n_hosts = params.switches * params.hosts_per_switch
    hosts = np.arange(n_hosts, dtype=np.int64)
    switches = n_hosts + np.arange(params.switches, dtype=np.int64)
    is_switch = np.repeat([0, 1], [n_hosts, params.switches])
    n_links = n_hosts + params.switches
    return {
        "nodes": {
            "node": np.concatenate([hosts, switches]),
            "is_switch": is_switch,
            "tier": is_switch.copy(),
            "plane": np.zeros(n_links, dtype=np.int64),
        },
        "links": {
            "node_a": np.concatenate([hosts, switches]),
            "node_b": np.concatenate(
                [n_hosts + hosts // params.hosts_per_switch, np.roll(switches, -1)]
            ),
            "parallel": np.zeros(n_links, dtype=np.int64),
            "rate_bps": np.full(n_links, link.rate_bps, dtype=np.int64),
            "delay_ps": np.full(n_links, link.delay_ps, dtype=np.int64),
            "loss_ratio": np.full(n_links, link.loss_ratio, dtype=np.float64),
        },
    }


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    hosts = params.switches * params.hosts_per_switch
    return {
        "hosts": hosts,
        "hosts_per_leaf": params.hosts_per_switch,
        "switches": params.switches,
        "ports": hosts + 2 * params.switches,
        "access_links": hosts,
        "fabric_links": params.switches,
        "cables": hosts + params.switches,
    }
