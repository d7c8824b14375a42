# SPDX-License-Identifier: GPL-2.0-only
"""What do demands between datacenters get of what they asked for, and what is lost for it?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.metrics.recovery import dip
from pyorch.render.tables import workload_of_flows
from pyorch.spec.resolved import Spec
from pyorch.wan.traffic import Traffic
from pyorch.workload import wan_demands

KIND = "wan_demands"
_SEES = "its controller sees links change. Ask for wan_control, recovery or slowdown."
_SAMPLES = "its rates change and nothing was sampled. Write trace: {sample: 10 ms}, run it again."


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if [load.type for load in spec.workload].count(KIND) == 1:
        given = next(filter(None, (load.control for load in spec.workload)), None)
        if not (given and spec.failures):
            return ""
        sampled = spec.trace.sample_ps is not None
        return _SEES if given.controller else "" if sampled else _SAMPLES
    return f"not one of its workloads is {KIND}, or several are. Ask for fct or slowdown."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per demand, and one more for each plan that a controller makes later.

    Returns
    -------
    DataFrame
        ``demand``, ``priority``; ``asked_bps``; ``from_ps``: when the links became what the plan is
        for, 0 at the start; ``granted_bps``: by this plan, rates on the wire without parity;
        ``achieved_bps``: all of its data with headers and framing, over the time from its start to
        its last delivery without the propagation of that flow; with several plans the mean of the
        samples from `restored_ps` until links change again or a flow of it is complete;
        ``restored_ps``: from `from_ps` to the end of the first sample in which 90 % of what is
        granted arrive after one with less, 0 if none has less; <NA>: there is none, or one plan;
        ``over_ideal``: longest completion of a flow over bytes at the granted rate and propagation,
        each plan taken to be in force as soon as the links are what it is for;
        ``spread``: longest over shortest completion of its hosts [1];
        ``retransmitted_packets``: sum of the demand; ``dropped_buffer_frames``: of the whole run,
        everywhere; ``max_cable_share``: what the plan takes of its fullest cable [1].
    """
    finished = run.flows
    index = [load.type for load in run.spec.workload].index(KIND)
    params = run.spec.workload[index].params
    plan = wan_demands.traffic(params, run.inputs["nodes"], run.inputs["links"])
    own = np.flatnonzero(workload_of_flows(run.spec) == index)
    given = run.inputs["flows"]["flow"][own]
    place = finished.set_index("flow").index.get_indexer(given)
    flows = finished.iloc[place].reset_index(drop=True)
    wire_bits = 8.0 * run.idle_ps["wire_bytes"].to_numpy()[place]
    later = _later_plans(run, params)
    plans = [(0, plan), *later]
    delays_ps = delays_of(run, params.routed, plans[-1][1], place)
    fct_ps = (flows["receiver_end_ps"] - flows["start_ps"]).to_numpy()
    demand_of = np.array([stream.demand for stream in plan.streams])
    source_of = np.array([stream.source for stream in plan.streams])
    dropped = int(run.table("ports")["dropped_buffer_frames"].sum())
    rows = []
    for index, demand in enumerate(wan_demands.asked(params)):
        mine = demand_of == index
        last = np.flatnonzero(mine)[np.argmax(fct_ps[mine])]
        each_bps = [made.granted_bps[index] / (demand.hosts * params.quanta) for _, made in plans]
        since_ps = [max(0, from_ps - demand.start_ps) for from_ps, _ in plans]
        ideal_ps = _sent_ps(wire_bits[mine], since_ps, each_bps) + delays_ps[mine]
        of_host = pd.Series(fct_ps[mine]).groupby(source_of[mine]).max()
        whole_bps = wire_bits[mine].sum() / (fct_ps[last] - delays_ps[last]) * 1e12
        phases = [(whole_bps, pd.NA)]
        if later:
            over = 1 + params.overhead
            wanted = [(from_ps, over * made.granted_bps[index]) for from_ps, made in plans]
            phases = _phases(run, flows[mine], wanted)
        for (from_ps, made), (achieved_bps, restored_ps) in zip(plans, phases, strict=True):
            rows.append(
                {
                    "demand": demand.name,
                    "priority": demand.priority,
                    "asked_bps": demand.points()[-1][1],
                    "from_ps": from_ps,
                    "granted_bps": made.granted_bps[index],
                    "achieved_bps": achieved_bps,
                    "restored_ps": restored_ps,
                    "over_ideal": (fct_ps[mine] / ideal_ps).max(),
                    "spread": of_host.max() / of_host.min(),
                    "retransmitted_packets": int(flows["retransmitted_packets"][mine].sum()),
                    "dropped_buffer_frames": dropped,
                    "max_cable_share": max(made.cable_share.values()),
                }
            )
    return pd.DataFrame(rows).astype({"restored_ps": "Int64"})


def _later_plans(run: RunTables, params: wan_demands.Params) -> list[tuple[int, Traffic]]:
    """Return what a controller plans as links change, and when they did [ps]."""
    if "link_events" not in run.inputs:
        return []
    tables = (run.inputs[name] for name in ("nodes", "links", "link_events"))
    return [(step.changed_ps, step.after) for step in wan_demands.steps(params, *tables)]


def _sent_ps(bits: np.ndarray, since_ps: list[int], rates_bps: list[float]) -> np.ndarray:
    """Return how long so many bits take at rates that hold from these times on [ps]."""
    sent = np.cumsum([0, *(np.diff(since_ps) * np.array(rates_bps[:-1]) / 1e12)])
    at = np.searchsorted(sent, bits, side="right") - 1
    return np.array(since_ps)[at] + (bits - sent[at]) / np.array(rates_bps)[at] * 1e12


def _phases(
    run: RunTables, flows: pd.DataFrame, wanted: list[tuple[int, float]]
) -> list[tuple[float, int]]:
    """Return rate [bit/s] and time of restoration [ps] of each plan: when it begins, and its rate.

    Samples count until the first of the flows is complete.
    """
    period_ps = run.spec.trace.sample_ps
    samples = run.table("flow_samples").astype("int64")
    samples = samples[samples["flow"].isin(flows["flow"]) & (samples["time_ps"] % period_ps == 0)]
    framing_bytes = run.spec.wire.framing_bytes * samples["arrived_packets"]
    n_samples = int(flows["receiver_end_ps"].min()) // period_ps
    arrived_bytes = np.bincount(
        samples["time_ps"] // period_ps - 1,
        weights=samples["arrived_bytes"] + framing_bytes,
        minlength=n_samples,
    )
    rate_bps = arrived_bytes[:n_samples] * 8e12 / period_ps
    ends = [from_ps // period_ps for from_ps, _ in wanted[1:]] + [n_samples]
    found = []
    for (from_ps, bps), end in zip(wanted, ends, strict=True):
        first = from_ps // period_ps
        _, _, back = dip(np.array([bps]), rate_bps[first:end])
        after = rate_bps[first + (back or 0) : end]
        achieved_bps = after.mean() if back is not None and len(after) else np.nan
        restored_ps = pd.NA if back is None else max(0, (first + back) * period_ps - from_ps)
        found.append((achieved_bps, restored_ps))
    return found


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
