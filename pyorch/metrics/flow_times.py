# SPDX-License-Identifier: GPL-2.0-only
"""How long does each flow take? For runs whose flows are held against each other one by one."""

import pandas as pd

from pyorch.metrics._run import RunTables


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per flow.

    Returns
    -------
    DataFrame
        ``flow``: its id, the same in every run of these workloads; ``bytes`` [byte];
        ``fct_ps``: from its start until the receiver has all bytes [ps];
        ``end_ps``: the latter from the start of the run on [ps].
    """
    flows = run.flows
    return pd.DataFrame(
        {
            "flow": flows["flow"],
            "bytes": flows["bytes"],
            "fct_ps": run.fct_ps,
            "end_ps": flows["receiver_end_ps"],
        }
    )
