# SPDX-License-Identifier: GPL-2.0-only
"""How much longer two training jobs take because of each other, by who hands out their hosts.

A dense model and one of experts on eight rails with half the uplinks of full bisection, where other
hosts are free or silent. Bars: completion of a step beside the other job over that alone on the
same hosts; messages have other draws of their paths then, so less than 1 is possible. On whole
racks a message stays on its rail; elsewhere devices of either job relay it.
"""

import numpy as np

from pyorch import figures

NEEDS = {"jobs": "jobs/jobs.csv"}

MODELS = {0: "dense", 1: "experts"}


def draw(figure, jobs):
    """Draw one panel per transport, one bar per scheduler and job; return what is drawn."""
    both = jobs[jobs["alone"] == 0]
    names = both[["variant", "label"]].drop_duplicates().set_index("variant")["label"]
    cases = both["case"].unique()
    axes = figures.panels(figure, [0.8 + 0.4 * len(names)] * len(cases))
    rows = np.arange(len(names))
    for ax, case in zip(axes, cases, strict=True):
        own = both[both["case"] == case]
        for job, model in MODELS.items():
            its = own[own["job"] == job].set_index("variant").loc[names.index]
            label = f"{model}, {its['hosts'].iloc[0]} devices"
            bars = ax.barh(rows + 0.36 * (job - 0.5), its["slowdown"], height=0.34, label=label)
            ax.bar_label(bars, fmt="%.2f", padding=3, fontsize=6.5)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(rows, names if first else [""] * len(names))
        ax.invert_yaxis()
        ax.set_title(own["case_label"].iloc[0], loc="left")
        ax.set(xlim=(0, 1.2 * both["slowdown"].max()), xlabel="time beside the other / alone [1]")
        ax.tick_params(axis="y", length=0)
    figures.legend(figure, [axes[0]], 2)
    columns = ["case", "variant", "label", "job", "hosts", "completion_ps", "alone_ps", "slowdown"]
    return both[columns]


if __name__ == "__main__":
    figures.main(draw, NEEDS)
