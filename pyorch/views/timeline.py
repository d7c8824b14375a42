# SPDX-License-Identifier: GPL-2.0-only
"""One device in a training step: when it computes, and when it sends or receives for what.

Device 0 of each run. Shaded: exposed, it computes nothing.
"""

import numpy as np
import pandas as pd

from pyorch.errors import TraceError
from pyorch.metrics._steps import Step, spans_of, steps
from pyorch.views._axes import names, time_unit

DEVICE = 0
COMPUTES, WAITING = "#BBBBBB", "#F4D9D0"
#: Colours of messages by the first word of their lane; other lanes take what is left.
COLORS = {"TP": "#0072B2", "PP": "#E69F00", "DP": "#D55E00", "EP": "#CC79A7"}


def draw(figure, runs):
    """Draw one panel per run; return the intervals."""
    from matplotlib.patches import Patch

    parts = []
    axes = np.atleast_1d(figure.subplots(len(runs), 1, squeeze=True))
    for ax, run, name in zip(axes, runs, names(runs), strict=True):
        for step in steps(run):
            spans, idle = spans_of(step, DEVICE), [i for i in step.idle() if i.device == DEVICE]
            _draw_step(ax, step, spans, idle)
            share = sum(i.end_ps - i.start_ps for i in idle) / step.step_ps
            ax.text(1, 1.02, f"{100 * share:.2f} % exposed", ha="right", va="bottom", fontsize=6.5,
                    transform=ax.transAxes)  # fmt: skip
            parts.append(spans.assign(run=run.id, workload=step.workload))
        if len(runs) > 1:
            ax.set_ylabel(name, fontsize=6.5)
    if not parts:
        raise TraceError("no workload of these runs computes, so there is no timeline.")
    handles = [Patch(color=WAITING, label="exposed: nothing is computed")]
    axes[-1].legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.25), frameon=False)
    return pd.concat(parts, ignore_index=True)


def _draw_step(ax, step: Step, spans: pd.DataFrame, idle: list) -> None:
    unit, ps = time_unit(step.step_ps)
    lanes = ["compute", *sorted(set(spans["lane"]) - {"compute"}, key=lambda n: (n[:2] != "TP", n))]
    for interval in idle:
        ax.axvspan(interval.start_ps / ps, interval.end_ps / ps, color=WAITING, lw=0, zorder=0)
    for row, lane in enumerate(lanes):
        own = spans[spans["lane"] == lane]
        color = COMPUTES if lane == "compute" else COLORS.get(lane[:2], "#009E73")
        ax.broken_barh(
            list(zip(own["start_ps"] / ps, (own["end_ps"] - own["start_ps"]) / ps, strict=True)),
            (row - 0.39, 0.78), facecolors=color, edgecolor="white", linewidth=0.2, zorder=2,
        )  # fmt: skip
    ax.set(yticks=range(len(lanes)), yticklabels=lanes, xlim=(0, step.step_ps / ps))
    ax.set_xlabel(f"time in the step [{unit}]")
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
