# SPDX-License-Identifier: GPL-2.0-only
"""What each of 432 messages of a permutation gets, sorted, by transport.

Compare with NDP (SIGCOMM 2017), figure 14: lines are the rates that its authors' simulator comes
with, dashes ours, over the last 10 ms (MPTCP: 50 ms). NDP: payload; the others: with headers, which
packets have none of there.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published"


def draw(figure, runs):
    """Draw a curve of ours beside the published one for each transport; return all rates."""
    (ax,) = figures.panels(figure, [2.6])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    scenario = next(iter(runs.values()))[0].scenario
    table = pd.read_csv(PUBLISHED / f"{scenario}.csv", comment="#")
    for name, (run,) in runs.items():
        look = looks[name]
        ax.plot(
            table["rank"], table[f"{name}_gbps"], color=look.color, lw=1,
            label=f"{look.label}, published",
        )  # fmt: skip
        table[f"{name}_ours_gbps"] = rates(run)
        ax.plot(
            table["rank"], table[f"{name}_ours_gbps"], color=look.color, lw=1.4, ls=(0, (3, 1.5)),
            label=f"{look.label}, ours",
        )  # fmt: skip
    ax.set(
        xlabel="message, by its rate", ylabel="rate [Gb/s]", ylim=(0, 10.4), xlim=(0, len(table))
    )
    ax.grid(axis="y")
    figures.legend(figure, [ax], len(runs))
    return table


def rates(run):
    """Return the sorted rates of all messages in the last sample [Gb/s]."""
    samples = run.flow_samples
    begin_ps, end_ps = samples["time_ps"].unique()[-2:]  # the last one is that of the stop
    arrived = samples[samples["time_ps"] == end_ps].set_index("flow")
    arrived = arrived.reindex(range(len(run.table("flows"))), fill_value=0)
    bytes_ = arrived["arrived_bytes"]
    if run.variant.startswith("ndp"):
        bytes_ = bytes_ - 64 * arrived["arrived_packets"]
    return (bytes_ * 8e3 / (end_ps - begin_ps)).sort_values().to_numpy()
