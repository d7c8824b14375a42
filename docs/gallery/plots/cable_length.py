# SPDX-License-Identifier: GPL-2.0-only
"""Part of a divided mixture-of-experts step in which a GPU computes nothing, over cable length.

64 devices, all times and bytes divided by 100. Logarithmic axis of cables. Lines: means of three
draws of the paths, bands from the least to the most.
"""

import pandas as pd
from matplotlib.patches import Patch

from pyorch import figures


def draw(figure, runs):
    """Draw a line for each transport."""
    table = pd.DataFrame(row for found in runs.items() for row in steps(*found))
    (ax,) = figures.panels(figure, [2.7])
    for (variant, label), of in table.groupby(["variant", "label"], sort=False):
        looks = figures.style(variant)
        color, marker = ("#CC79A7", "s") if variant == "nscc_queue" else (looks.color, looks.marker)
        by = of.groupby("delay_ns")["exposed_percent"]
        delay_ns = list(by.groups)
        ax.plot(delay_ns, by.mean(), color=color, marker=marker, label=label)
        ax.fill_between(delay_ns, by.min(), by.max(), color=color, alpha=0.2, linewidth=0)
    ax.set(xscale="log", xlabel="delay of a cable between racks [ns], logarithmic",
           ylabel="exposed share of the step [%]", ylim=(0, None))  # fmt: skip
    ax.set_xticks(delay_ns, delay_ns)
    ax.minorticks_off()
    ax.grid(axis="y")
    band = Patch(color="#666666", alpha=0.2, linewidth=0)
    figures.legend(figure, [ax], 3, {"band: least to most of three draws": band})
    return table


def steps(variant, found):
    """Yield the step of each run."""
    for run in found:
        yield {
            "variant": variant, "label": run.label, "seed": run.spec.seed,
            "delay_ns": run.spec.link.delay_ps // 1000,
            "exposed_percent": 100 * run.metric("training_step").iloc[0]["exposed_share"],
        }  # fmt: skip
