# SPDX-License-Identifier: GPL-2.0-only
"""Mean completion time with ECMP over that with CONGA, one of four uplinks at half its rate.

By how long messages arrive, at 60 % load; logarithmic axis. A point is one run, of seed 1. Compare
with CONGA (SIGCOMM 2014): its abstract says 5. Senders are TCP and send a web search.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published" / "conga.csv"


def draw(figure, runs):
    """Draw mean completion on the left, its ratio on the right; return both."""
    left, right = figures.panels(figure, [2.3, 2.3])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    rows = [
        (
            name,
            run.parameters["workload.0.duration_ps"] // 10**9,
            run.fct_ps.mean() / 1e9,
            run._run.slowdown.mean(),
            int(run.flows["timeouts"].sum()),
        )
        for name, found in runs.items()
        for run in found
    ]  # fmt: skip
    data = pd.DataFrame(
        rows, columns=["variant", "arrivals_ms", "mean_ms", "slowdown_mean", "timeouts"]
    )
    for name, own in data.groupby("variant", sort=False):
        look = looks[name]
        left.plot(own["arrivals_ms"], own["mean_ms"], color=look.color, marker=look.marker, ms=4,
                  lw=1, label=look.label)  # fmt: skip
    means = data.pivot(index="arrivals_ms", columns="variant", values="mean_ms")
    ratio = means["ecmp"] / means["conga"]
    right.plot(ratio.index, ratio, color="C0", marker="o", ms=4, lw=1, label="ours")
    published = pd.read_csv(PUBLISHED, comment="#")["ecmp_over_conga"].item()
    right.axhline(published, color="black", ls=":", lw=1, label="published, abstract")
    left.set(ylabel="mean completion [ms]", ylim=(0, None))
    right.set(ylabel="ECMP over CONGA [1]", ylim=(0, 6))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="duration of arrivals [ms], logarithmic")
        ax.set_xticks(means.index, [f"{time}" for time in means.index])
        ax.minorticks_off()
        ax.grid(axis="y")
    figures.legend(figure, [left, right], 4)
    return data
