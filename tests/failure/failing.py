# SPDX-License-Identifier: GPL-2.0-only
"""A small network, and what fails in it."""

from pathlib import Path

import numpy as np

from pyorch.failure import scheduled

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
SCENARIO = """\
name: twice
topology: {{type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 4}}
link: {{rate: 800 Gb/s, delay: 500 ns}}
switch: {{buffer: 8 MB}}
workload: {{type: permutation, message: 40 kB}}
transport: {{type: ns3::RoceTransport}}
failures: [{failures}]
stop: 20 ms
"""

#: Two hosts under two leaves (10, 11), two spines (20, 21) in planes 0 and 1; a double link.
NODES = {
    "node": np.array([0, 1, 10, 11, 20, 21]),
    "is_switch": np.array([0, 0, 1, 1, 1, 1]),
    "tier": np.array([0, 0, 1, 1, 2, 2]),
    "plane": np.array([0, 0, 0, 0, 0, 1]),
}
LINKS = {
    "node_a": np.array([0, 1, 10, 10, 11, 11, 11]),
    "node_b": np.array([10, 11, 20, 21, 20, 21, 21]),
    "parallel": np.array([0, 0, 0, 0, 0, 0, 1]),
    "rate_bps": np.full(7, 100),
    "delay_ps": np.full(7, 1),
}


def scheduled_outages(**given):
    params = scheduled.Params.model_validate(given)
    scheduled.check(params, NODES, LINKS, 10**9)
    return scheduled.outages(params, NODES, LINKS, 1, 10**9)
