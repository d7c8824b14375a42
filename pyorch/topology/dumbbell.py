# SPDX-License-Identifier: GPL-2.0-only
"""Two switches joined by a bottleneck, hosts on both sides.

Node ids: hosts of the left side, hosts of the right side, left switch, right switch.
"""

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.spec.fields import FILLED, Closed, Count, DelayPs, Hosts, RateBps
from pyorch.spec.resolved import Link


class Params(Closed):
    """Hosts of each side and the links between the two switches.

    The bottleneck has the rate and delay of `link` unless they are given here.
    """

    left: Hosts
    right: Hosts
    parallel: Count = 1
    bottleneck_rate_bps: RateBps = Field(alias="bottleneck_rate", json_schema_extra=FILLED)
    bottleneck_delay_ps: DelayPs = Field(alias="bottleneck_delay", json_schema_extra=FILLED)

    @model_validator(mode="before")
    @classmethod
    def _bottleneck_is_a_link(cls, given: object, info: ValidationInfo) -> object:
        if not isinstance(given, dict) or not info.context:
            return given
        link = info.context["link"]
        return {
            "bottleneck_rate": f"{link.rate_bps} bit/s",
            "bottleneck_delay": f"{link.delay_ps} ps",
            **given,
        }


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; columns as in docs/definitions.md."""
    n_hosts = params.left + params.right
    side = np.repeat([0, 1], [params.left, params.right])
    between = np.arange(params.parallel)
    is_between = np.repeat([False, True], [n_hosts, params.parallel])
    is_switch = np.repeat([0, 1], [n_hosts, 2])
    return {
        "nodes": {
            "node": np.arange(n_hosts + 2, dtype=np.int64),
            "is_switch": is_switch,
            "tier": is_switch.copy(),
            "plane": np.zeros(n_hosts + 2, dtype=np.int64),
        },
        "links": {
            "node_a": np.concatenate([np.arange(n_hosts), np.full(params.parallel, n_hosts)]),
            "node_b": np.concatenate([n_hosts + side, np.full(params.parallel, n_hosts + 1)]),
            "parallel": np.concatenate([np.zeros(n_hosts, dtype=np.int64), between]),
            "rate_bps": np.where(is_between, params.bottleneck_rate_bps, link.rate_bps),
            "delay_ps": np.where(is_between, params.bottleneck_delay_ps, link.delay_ps),
            "loss_ratio": np.full(len(is_between), link.loss_ratio, dtype=np.float64),
        },
    }


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    hosts = params.left + params.right
    return {
        "hosts": hosts,
        "hosts_per_leaf": max(params.left, params.right),
        "switches": 2,
        "top_switches": 2,
        "ports": hosts + 2 * params.parallel,
        "access_links": hosts,
        "fabric_links": params.parallel,
        "cables": hosts + params.parallel,
    }
