# SPDX-License-Identifier: GPL-2.0-only
"""Two-tier leaf-spine: every leaf is connected to every spine of its plane.

Node ids: hosts first (those of a leaf are neighbours), then leaves, then spines, plane by plane.
A host has one port for each plane.
"""

import numpy as np
from pydantic import Field, ValidationInfo, model_validator

from pyorch.spec.fields import Closed, Count, DelayPs, Hosts, RateBps
from pyorch.spec.resolved import Link


class Params(Closed):
    """Numbers of a leaf-spine; fully provisioned when hosts_per_leaf = spines x parallel.

    The uplinks have the rate and delay of `link` unless they are given here.
    """

    leaves: Hosts
    hosts_per_leaf: Hosts
    spines: Hosts
    parallel: Count = 1
    planes: Count = 1
    uplink_rate_bps: RateBps = Field(0, alias="uplink_rate", validate_default=False)
    uplink_delay_ps: DelayPs = Field(-1, alias="uplink_delay", validate_default=False)

    @model_validator(mode="before")
    @classmethod
    def _uplinks_are_links(cls, given: object, info: ValidationInfo) -> object:
        """Settle what the uplinks inherit, so that a resolved spec leaves nothing open."""
        if not isinstance(given, dict) or not info.context:
            return given
        link = info.context["link"]
        return {
            "uplink_rate": f"{link.rate_bps} bit/s",
            "uplink_delay": f"{link.delay_ps} ps",
            **given,
        }


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables.

    Parameters
    ----------
    params : Params
        Numbers of the topology.
    link : Link
        ``rate_bps``, ``delay_ps`` and ``loss_ratio`` of a link.

    Returns
    -------
    dict
        ``nodes`` (node, is_switch, tier, plane) and ``links`` (node_a, node_b, parallel,
        rate_bps [bit/s], delay_ps [ps], loss_ratio), int64 but the last.
    """
    n_hosts = params.leaves * params.hosts_per_leaf
    n_switches = (params.leaves + params.spines) * params.planes
    host = np.arange(n_hosts, dtype=np.int64)
    plane = np.arange(params.planes, dtype=np.int64)
    first_leaf = n_hosts + plane * (params.leaves + params.spines)

    tier = np.tile(np.repeat([1, 2], [params.leaves, params.spines]), params.planes)
    nodes = {
        "node": np.arange(n_hosts + n_switches, dtype=np.int64),
        "is_switch": np.repeat(np.array([0, 1]), [n_hosts, n_switches]),
        "tier": np.concatenate([np.zeros(n_hosts, dtype=np.int64), tier]),
        "plane": np.concatenate(
            [np.zeros(n_hosts, dtype=np.int64), np.repeat(plane, params.leaves + params.spines)]
        ),
    }
    access = _grid(first_leaf, host)
    access_leaf = access[:, 0] + access[:, 1] // params.hosts_per_leaf
    uplink = _grid(
        first_leaf, np.arange(params.leaves), np.arange(params.spines), np.arange(params.parallel)
    )
    n_access, n_uplinks = len(access), len(uplink)
    links = {
        "node_a": np.concatenate([access[:, 1], uplink[:, 0] + uplink[:, 1]]),
        "node_b": np.concatenate([access_leaf, uplink[:, 0] + params.leaves + uplink[:, 2]]),
        "parallel": np.concatenate([np.zeros(n_access, dtype=np.int64), uplink[:, 3]]),
        "rate_bps": np.repeat([link.rate_bps, params.uplink_rate_bps], [n_access, n_uplinks]),
        "delay_ps": np.repeat([link.delay_ps, params.uplink_delay_ps], [n_access, n_uplinks]),
        "loss_ratio": np.full(n_access + n_uplinks, link.loss_ratio, dtype=np.float64),
    }
    return {"nodes": nodes, "links": links}


def counts(params: Params) -> dict[str, int]:
    """Return the closed-form numbers of hosts, switches, switch ports in use and cables."""
    access_links = params.leaves * params.hosts_per_leaf * params.planes
    fabric_links = params.leaves * params.spines * params.parallel * params.planes
    uplinks = params.spines * params.parallel
    ports_of_plane = params.leaves * (params.hosts_per_leaf + uplinks) + uplinks * params.leaves
    return {
        "hosts": params.leaves * params.hosts_per_leaf,
        "leaves": params.leaves * params.planes,
        "spines": params.spines * params.planes,
        "top_switches": params.spines * params.planes,
        "switches": (params.leaves + params.spines) * params.planes,
        "ports": ports_of_plane * params.planes,
        "access_links": access_links,
        "fabric_links": fabric_links,
        "cables": access_links + fabric_links,
        "hosts_per_leaf": params.hosts_per_leaf,
    }


def _grid(*axes: np.ndarray) -> np.ndarray:
    """Return all combinations, one row each, the first axis slowest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
