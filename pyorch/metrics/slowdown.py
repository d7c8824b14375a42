# SPDX-License-Identifier: GPL-2.0-only
"""How many times longer do flows take than they would alone?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables, total
from pyorch.theory import tails


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row: the slowdown of the flows and what it is measured against.

    Returns
    -------
    DataFrame
        ``n_flows``, ``largest_message_bytes``: what ran;
        ``slowdown_{mean,p50,p99,p100}``: FCT over exact unloaded FCT [1], 1 is ideal;
        ``slowdown_p99_{low,high}``: 95 % interval of that quantile, <NA> where an end is beyond the
        values that so few flows have;
        ``unloaded_fct_ps``: the largest of the flows, headers and framing counted;
        ``optimal_fct_ps``: the same plus the ACKs of an equal flow in the other direction, which
        no transport with ACKs can avoid in a permutation; ``slowest_fct_ps``: measured;
        ``over_optimal_p100``: the largest FCT over optimal FCT [1]; ``retransmitted_packets``,
        ``timeouts``, ``dropped_frames``, ``pause_frames``: sums over the run.
    """
    fct_ps = run.fct_ps
    idle = run.idle_ps
    unloaded = idle["unloaded_fct_ps"].to_numpy()
    optimal = unloaded + idle["reverse_ack_ps"].to_numpy()
    slowdown = run.slowdown
    tail = tails.quantile(slowdown, 0.99)
    ports, flows, counted = run.table("ports"), run.flows, run.table("flows")
    dropped = [name for name in ports.columns if name.startswith("dropped_")]
    row = {
        "n_flows": len(flows),
        "largest_message_bytes": int(flows["bytes"].max()),
        "slowdown_mean": slowdown.mean(),
        "slowdown_p50": np.quantile(slowdown, 0.5, method="inverted_cdf"),
        "slowdown_p99": tail.value,
        "slowdown_p99_low": tail.low,
        "slowdown_p99_high": tail.high,
        "slowdown_p100": slowdown.max(),
        "unloaded_fct_ps": int(unloaded.max()),
        "optimal_fct_ps": int(optimal.max()),
        "slowest_fct_ps": int(fct_ps.max()),
        "over_optimal_p100": (fct_ps / optimal).max(),
        "retransmitted_packets": total(counted["retransmitted_packets"]),
        "timeouts": total(counted["timeouts"]),
        "dropped_frames": total(ports[dropped].sum(min_count=1)),
        "pause_frames": total(ports["pause_frames_sent"]),
    }
    return pd.DataFrame([row])
