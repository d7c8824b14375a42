# SPDX-License-Identifier: GPL-2.0-only
"""Share of the flows that are complete at their receivers, by completion time.

A flow that did not finish never counts, so the curve of such a run does not reach 1.
"""

import numpy as np
import pandas as pd

from pyorch.views._axes import looks, names, outside_legend, time_unit


def draw(figure, runs):
    """Draw one curve per run; return run, share of flows and FCT."""
    ax = figure.subplots()
    values = [np.sort(run.fct_ps.dropna().to_numpy(dtype=np.int64)) for run in runs]
    unit, ps = time_unit(max((v[-1] for v in values if len(v)), default=1))
    parts = []
    for run, fct_ps, name, style in zip(runs, values, names(runs), looks(runs), strict=True):
        shares = np.arange(1, len(fct_ps) + 1) / len(run.fct_ps)
        ax.step([0, *fct_ps / ps], [0, *shares], where="post", label=name, **style)
        parts.append(pd.DataFrame({"run": run.id, "fct_ps": fct_ps, "share_of_flows": shares}))
    ax.set(xlabel=f"flow completion time [{unit}]", ylabel="share of flows", ylim=(0, 1.01))
    ax.set_xlim(0, None)
    ax.grid()
    outside_legend(ax, len(runs) if len(runs) > 1 else 0)
    return pd.concat(parts, ignore_index=True)
