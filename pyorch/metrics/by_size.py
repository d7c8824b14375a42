# SPDX-License-Identifier: GPL-2.0-only
"""How many times longer do short and long messages take than they would alone?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.theory import tails

CLASSES = 10


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row for each tenth of the messages, the shortest first.

    Returns
    -------
    DataFrame
        ``tenth``: 1 to 10; ``n_flows``: messages in it; ``largest_bytes``: the longest of them
        [byte]; ``slowdown_{mean,p50,p99}``: FCT over exact unloaded FCT [1];
        ``slowdown_p99_{low,high}``: 95 % interval of that quantile, <NA> where an end is beyond the
        values that so few messages have. Messages of one size come by their number. Tenths without
        a message are left out.
    """
    table = pd.DataFrame(
        {
            "bytes": run.flows["bytes"].to_numpy(),
            "slowdown": run.slowdown,
        }
    ).sort_values("bytes", kind="stable")
    table["tenth"] = 1 + np.arange(len(table)) * CLASSES // len(table)
    groups = table.groupby("tenth")
    values = {
        "n_flows": groups.size(),
        "largest_bytes": groups["bytes"].max(),
        "slowdown_mean": groups["slowdown"].mean(),
    }
    values["slowdown_p50"] = groups["slowdown"].agg(lambda part: tails.quantile(part, 0.5).value)
    ends = [tails.quantile(part, 0.99) for _, part in groups["slowdown"]]
    for name, column in zip(("", "_low", "_high"), zip(*ends, strict=True), strict=True):
        values[f"slowdown_p99{name}"] = pd.Series(column, index=values["n_flows"].index)
    return pd.DataFrame(values).reset_index()
