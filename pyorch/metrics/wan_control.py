# SPDX-License-Identifier: GPL-2.0-only
"""What has a controller that looks at a run done, and what has waited at the sources meanwhile?"""

import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec
from pyorch.workload import wan_demands

#: Less than this of the most is nothing: packets are whole, and sources never quite even [1].
NOTHING_SHARE = 0.01


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    if any(load.controller for load in spec.workload):
        return ""
    return "no controller has looked at it. Write control: {controller: max_min} into its workload."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per controlled demand.

    Returns
    -------
    DataFrame
        ``demand``; ``looks``: epochs, and ``missed_looks``: those without a decision;
        ``moved_flows``: paths that were changed; ``most_waiting_bytes``: what its sources had and
        had not sent, the most at the end of an epoch, and ``most_waiting_ps``: when;
        ``over_ps``: end of the first epoch after that at which less than `NOTHING_SHARE` of it
        waits, <NA> if that does not come; ``least_limit_bps``, ``most_limit_bps``: to which it was
        admitted at ends of epochs; ``dropped_buffer_frames``: of the whole run, everywhere.
    """
    dropped = int(run.table("ports")["dropped_buffer_frames"].sum())
    table, rows = run.table("control"), []
    loads = [load for load in run.spec.workload if load.controller]
    for (index, demand), looks in table.groupby(["controller", "demand"]):
        peak = looks["waiting_bytes"].idxmax()
        most, most_ps = int(looks.at[peak, "waiting_bytes"]), int(looks.at[peak, "time_ps"])
        later = looks[looks["time_ps"] > most_ps]
        over = later["time_ps"][later["waiting_bytes"] < NOTHING_SHARE * most]
        rows.append(
            {
                "demand": wan_demands.asked(loads[index].params)[demand].name,
                "looks": len(looks),
                "missed_looks": int(looks["granted_bps"].isna().sum()),
                "moved_flows": int(looks["moved_flows"].sum()),
                "most_waiting_bytes": most,
                "most_waiting_ps": most_ps,
                "over_ps": int(over.iloc[0]) if len(over) else pd.NA,
                "least_limit_bps": int(looks["limit_bps"].min()),
                "most_limit_bps": int(looks["limit_bps"].max()),
                "dropped_buffer_frames": dropped,
            }
        )
    return pd.DataFrame(rows).astype({"over_ps": "Int64"})
