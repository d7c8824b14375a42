# SPDX-License-Identifier: GPL-2.0-only
"""What do demands between datacenters get of what they asked for, and what is lost for it?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables, refuse
from pyorch.render.tables import workload_of_flows
from pyorch.spec.fields import restore
from pyorch.wan.traffic import Traffic
from pyorch.workload import wan_demands

KIND = "wan_demands"
_CHANGES = "its controller changes rates and paths as links change. Ask for recovery or slowdown."


def refusal(spec: dict) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if [load["type"] for load in spec["workload"]].count(KIND) == 1:
        controlled = any(load.get("control") for load in spec["workload"])
        return _CHANGES if controlled and spec["failures"] else ""
    return f"not one of its workloads is {KIND}, or several are. Ask for fct or slowdown."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per demand.

    Returns
    -------
    DataFrame
        ``demand``, ``priority``; ``asked_bps``, ``granted_bps``: rates on the wire without parity;
        ``achieved_bps``: all of its data with headers and framing, over the time from its start to
        its last delivery without the propagation of that flow;
        ``over_ideal``: longest completion of a flow over bytes at the granted rate and propagation;
        ``spread``: longest over shortest completion of its hosts [1];
        ``retransmitted_packets``: sum of the demand; ``dropped_buffer_frames``: of the whole run,
        everywhere; ``max_cable_share``: what the plan takes of its fullest cable [1].
    """
    finished = run.flows
    refuse(refusal(run.spec))
    index = [load["type"] for load in run.spec["workload"]].index(KIND)
    params = restore(wan_demands.Params, run.spec["workload"][index])
    plan = wan_demands.traffic(params, run.inputs["nodes"], run.inputs["links"])
    own = np.flatnonzero(workload_of_flows(run.spec) == index)
    given = run.inputs["flows"]["flow"][own]
    place = finished.set_index("flow").index.get_indexer(given)
    flows = finished.iloc[place].reset_index(drop=True)
    wire_bits = 8.0 * run.idle_ps["wire_bytes"].to_numpy()[place]
    delays_ps = delays_of(run, params.routed, plan, place)
    fct_ps = (flows["receiver_end_ps"] - flows["start_ps"]).to_numpy()
    demand_of = np.array([stream.demand for stream in plan.streams])
    source_of = np.array([stream.source for stream in plan.streams])
    dropped = int(run.table("ports")["dropped_buffer_frames"].sum())
    rows = []
    for index, demand in enumerate(wan_demands.asked(params)):
        mine = demand_of == index
        granted = plan.granted_bps[index]
        last = np.flatnonzero(mine)[np.argmax(fct_ps[mine])]
        each_bps = granted / (demand.hosts * params.quanta)
        ideal_ps = wire_bits[mine] / each_bps * 1e12 + delays_ps[mine]
        of_host = pd.Series(fct_ps[mine]).groupby(source_of[mine]).max()
        rows.append(
            {
                "demand": demand.name,
                "priority": demand.priority,
                "asked_bps": demand.points()[-1][1],
                "granted_bps": granted,
                "achieved_bps": wire_bits[mine].sum() / (fct_ps[last] - delays_ps[last]) * 1e12,
                "over_ideal": (fct_ps[mine] / ideal_ps).max(),
                "spread": of_host.max() / of_host.min(),
                "retransmitted_packets": int(flows["retransmitted_packets"][mine].sum()),
                "dropped_buffer_frames": dropped,
                "max_cable_share": max(plan.cable_share.values()),
            }
        )
    return pd.DataFrame(rows)


def delays_of(run: RunTables, routed: bool, plan: Traffic, place: np.ndarray) -> np.ndarray:
    """Return the propagation of each flow on the path it was given, or else has taken [ps]."""
    if not routed:
        routes = run.routes[place]
        return np.where(routes >= 0, run.network.delay_ps[routes], 0).sum(axis=1)
    links = run.inputs["links"]
    columns = (links[name].tolist() for name in ("node_a", "node_b", "parallel", "delay_ps"))
    delay_ps = {(a, b, parallel): delay for a, b, parallel, delay in zip(*columns, strict=True)}
    delay_ps |= {(b, a, parallel): delay for (a, b, parallel), delay in delay_ps.items()}
    return np.array([sum(delay_ps[cable] for cable in stream.path) for stream in plan.streams])
