# SPDX-License-Identifier: GPL-2.0-only
"""Share of its link that a message of a permutation gets, by the subflows that it has.

Mean and least of 128 messages on a fat tree, over the last of four intervals of 50 ms. The subflows
of a message take paths that differ, or those that a hash gives them. Published: what the text of
MPTCP (SIGCOMM 2011) says of its figure, and two means of the simulator of its authors on a fat tree
of 432 hosts: DCTCP on one path, and eight TCPs whose windows are not linked.
"""

from pathlib import Path

import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published"


def draw(figure, runs):
    """Draw mean and least over the number of subflows; return both and what is published."""
    (ax,) = figures.panels(figure, [2.5])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    parts = {}
    for name, found in runs.items():
        look, parts[name] = looks[name], pd.DataFrame(map(shares, found))
        for column, dashes in (("mean", "-"), ("least", (0, (3, 1.5)))):
            ax.plot(
                parts[name]["subflows"], parts[name][column], color=look.color, ls=dashes, lw=1,
                marker=look.marker, ms=4, label=f"{look.label}, {column}",
            )  # fmt: skip
    text = pd.read_csv(PUBLISHED / "mptcp_subflows.csv", comment="#")
    ax.plot(text["subflows"], text["share"], "x", color="black", ms=7, label="published, text")
    means = pd.read_csv(PUBLISHED / "ndp_permutation.csv", comment="#").mean() / 10
    simulated = pd.DataFrame(
        {"subflows": [1, 8], "mean": [means["dctcp_gbps"], means["mptcp_gbps"]]}
    )
    ax.plot(
        simulated["subflows"], simulated["mean"], "+", color="black", ms=8,
        label="published, 432 hosts: DCTCP; 8 TCPs",
    )  # fmt: skip
    ax.set(xlabel="subflows", ylabel="share of the link [1]", ylim=(0, 1.02))
    ax.grid(axis="y")
    figures.legend(figure, [ax], 3)
    parts |= {"text": text.rename(columns={"share": "mean"}), "432 hosts": simulated}
    return pd.concat([part.assign(series=name) for name, part in parts.items()])


def shares(run):
    """Return how much of its link a message gets in the last interval, mean and least."""
    period_ps, samples = run.spec.trace.sample_ps, run.flow_samples
    last = samples[samples["time_ps"] == samples["time_ps"].max()].set_index("flow")
    rates_bps = last["arrived_bytes"].reindex(range(len(run.table("flows"))), fill_value=0)
    share = rates_bps * 8e12 / period_ps / run.spec.link.rate_bps
    subflows = run.spec.transport[0].attributes["Subflows"]
    return {"subflows": subflows, "mean": share.mean(), "least": share.min()}
