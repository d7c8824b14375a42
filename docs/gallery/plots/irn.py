# SPDX-License-Identifier: GPL-2.0-only
"""Completion times of the messages of a web search at 70 % load, with and without PFC.

Go-back-N needs a network without losses, and PFC holds back whoever shares a link with the
congested. Selective repeat with at most one bandwidth-delay product in flight (IRN) needs none:
what is lost is retransmitted, and nobody else waits.
"""

from pyorch import figures

PS_PER_US = 1e6


def draw(ax, runs):
    """Draw the share of messages that are done, over their completion time."""
    import pandas as pd

    ax.figure.set_figheight(2.5)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    rows = []
    for name, (run,) in runs.items():
        look, ends = looks[name], run.fct_ps.sort_values().to_numpy() / PS_PER_US
        share = [(n + 1) / len(ends) for n in range(len(ends))]
        ax.step(ends, share, where="post", color=look.color, ls=look.dashes, label=look.label)
        rows.append(
            {
                "variant": name, "fct_mean_us": ends.mean(),
                "fct_p99_us": ends[len(ends) * 99 // 100],
                "slowdown_mean": run.summary["slowdown_mean"],
                "slowdown_p99": run.summary["slowdown_p99"],
                "retransmitted_packets": int(run.flows["retransmitted_packets"].sum()),
                "pause_frames": int(run.ports["pause_frames_sent"].sum()),
            }
        )  # fmt: skip
    ax.set(xscale="log", xlabel="completion time [us]", ylabel="share of messages", ylim=(0, 1.02))
    ax.grid(True)
    figures.legend(ax.figure, [ax], 3)
    return pd.DataFrame(rows)
