# SPDX-License-Identifier: GPL-2.0-only
"""When is everything delivered, and how soon could any transport have done it?"""

import pandas as pd

from pyorch.metrics._run import RunTables, total
from pyorch.theory import bounds


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row.

    Returns
    -------
    DataFrame
        ``completion_ps``: from the first start until the last message is delivered; ``bound_ps``:
        the least time that the bytes need through hosts and edge switches, links as they are at
        each moment; ``over_bound``: one over the other [1], at least 1; ``trimmed_packets``: sum of
        the flows; ``max_queue_bytes``: longest queue of a switch.
    """
    flows, idle = run.flows, run.idle_ps
    completion_ps = int(flows["receiver_end_ps"].max() - flows["start_ps"].min())
    columns = (idle[name].to_numpy() for name in ("wire_bytes", "unloaded_fct_ps"))
    bound_ps = bounds.least_time_ps(run.inputs | {"flows": flows}, *columns)
    nodes = run.inputs["nodes"]
    switches = nodes["node"][nodes["is_switch"] == 1]
    ports = run.table("ports")
    queues = ports["max_queue_bytes"][ports["node"].isin(switches)]
    row = {
        "completion_ps": completion_ps,
        "bound_ps": round(bound_ps),
        "over_bound": completion_ps / bound_ps,
        "trimmed_packets": total(run.table("flows")["trimmed_packets"]),
        "max_queue_bytes": queues.max() if len(queues) else 0,
    }
    return pd.DataFrame([row])
