# SPDX-License-Identifier: GPL-2.0-only
"""Completion times of short urgent messages beside bulk transfers of 4 MB, by their priority.

In the priority of the bulk transfers they wait in its queues, which are megabytes long; in one of
their own they pass them, and the bulk transfers hardly notice.
"""

from pyorch import figures

PS_PER_US = 1e6
CLASSES = {0: "bulk transfers", 1: "urgent messages"}


def draw(figure, runs):
    """Draw a panel per class, a line per variant."""
    import pandas as pd

    panels = figures.panels(figure, [2.3, 2.3])
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, (run,) in runs.items():
        for ax, (index, words) in zip(panels, CLASSES.items(), strict=True):
            flows = run.flows[run.flows["transport"] == index]
            ends = (flows["receiver_end_ps"] - flows["start_ps"]).sort_values() / PS_PER_US
            share = [(n + 1) / len(ends) for n in range(len(ends))]
            ax.step(ends, share, where="post", color=looks[name].color, label=looks[name].label)
            ax.set_title(words, loc="left")
            tables.append(
                pd.DataFrame({"variant": name, "class": words, "fct_us": ends, "share": share})
            )
    for ax in panels:
        ax.set(xlabel="completion time [us]", ylabel="share of messages", ylim=(0, 1.02))
        ax.grid(True)
    panels[0].set_xlim(0, None)
    panels[1].set_xscale("log")
    figures.legend(figure, panels, 2)
    return pd.concat(tables, ignore_index=True)
