# SPDX-License-Identifier: GPL-2.0-only
"""The queue in front of the receiver, and how many of 32 messages have arrived.

Nothing keeps a large buffer from filling. PFC moves the same bytes into queues behind the one of
the receiver: the last message ends no earlier. A short queue loses packets, and each loss is
retransmitted.
"""

from pyorch import figures

PS_PER_US = 1e6


def draw(figure, runs):
    """Draw the queue of the last hop over time, and the share of messages that are done."""
    import pandas as pd

    left, right = figures.panels(figure, [2.3, 2.3])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    rows = []
    for name, (run,) in runs.items():
        look, samples = looks[name], run.port_samples
        queue = samples[samples["peer"] == run.flows["dst"].iloc[0]]
        left.plot(
            queue["time_ps"] / PS_PER_US, queue["queue_bytes"] / 1e6, color=look.color,
            ls=look.dashes, label=look.label,
        )  # fmt: skip
        ends = run.fct_ps.sort_values().to_numpy() / PS_PER_US
        share = [(n + 1) / len(ends) for n in range(len(ends))]
        right.step(ends, share, where="post", color=look.color, ls=look.dashes)
        rows.append(
            {
                "variant": name, "longest_queue_bytes": int(queue["queue_bytes"].max()),
                "first_us": ends[0], "last_us": ends[-1],
                "retransmitted_packets": int(run.flows["retransmitted_packets"].sum()),
            }
        )  # fmt: skip
    left.set(xlabel="time [us]", ylabel="queue to the receiver [MB]", ylim=(0, None))
    right.set(xlabel="completion time [us]", ylabel="share of messages", ylim=(0, 1.02))
    for ax in (left, right):
        ax.set_xlim(0, None)
        ax.grid(True)
    figures.legend(figure, [left], 3)
    return pd.DataFrame(rows)
