# SPDX-License-Identifier: GPL-2.0-only
"""How long do messages take that somebody has asked for, from their sender to their receiver?

A message that a host relays is two flows, and here it is one again.
"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.theory import tails


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row.

    Returns
    -------
    DataFrame
        ``n_messages``, of which ``relayed_messages``; ``fct_{mean,p50,p99,p100}_ps``: from the
        start at the first sender until the last receiver has all bytes [ps];
        ``relayed_fct_mean_ps``: the same of those that are relayed, empty without any;
        ``slowdown_{mean,p50,p99,p100}``: over what a message takes alone, its parts one after the
        other [1], 1 is ideal; ``fct_p99_{low,high}_ps``, ``slowdown_p99_{low,high}``: 95 % interval
        of that quantile, <NA> where an end is beyond the values that so few messages have.
    """
    flows, parts = run.flows, run.first_parts
    whole = np.setdiff1d(np.arange(len(flows)), parts)
    relayed = parts[whole] >= 0
    first = np.where(relayed, parts[whole], whole)
    start_ps = flows["start_ps"].to_numpy()[first]
    fct_ps = flows["receiver_end_ps"].to_numpy()[whole] - start_ps
    idle_ps = run.idle_ps["unloaded_fct_ps"].to_numpy()
    slowdown = fct_ps / (idle_ps[whole] + np.where(relayed, idle_ps[first], 0))
    row = {
        "n_messages": len(whole),
        "relayed_messages": int(relayed.sum()),
        "fct_mean_ps": fct_ps.mean(),
        **{f"fct_{name}_ps": _whole(value) for name, value in _quantiles(fct_ps).items()},
        "relayed_fct_mean_ps": fct_ps[relayed].mean() if relayed.any() else pd.NA,
        "slowdown_mean": slowdown.mean(),
        **{f"slowdown_{name}": value for name, value in _quantiles(slowdown).items()},
    }
    return pd.DataFrame([row])


def _quantiles(values: np.ndarray) -> dict[str, float]:
    """Return median, 99th percentile with its interval, and the largest value."""
    tail = tails.quantile(values, 0.99)
    return {
        "p50": tails.quantile(values, 0.5).value,
        "p99": tail.value,
        "p99_low": tail.low,
        "p99_high": tail.high,
        "p100": values.max(),
    }


def _whole(value: float) -> object:
    return pd.NA if np.isnan(value) else int(value)
