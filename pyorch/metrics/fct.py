# SPDX-License-Identifier: GPL-2.0-only
"""How long do flows take, from their start until the receiver has all bytes?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables

#: Hundredths, and the tail where the slowest flows of thousands are.
QUANTILES = np.concatenate([np.arange(100) / 100, [0.995, 0.999, 0.9999, 1.0]])


def measure(run: RunTables) -> pd.DataFrame:
    """Return the quantiles of the flow completion time.

    Returns
    -------
    DataFrame
        ``quantile_share`` (0 the fastest flow, 1 the slowest), ``fct_ps`` [ps]: the value of a
        flow, not interpolated.
    """
    values = np.quantile(run.fct_ps, QUANTILES, method="inverted_cdf")
    return pd.DataFrame({"quantile_share": QUANTILES, "fct_ps": values.astype(np.int64)})
