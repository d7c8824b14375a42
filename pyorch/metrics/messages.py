# SPDX-License-Identifier: GPL-2.0-only
"""How long do messages take that somebody has asked for, from their sender to their receiver?

A message that a host relays is two flows, and here it is one again.
"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables

_QUANTILES = {"p50": 0.5, "p99": 0.99, "p100": 1.0}


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row.

    Returns
    -------
    DataFrame
        ``n_messages``, of which ``relayed_messages``; ``fct_{mean,p50,p99,p100}_ps``: from the
        start at the first sender until the last receiver has all bytes [ps];
        ``relayed_fct_mean_ps``: the same of those that are relayed, empty without any;
        ``slowdown_{mean,p50,p99,p100}``: over what a message takes alone, its parts one after the
        other [1], 1 is ideal.
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
        **{f"fct_{name}_ps": _quantile(fct_ps, share) for name, share in _QUANTILES.items()},
        "relayed_fct_mean_ps": fct_ps[relayed].mean() if relayed.any() else pd.NA,
        "slowdown_mean": slowdown.mean(),
        **{f"slowdown_{name}": _quantile(slowdown, share) for name, share in _QUANTILES.items()},
    }
    return pd.DataFrame([row])


def _quantile(values: np.ndarray, share: float) -> int | float:
    return np.quantile(values, share, method="inverted_cdf").item()
