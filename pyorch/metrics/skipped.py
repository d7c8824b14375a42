# SPDX-License-Identifier: GPL-2.0-only
"""How much of each message was skipped as a steady state, and how long did the message take?"""

import pandas as pd

from pyorch.metrics._run import RunTables


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per flow.

    Returns
    -------
    DataFrame
        ``flow``: its id; ``fct_ps``: from its start until the receiver has all bytes [ps];
        ``sent_data_packets``, executed or skipped; ``skipped_packets``, of these, 0 in a run that
        skips nothing.
    """
    flows = run.flows
    skipped = pd.Series(0, flows["flow"])
    if run.spec.engine.skip_ppm is not None:
        own = run.table("skipped_flows")
        skipped = own.set_index("flow")["skipped_packets"].reindex(flows["flow"], fill_value=0)
    return pd.DataFrame(
        {
            "flow": flows["flow"],
            "fct_ps": run.fct_ps,
            "sent_data_packets": flows["sent_data_packets"],
            "skipped_packets": skipped.to_numpy(),
        }
    )
