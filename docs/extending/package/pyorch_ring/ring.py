# SPDX-License-Identifier: GPL-2.0-only
"""A ring of switches, each with hosts of its own.

Node ids: hosts, switch after switch; then the switches.
"""

import numpy as np
from pydantic import Field

from pyorch.spec.fields import Closed, Hosts
from pyorch.spec.resolved import Link


class Params(Closed):
    """Number of switches, and of the hosts of each."""

    switches: int = Field(ge=3, le=4096, strict=True)
    hosts_per_switch: Hosts


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    hosts = np.arange(params.switches * params.hosts_per_switch, dtype=np.int64)
    switches = len(hosts) + np.arange(params.switches, dtype=np.int64)
    is_switch = np.repeat([0, 1], [len(hosts), params.switches])
    links = len(hosts) + params.switches
    return {
        "nodes": {
            "node": np.concatenate([hosts, switches]),
            "is_switch": is_switch,
            "tier": is_switch.copy(),
            "plane": np.zeros(len(is_switch), dtype=np.int64),
        },
        "links": {
            "node_a": np.concatenate([hosts, switches]),
            "node_b": np.concatenate(
                [np.repeat(switches, params.hosts_per_switch), np.roll(switches, -1)]
            ),
            "parallel": np.zeros(links, dtype=np.int64),
            "rate_bps": np.full(links, link.rate_bps, dtype=np.int64),
            "delay_ps": np.full(links, link.delay_ps, dtype=np.int64),
            "loss_ratio": np.full(links, link.loss_ratio, dtype=np.float64),
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
