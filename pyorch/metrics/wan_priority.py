# SPDX-License-Identifier: GPL-2.0-only
"""What does admitted traffic between datacenters cost the traffic inside of them?"""

import numpy as np
import pandas as pd

from pyorch.metrics import wan_te
from pyorch.metrics._run import RunTables
from pyorch.metrics.wan_te import KIND, delays_of
from pyorch.render.tables import workload_of_flows
from pyorch.spec.resolved import Spec
from pyorch.wan.traffic import Traffic
from pyorch.workload import wan_demands
from pyorch.workload._hosts import hosts, leaf_of


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if spec.failures and any(load.control for load in spec.workload):
        return "its controller changes rates and paths as links change. Ask for wan_te or recovery."
    return wan_te.refusal(spec)


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per other workload.

    Returns
    -------
    DataFrame
        ``workload`` (index); ``wan_share``: of the fullest cable between its leaves and spines that
        wide-area traffic has, as planned [1]; ``completion_ps``: from its first start to its last
        delivery; ``slowdown``: that over the time in which its data, with headers and framing,
        passes the links above its leaves; ``free_slowdown``: what this would be if just what
        wide-area traffic leaves of these links were filled evenly; ``achieved_share``: rate of
        wide-area traffic over what was granted, the least of its flows;
        ``dropped_buffer_frames``: of the whole run.
    """
    finished = run.flows
    index = [load.type for load in run.spec.workload].index(KIND)
    params = run.spec.workload[index].params
    plan = wan_demands.traffic(params, run.inputs["nodes"], run.inputs["links"])
    above = _above_leaves(run, plan)
    of = pd.Series(workload_of_flows(run.spec), index=run.inputs["flows"]["flow"])
    flows = finished.assign(wire_bits=8.0 * run.idle_ps["wire_bytes"].to_numpy())
    workloads = of.loc[flows["flow"]].to_numpy()
    dropped = int(run.table("ports")["dropped_buffer_frames"].sum())
    achieved = _achieved_share(run, flows[workloads == index], plan, params)
    rows = []
    for workload, mine in flows.groupby(workloads):
        if workload != index:
            crossed = above.join(_crossed_bits(run, mine), how="inner")
            whole_ps = (crossed["bits"] / crossed["rate_bps"]).max() * 1e12
            free_bps = crossed["rate_bps"] - crossed["taken_bps"]
            completion_ps = int(mine["receiver_end_ps"].max() - mine["start_ps"].min())
            rows.append(
                {
                    "workload": int(workload),
                    "wan_share": crossed["fullest"].max(),
                    "completion_ps": completion_ps,
                    "slowdown": completion_ps / whole_ps,
                    "free_slowdown": (crossed["bits"] / free_bps).max() * 1e12 / whole_ps,
                    "achieved_share": achieved,
                    "dropped_buffer_frames": dropped,
                }
            )
    return pd.DataFrame(rows)


def _above_leaves(run: RunTables, plan: Traffic) -> pd.DataFrame:
    """Return, per leaf and direction, the rate above it, and what the plan takes of it."""
    nodes, links = run.inputs["nodes"], run.inputs["links"]
    tier = dict(zip(nodes["node"].tolist(), nodes["tier"].tolist(), strict=True))
    columns = (links[name].tolist() for name in ("node_a", "node_b", "parallel", "rate_bps"))
    rows = []
    for a, b, parallel, rate_bps in zip(*columns, strict=True):
        for node, peer in ((a, b), (b, a)):
            if {tier[node], tier[peer]} == {1, 2}:
                share = plan.cable_share.get((node, peer, parallel), 0.0)
                leaf, way = (node, "up") if tier[node] == 1 else (peer, "down")
                rows.append((leaf, way, float(rate_bps), share * rate_bps, share))
    table = pd.DataFrame(rows, columns=["leaf", "way", "rate_bps", "taken_bps", "fullest"])
    how = {"rate_bps": "sum", "taken_bps": "sum", "fullest": "max"}
    return table.groupby(["leaf", "way"]).agg(how)


def _crossed_bits(run: RunTables, flows: pd.DataFrame) -> pd.DataFrame:
    """Return, per leaf and direction, the bits of these flows that go to or come from above it."""
    nodes, links = run.inputs["nodes"], run.inputs["links"]
    leaf = dict(zip(hosts(nodes).tolist(), leaf_of(nodes, links).tolist(), strict=True))
    ends = flows.assign(up=flows["src"].map(leaf), down=flows["dst"].map(leaf))
    ends = ends[ends["up"] != ends["down"]]
    ways = [ends.groupby(way)["wire_bits"].sum() for way in ("up", "down")]
    table = pd.concat(ways, keys=["up", "down"], names=["way", "leaf"])
    return table.reorder_levels(["leaf", "way"]).to_frame("bits")


def _achieved_share(
    run: RunTables, flows: pd.DataFrame, plan: Traffic, params: wan_demands.Params
) -> float:
    """Return the least of the rates of wide-area flows over what they were granted [1]."""
    delays_ps = delays_of(run, params.routed, plan, flows.index.to_numpy())
    took_ps = (flows["receiver_end_ps"] - flows["start_ps"]).to_numpy() - delays_ps
    demands = wan_demands.asked(params)
    granted = [
        plan.granted_bps[s.demand] / (demands[s.demand].hosts * params.quanta) for s in plan.streams
    ]
    return float((flows["wire_bits"].to_numpy() / took_ps * 1e12 / np.array(granted)).min())
