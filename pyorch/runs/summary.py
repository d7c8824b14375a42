# SPDX-License-Identifier: GPL-2.0-only
"""Takes a finished run, returns what came out of it in a few numbers that agree with each other.

The slowest flow is set against what that very flow would need alone, the largest slowdown is that
of the flow it names: with messages of several sizes these are two flows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pyorch.errors import TraceError
from pyorch.theory import tails
from pyorch.traces.columns import CONTRACTS
from pyorch.units import format_si

if TYPE_CHECKING:
    from pyorch.metrics._run import RunTables
    from pyorch.runs.run import RunResult

#: All numbers that a summary may have.
NAMES = (
    "flows", "flows_done", "smallest_message_bytes", "largest_message_bytes", "mean_fct_ps",
    "slowest_fct_ps", "slowest_flow", "slowest_unloaded_fct_ps", "slowest_slowdown",
    "slowdown_mean", "slowdown_p50", "slowdown_p99", "slowdown_p99_low", "slowdown_p99_high",
    "slowdown_max", "slowdown_max_flow", "optimal_fct_ps", "slowest_over_optimal",
    "retransmitted_packets", "timeouts", "dropped_frames", "pause_frames", "longest_queue_bytes",
    "simulated_ps", "events", "engine_cpu_s", "peak_memory_bytes", "stop_reason",
)  # fmt: skip
#: Columns of ports: frames that were dropped.
_DROPS = [name for name in CONTRACTS["ports"] if name.startswith("dropped_")]


def summarize(run: "RunResult") -> dict[str, object]:
    """Return the numbers of a run by name, units in the names.

    Without ``slowest_*`` and ``slowdown_*`` if a flow did not finish: leaving it out would make
    the tail look better than it is.
    """
    flows = run._run.table("flows")
    ends = flows["receiver_end_ps"]
    found: dict[str, object] = {
        "flows": len(flows),
        "flows_done": int(ends.notna().sum()),
        "smallest_message_bytes": int(flows["bytes"].min()),
        "largest_message_bytes": int(flows["bytes"].max()),
    }
    if ends.notna().all():
        found |= _slowest(run)
    return found | {
        **_counted(flows, run._run),
        "simulated_ps": run.outcome["now_ps"],
        "events": run.provenance["events"],
        "engine_cpu_s": run.provenance["run_cpu_s"],
        "peak_memory_bytes": run.provenance["peak_memory_bytes"],
        "stop_reason": run.outcome["stop_reason"],
    }


def _counted(flows: pd.DataFrame, tables: "RunTables") -> dict[str, int]:
    """Return what only packets have; nothing of it for a run at flow level."""

    def of_ports(name: str) -> pd.Series:  # one at a time: a network may have millions of ports
        return tables.columns("ports", [name])[name]

    longest = of_ports("max_queue_bytes").max()
    if pd.isna(longest):
        return {}
    return {
        "retransmitted_packets": int(flows["retransmitted_packets"].sum()),
        "timeouts": int(flows["timeouts"].sum()),
        "dropped_frames": sum(int(of_ports(name).sum()) for name in _DROPS),
        "pause_frames": int(of_ports("pause_frames_sent").sum()),
        "longest_queue_bytes": int(longest),
    }


def _slowest(run: "RunResult") -> dict[str, object]:
    """Return the completion times; without slowdowns where no unloaded time is known."""
    tables = run._run
    fct_ps, ids = tables.fct_ps, tables.flows["flow"].to_numpy()
    last = int(np.argmax(fct_ps))
    found: dict[str, object] = {
        "mean_fct_ps": round(float(fct_ps.mean())),
        "slowest_fct_ps": int(fct_ps[last]),
        "slowest_flow": int(ids[last]),
    }
    try:
        idle = tables.idle_ps
    except TraceError:  # the transport does not say how it frames
        return found
    unloaded_ps = idle["unloaded_fct_ps"].to_numpy()
    slowdown = tables.slowdown
    worst = int(np.argmax(slowdown))
    tail = tails.quantile(slowdown, 0.99)
    found |= {
        "slowest_unloaded_fct_ps": int(unloaded_ps[last]),
        "slowest_slowdown": float(slowdown[last]),
        "slowdown_mean": float(slowdown.mean()),
        "slowdown_p50": float(np.quantile(slowdown, 0.5, method="inverted_cdf")),
        "slowdown_p99": tail.value,
        "slowdown_p99_low": tails.known(tail.low),
        "slowdown_p99_high": tails.known(tail.high),
        "slowdown_max": float(slowdown[worst]),
        "slowdown_max_flow": int(ids[worst]),
    }
    if _is_permutation(tables.flows):
        optimal_ps = unloaded_ps + idle["reverse_ack_ps"].to_numpy()
        found["optimal_fct_ps"] = int(optimal_ps[last])
        found["slowest_over_optimal"] = float(fct_ps[last] / optimal_ps[last])
    return found


def _is_permutation(flows: Mapping) -> bool:
    """Whether every host that sends or receives does both once, and all messages are equally long.

    Then the ACKs of an equal message in the other direction are what no transport can avoid.
    """
    one_size = flows["bytes"].nunique() == 1
    once = flows["src"].is_unique and flows["dst"].is_unique
    return bool(one_size and once and set(flows["src"]) == set(flows["dst"]))


def in_words(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return a summary as a reader sees it: quantity to value with its unit."""
    s = summary
    rows = {"flows": f"{s['flows']}"}
    if s["flows_done"] < s["flows"]:
        rows["flows"] = f"{s['flows_done']} of {s['flows']} done ({s['stop_reason']})"
    rows["message size"] = _range(s["smallest_message_bytes"], s["largest_message_bytes"])
    if "slowest_fct_ps" in s:
        rows["mean completion time"] = _time(s["mean_fct_ps"])
        rows[f"slowest flow ({s['slowest_flow']})"] = _time(s["slowest_fct_ps"])
    if "slowdown_mean" in s:
        rows["  alone it would take"] = _time(s["slowest_unloaded_fct_ps"])
        rows["  its slowdown"] = f"{s['slowest_slowdown']:.3f}"
    if "optimal_fct_ps" in s:
        rows["  optimal (headers and ACKs counted)"] = _time(s["optimal_fct_ps"])
        rows["  slowest over optimal"] = f"{s['slowest_over_optimal']:.3f}"
    if "slowdown_mean" in s:
        names = ("mean", "p50", "p99")
        rows["slowdown mean / p50 / p99"] = " / ".join(f"{s[f'slowdown_{n}']:.3f}" for n in names)
        rows["  95 % interval of its p99"] = _interval(s)
        rows[f"largest slowdown (flow {s['slowdown_max_flow']})"] = f"{s['slowdown_max']:.3f}"
    if "longest_queue_bytes" in s:
        rows |= {
            "retransmitted packets": str(s["retransmitted_packets"]),
            "retransmission timeouts": str(s["timeouts"]),
            "dropped frames": str(s["dropped_frames"]),
            "PAUSE and RESUME frames": str(s["pause_frames"]),
            "longest queue": format_si(s["longest_queue_bytes"], "B"),
        }
    rows |= {
        "simulated time": _time(s["simulated_ps"]),
        "events": format_si(s["events"], ""),
        "simulation CPU": format_si(s["engine_cpu_s"], "s"),
        "peak memory": format_si(s["peak_memory_bytes"], "B"),
    }
    return {name: value.strip() for name, value in rows.items()}


def by_workload(run: "RunResult") -> dict[str, str]:
    """Return how long each of several workloads takes, and each training step, in words."""
    tables, words = run._run, {}
    flows, loads = tables.table("flows"), run.spec.workload
    for index, load in enumerate(loads if len(loads) > 1 else ()):
        own = flows[flows["flow"].isin(tables.ids_of(index))]
        if len(own) and own["receiver_end_ps"].notna().all():
            took = int(own["receiver_end_ps"].max() - own["start_ps"].min())
            words[f"workload {index}, {load.type}"] = _time(took)
    if "tasks" in run.tables and flows["receiver_end_ps"].notna().all():
        for row in run.metric("training_step").itertuples():
            several = len(loads) > 1
            words[f"step of workload {row.workload}" if several else "step"] = _time(row.step_ps)
            whose = f"  workload {row.workload}: " if several else "  "
            messages = row.exposed_share - row.bubble_share
            words[f"{whose}devices wait for messages"] = f"{100 * messages:.1f} % of the step"
            words[f"{whose}for other stages (bubble)"] = (
                f"{100 * row.bubble_share:.1f} % of the step"
            )
    return words


def _interval(s: Mapping[str, Any]) -> str:
    """Return between which values the 99th percentile of the slowdown lies, as far as known."""
    low, high = s["slowdown_p99_low"], s["slowdown_p99_high"]
    if high is None:
        return f"unknown: that takes {tails.least_values(0.99)} flows, not {s['flows']}"
    return f"{low:.3f} to {high:.3f}"


def _time(time_ps: int) -> str:
    return format_si(time_ps * 1e-12, "s")


def _range(low: int, high: int) -> str:
    shown = format_si(high, "B")
    return shown if low == high else f"{format_si(low, 'B')} to {shown}"
