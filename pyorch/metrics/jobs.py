# SPDX-License-Identifier: GPL-2.0-only
"""How long does each job take, and how much longer than alone on the same hosts?"""

import pandas as pd

from pyorch.errors import TraceError
from pyorch.metrics._run import RunTables, remedy
from pyorch.spec.resolved import Spec

ONLY = "jobs.only"
#: What a run has beside its point, or measures.
_OTHERS = ("run", ONLY, "alone", "hosts", "completion_ps")


def refusal(spec: Spec) -> str:
    """Return why runs of a spec cannot be asked; nothing if they can."""
    return "" if spec.jobs else "nobody hands out its hosts. Write jobs: {type: packed, ...}."


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per job of a run.

    Returns
    -------
    DataFrame
        ``job``: index of its workload in the scenario; ``alone``: 1 if no other job runs;
        ``hosts``; ``completion_ps``: from the first start of a message or task of it, of one that
        is relayed at its first sender, until its last one is over.

    Raises
    ------
    TraceError
        A message or task did not end before the run.
    """
    assert len(run.flows), "flows that did not finish are an error"
    jobs, both = run.spec.jobs, ["start_ps", "end_ps"]
    assert jobs is not None, "a run without jobs is refused"
    times = run.table("flows").set_index("flow")[["start_ps", "receiver_end_ps"]]
    times.columns = both
    if "tasks" in run.inputs:
        times = run.table("tasks").set_index("task")[both]
    begins_ps = run.begins_ps.reindex(times.index).fillna(times["start_ps"])
    times = times.assign(start_ps=begins_ps)
    rows = []
    for index in range(len(run.spec.workload)):
        own = times.loc[run.ids_of(index)]
        job = index if jobs.only is None else jobs.only
        if unfinished := int(own["end_ps"].isna().sum()):
            raise TraceError(
                f"{run.folder}/tasks.parquet: {unfinished} of {len(own)} tasks did not end;"
                f" {remedy(run.spec)}."
            )
        rows.append(
            {
                "job": job,
                "alone": int(len(run.spec.workload) == 1),
                "hosts": jobs.hosts[job],
                "completion_ps": int(own["end_ps"].max() - own["start_ps"].min()),
            }
        )
    return pd.DataFrame(rows)


def across(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the job alone at the same point: ``alone_ps``, and ``slowdown`` [1].

    Both are empty where it has not run alone.
    """
    point = [name for name in table.columns if name not in _OTHERS]
    alone = table[table["alone"] == 1].set_index(point)["completion_ps"]
    alone = alone[~alone.index.duplicated()].rename("alone_ps").astype("Int64")
    found = table.join(alone, on=point)
    return found.assign(slowdown=found["completion_ps"] / found["alone_ps"])
