# SPDX-License-Identifier: GPL-2.0-only
"""Completion times of 128 messages of 1 MB between random pairs, by the links up of each leaf.

Sprayed, so that the network is shared evenly. With half the links up the mean message takes 1.8
times as long, with a quarter 3.4 times.
"""

from pyorch import figures

PS_PER_US = 1e6


def draw(ax, runs):
    """Draw the share of messages that are done, one line per variant."""
    import pandas as pd

    ax.figure.set_figheight(2.3)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, (run,) in runs.items():
        ends = run.fct_ps.sort_values().to_numpy() / PS_PER_US
        share = [(n + 1) / len(ends) for n in range(len(ends))]
        ax.step([0, *ends], [0, *share], where="post", color=looks[name].color,
                ls=looks[name].dashes, label=looks[name].label)  # fmt: skip
        tables.append(pd.DataFrame({"variant": name, "fct_us": ends, "share": share}))
    ax.set(xlabel="completion time [us]", ylabel="share of messages", xlim=(0, None))
    ax.set_ylim(0, 1.02)
    ax.grid(True)
    figures.legend(ax.figure, [ax], 3)
    return pd.concat(tables, ignore_index=True)
