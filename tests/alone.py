# SPDX-License-Identifier: GPL-2.0-only
"""No message of any run that a test makes is faster than it would be alone on its network."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from pyorch.metrics._idle import IdleTimes
from pyorch.metrics._run import RunTables
from pyorch.spec import typeids
from pyorch.spec.sections import key_of
from pyorch.theory.paths import Network

#: What rounding may make of a time that is exact.
ROUNDING = 1e-9
NEVER = -1


def check_run(run: RunTables) -> None:
    """Raise AssertionError if a message of a run, of all of which have ended, is too fast."""
    if len(run.table("flows")) and run.table("flows")["receiver_end_ps"].notna().all():
        refuse_faster(run.fct_ps, run.idle_ps, run.spec.engine.skip_ppm)


def refuse_faster(fct_ps: np.ndarray, idle: pd.DataFrame, skip_ppm: int | None) -> None:
    """Raise AssertionError if a time is shorter than that of the message alone."""
    least_ps = idle["unloaded_fct_ps"].to_numpy() * (1 - ROUNDING - (skip_ppm or 0) / 1e6)
    faster = np.flatnonzero(fct_ps < least_ps)
    assert not len(faster), (
        f"{len(faster)} messages are faster than alone: row {faster[0]} took {fct_ps[faster[0]]}"
        f" ps, alone {least_ps[faster[0]]}"
    )


def check_outcome(fabric, tables) -> None:
    """Raise AssertionError if a message that has ended is too fast, of a run without a spec."""
    flows = {name: np.asarray(column) for name, column in tables["flows"].items()}
    given = fabric._tables
    done = (flows["receiver_end_ps"] != NEVER) & (flows["bytes"] > 0)
    if not done.any():
        return
    nodes, links = (dict(given[name]) for name in ("nodes", "links"))
    links.setdefault("parallel", np.zeros(len(links["node_a"]), dtype=np.int64))
    links["rate_bps"] = _fastest_bps(links, given.get("link_events"))
    network = Network(nodes, links)
    wires = pd.DataFrame({k: np.asarray(v) for k, v in tables["transports"].items()})
    idle = IdleTimes(_spec(fabric), nodes, network, wires)
    ended = {name: flows[name][done] for name in ("flow", "src", "dst", "bytes", "transport")}
    paths = {name: np.asarray(column) for name, column in tables["paths"].items()}
    single = np.isin(ended["flow"], paths["flow"])
    routes = None
    if single.any() and "link_events" not in given:
        own = network.recorded_routes(ended["flow"][single], paths)
        routes = np.full((len(single), own.shape[1]), -1)
        routes[single] = own
    found = idle.of_flows(ended, routes, one_path=single)
    took_ps = (flows["receiver_end_ps"] - flows["start_ps"])[done]
    refuse_faster(took_ps, found, fabric.engine.get("skip_ppm"))


def _fastest_bps(links, events) -> np.ndarray:
    """Return the highest rate that each link has in the run."""
    rate_bps = np.array(links["rate_bps"])
    if events is None:
        return rate_bps
    parallel = events.get("parallel", np.zeros(len(events["time_ps"]), dtype=np.int64))
    for a, b, index, rate in zip(
        events["node_a"], events["node_b"], parallel, events["rate_bps"], strict=True
    ):
        ends = np.sort([links["node_a"], links["node_b"]], axis=0)
        row = (ends[0] == min(a, b)) & (ends[1] == max(a, b)) & (links["parallel"] == index)
        rate_bps[row] = np.maximum(rate_bps[row], rate)
    return rate_bps


def _spec(fabric) -> SimpleNamespace:
    """Return what a spec says of wires, switches and hosts."""
    wire = _options(fabric, "ns3::Wire", 0)
    classes = sorted({index for kind, index in fabric._sections if kind == "ns3::SwitchClass"})
    kinds = [_options(fabric, "ns3::Switch", 0)]
    kinds += [_options(fabric, "ns3::SwitchClass", index) for index in classes]
    costs = [fabric._sections.get(("ns3::Host", i)) for i in range(len(fabric._transports))]
    transports = [SimpleNamespace(host=its and SimpleNamespace(model_extra=its)) for its in costs]
    return SimpleNamespace(
        wire=wire, switch=SimpleNamespace(kinds=kinds), transport=tuple(transports)
    )


def _options(fabric, kind: str, index: int) -> SimpleNamespace:
    given = fabric._sections.get((kind, index), {})
    defaults = {key_of(a["name"]): typeids.default_of(a) for a in typeids.load().section(kind)}
    found = {**defaults, **given}
    return SimpleNamespace(**{k: None if value == "none" else value for k, value in found.items()})
