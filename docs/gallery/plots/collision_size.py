# SPDX-License-Identifier: GPL-2.0-only
"""Slowest of 128 messages with one path each, over optimal, by their size and the rate of links.

Mean of two permutations, each a small symbol; RoCEv2 with PFC. Left by size, right by size over the
bandwidth-delay product of the longest path, where the rates have one curve. The fullest link has
four or five messages.
"""

from pyorch import figures

COLORS = {100: "#0072B2", 400: "#E69F00", 800: "#D55E00"}


def draw(figure, runs):
    """Draw the slowest message by size and by size over bandwidth-delay product."""
    import pandas as pd

    (found,) = runs.values()
    table = pd.DataFrame([measured(run) for run in found])
    axes = figures.panels(figure, [2.3, 2.3], sharey=True)
    for ax, column in zip(axes, ("message_kb", "message_bdp"), strict=True):
        for rate, own in table.groupby("rate_gbps"):
            mean = own.groupby(column)["over_optimal"].mean()
            ax.plot(own[column], own["over_optimal"], "o", ms=2.5, color=COLORS[rate])
            ax.plot(mean.index, mean, color=COLORS[rate], label=f"{rate} Gb/s")
        ax.set_xscale("log")
        ax.set(ylabel="slowest / optimal [1]", ylim=(1, None))
        ax.grid(True)
    axes[0].set_xlabel("message [kB]")
    axes[1].set_xlabel("message / bandwidth-delay product [1]")
    figures.legend(figure, axes, 3)
    return table


def measured(run):
    """Return size, rate and the slowest message of a run, and how many the fullest link has."""
    slowdown = run.metric("slowdown").iloc[0]
    rate_bps, message = run.spec.link.rate_bps, int(run.flows["bytes"].max())
    between = run.paths[run.paths["node"] >= len(run.flows)]
    per_link = between.groupby(["node", "peer", "parallel"]).size()
    # Two ways over four links with a full frame at each.
    rtt_s = 8 * run.spec.link.delay_ps * 1e-12 + 4 * 4178 * 8 / rate_bps
    return {
        "seed": run.spec.seed, "rate_gbps": rate_bps // 10**9, "message_kb": message / 1e3,
        "message_bdp": message * 8 / (rate_bps * rtt_s), "most_on_link": int(per_link.max()),
        "over_optimal": slowdown["over_optimal_p100"],
    }  # fmt: skip
