# SPDX-License-Identifier: GPL-2.0-only
"""What held the slowest flow of a run back: the bytes on its path, or a link that stood still?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables, changes_of_links
from pyorch.metrics.fluid import own_fluid_fct_ps
from pyorch.spec.resolved import Spec
from pyorch.theory import ecmp

COLUMNS = (
    "flow", "fct_ps", "fluid_ps", "link_hop", "link_flows", "link_load_ps", "busy_share",
    "paused_share", "starved_share", "fabric_paused_share",
)  # fmt: skip


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row for a run of packets whose flows keep to one path, none for any other.

    Returns
    -------
    DataFrame
        ``flow``, ``fct_ps``, ``fluid_ps``: the slowest flow, measured, and its own fluid value;
        ``link_hop``, ``link_flows``, ``link_load_ps``: the link of its path with the most bytes,
        how many flows cross it, and those bytes over its rate. From the first start to the end of
        the run this link was sending for ``busy_share``, stopped by PAUSE for ``paused_share``,
        and without a frame to send for ``starved_share``, the rest [1]; a frame that ends after
        the PAUSE counts as both.
        ``fabric_paused_share``: mean of the paused share over all links between switches [1].
    """
    if run.table("paths").empty or run.table("ports")["paused_ps"].isna().all():
        return pd.DataFrame(columns=list(COLUMNS))
    run.refuse_changes_of_links()
    flows, network, routes = run.flows, run.network, run.routes
    row = int(np.argmax(run.fct_ps))
    load_ps = ecmp.link_load_ps(routes, run.idle_ps["wire_bytes"].to_numpy(), network.rate_bps)
    path = routes[row][routes[row] >= 0]
    hop = int(np.argmax(load_ps[path]))
    link = path[hop]
    elapsed_ps = int(run.table("summary")["now_ps"].iloc[0] - flows["start_ps"].min())
    ports = run.table("ports").set_index(["node", "peer", "parallel"])
    port = ports.loc[(network.tail[link], network.head[link], network.parallel[link])]
    busy = float(port["sent_bytes"]) * 8e12 / float(port["rate_bps"]) / elapsed_ps
    paused = float(port["paused_ps"]) / elapsed_ps
    found = [
        int(flows["flow"].iloc[row]),
        int(run.fct_ps[row]),
        own_fluid_fct_ps(run)[row],
        hop,
        int(ecmp.flows_per_link(routes, len(network.rate_bps))[link]),
        load_ps[link],
        busy,
        paused,
        max(0.0, 1 - busy - paused),
        _fabric_paused_ps(run) / elapsed_ps,
    ]
    return pd.DataFrame([found], columns=list(COLUMNS))


def _fabric_paused_ps(run: RunTables) -> float:
    """Return how long a link between two switches was paused, mean of all [ps]; nan without one."""
    ports, is_switch = run.table("ports"), run.network.is_switch
    ends = ports[["node", "peer"]].to_numpy(dtype=np.int64)
    return ports["paused_ps"][is_switch[ends].all(axis=1)].astype("float64").mean()


def refusal(spec: Spec) -> str:
    """Return why a run has no fluid value."""
    return changes_of_links(spec)
