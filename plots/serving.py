# SPDX-License-Identifier: GPL-2.0-only
"""What two training jobs and a service on 1024 devices cost each other, by who hands out hosts.

A dense model on 512 devices and one of experts on 256 are trained, and one of experts is served on
256: prefill and decoding apart. Bars are each job alone and beside the others, on the same hosts:
time of a training step; of the service the mean time to the first token, and for each other one,
over that alone on whole racks. Eight rails have half the uplinks of full bisection. Messages have
other draws of their paths beside others, so a value may be lower there.
"""

import numpy as np
import pandas as pd

from pyorch import figures

NEEDS = {"jobs": "serving/jobs.csv", "serving": "serving/serving.csv"}

SERVICE = 2
JOBS = {0: "training, dense", 1: "training, experts"}
TIMES = {"ttft_mean_ps": "service, first token", "tpot_mean_ps": "service, other tokens"}


def draw(figure, jobs, serving):
    """Draw one panel per scheduler, a pair of bars per time; return what is drawn."""
    rows = drawn(jobs, serving)
    names = rows[["variant", "label"]].drop_duplicates().set_index("variant")["label"]
    axes = figures.panels(figure, [2.5] * len(names))
    places = np.arange(len(JOBS) + len(TIMES))
    for ax, (variant, label) in zip(axes, names.items(), strict=True):
        own = rows[rows["variant"] == variant]
        for alone, side, words in ((1, -0.5, "alone"), (0, 0.5, "beside the others")):
            its = (
                own[own["alone"] == alone].set_index("time").loc[[*JOBS.values(), *TIMES.values()]]
            )
            bars = ax.barh(places + 0.36 * side, its["relative"], height=0.34, label=words)
            ax.bar_label(bars, fmt="%.2f", padding=3, fontsize=6.5)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(places, its.index if first else [""] * len(places))
        ax.invert_yaxis()
        ax.set_title(label, loc="left")
        ax.set(xlim=(0, 1.2 * rows["relative"].max()), xlabel="time / alone on whole racks [1]")
        ax.tick_params(axis="y", length=0)
    figures.legend(figure, [axes[0]], 2)
    return rows


def drawn(jobs, serving):
    """Return one row for each time, alone and beside others, over that alone on whole racks."""
    keys = ["variant", "label", "alone"]
    parts = [
        jobs[jobs["job"] == job].assign(time=name, value_ps=lambda t: t["completion_ps"])
        for job, name in JOBS.items()
    ]
    served = serving.assign(alone=(serving["jobs.only"].astype(str) == str(SERVICE)).astype(int))
    parts += [served.assign(time=n, value_ps=served[column]) for column, n in TIMES.items()]
    rows = pd.concat([part[[*keys, "time", "value_ps"]] for part in parts])
    first = rows["variant"].iloc[0]
    base = rows[(rows["variant"] == first) & (rows["alone"] == 1)].set_index("time")["value_ps"]
    return rows.assign(relative=rows["value_ps"] / rows["time"].map(base))


if __name__ == "__main__":
    figures.main(draw, NEEDS)
