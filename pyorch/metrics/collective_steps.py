# SPDX-License-Identifier: GPL-2.0-only
"""When does each step of a collective begin and end, and how long do its messages take?"""

import pandas as pd

from pyorch.metrics._collectives import groups, refusal
from pyorch.metrics._run import RunTables

__all__ = ["measure", "refusal"]


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per workload and step, over all groups and chunks.

    Returns
    -------
    DataFrame
        ``workload``, ``step``: indices, from 0; ``messages``; ``first_start_ps``,
        ``last_start_ps``, ``last_end_ps``: when they began and the last had come;
        ``shortest_ps``, ``median_ps``, ``longest_ps``: time of a message, of two in the middle the
        shorter. A message that is relayed begins at its first sender.
    """
    begins_ps = run.begins_ps.to_numpy(dtype="int64")
    parts = []
    for group in groups(run):
        flows = run.flows.iloc[group.rows]
        parts.append(
            pd.DataFrame(
                {
                    "workload": group.workload,
                    "step": group.graph.step,
                    "start_ps": begins_ps[group.rows],
                    "end_ps": flows["receiver_end_ps"].to_numpy(),
                }
            )
        )
    table = pd.concat(parts, ignore_index=True)
    table["time_ps"] = table["end_ps"] - table["start_ps"]
    grouped = table.groupby(["workload", "step"])
    return grouped.agg(
        messages=("step", "size"),
        first_start_ps=("start_ps", "min"),
        last_start_ps=("start_ps", "max"),
        last_end_ps=("end_ps", "max"),
        shortest_ps=("time_ps", "min"),
        median_ps=("time_ps", lambda times: times.quantile(0.5, interpolation="lower")),
        longest_ps=("time_ps", "max"),
    ).reset_index()
