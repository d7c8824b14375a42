# SPDX-License-Identifier: GPL-2.0-only
"""Which share of the frames was lost on the wires?"""

import pandas as pd

from pyorch.metrics._run import RunTables


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row.

    Returns
    -------
    DataFrame
        ``lost_share`` of the frames that hosts and switches have sent [1].
    """
    ports = run.columns("ports", ["sent_frames", "dropped_loss_frames"])
    lost = ports["dropped_loss_frames"].sum()
    return pd.DataFrame({"lost_share": [lost / ports["sent_frames"].sum()]})
