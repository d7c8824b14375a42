# SPDX-License-Identifier: GPL-2.0-only
"""How many of the data packets were marked by a switch, and how many were retransmitted?"""

import pandas as pd

from pyorch.metrics._run import RunTables


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row with two shares.

    Returns
    -------
    DataFrame
        ``marked_share`` and ``retransmitted_share`` of the data packets sent [1].
    """
    flows = run.flows
    sent = flows["sent_data_packets"].sum()
    return pd.DataFrame(
        {
            "marked_share": [flows["ecn_marked_packets"].sum() / sent],
            "retransmitted_share": [flows["retransmitted_packets"].sum() / sent],
        }
    )
