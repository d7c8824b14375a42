# SPDX-License-Identifier: GPL-2.0-only
"""How many times longer do short and long messages take than they would alone?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables

CLASSES = 10


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row for each tenth of the messages, the shortest first.

    Returns
    -------
    DataFrame
        ``tenth``: 1 to 10; ``n_flows``: messages in it; ``largest_bytes``: the longest of them
        [byte]; ``slowdown_{mean,p50,p99}``: FCT over exact unloaded FCT [1]. Messages of one size
        come by their number. Tenths without a message are left out.
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
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        values[f"slowdown_{name}"] = groups["slowdown"].agg(_quantile, share)
    return pd.DataFrame(values).reset_index()


def _quantile(values: pd.Series, share: float) -> float:
    """Return the smallest value that this share does not exceed."""
    return np.quantile(values, share, method="inverted_cdf")
