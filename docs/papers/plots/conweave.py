# SPDX-License-Identifier: GPL-2.0-only
"""Slowdown of storage messages at 50 % load without losses, by who chooses their paths.

Compare with ConWeave (SIGCOMM 2023), figure 12: published is what its authors' simulator gave
others. Messages that begin after 5 ms; slowdown as there: until the sender has the last
acknowledgement, over the round trip and the time of all bytes, and at least 1.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from pyorch import figures

PUBLISHED = Path(__file__).parents[1] / "published" / "conweave.csv"
WARM_UP_PS = 5 * 10**9
WIDTH = 0.38
#: There and back over a link of 1 us, and a packet of 1000 B on it; a byte at 100 Gb/s [ps].
LINK_PS, BYTE_PS = 2 * 10**6 + 80_000, 80
HOSTS_PER_LEAF, PAYLOAD_BYTES, HEADER_BYTES = 16, 1000, 48


def draw(figure, runs):
    """Draw the mean on the left and the 99th percentile on the right; return both."""
    panels = figures.panels(figure, [2.3, 2.3])
    published = pd.read_csv(PUBLISHED, comment="#").set_index("variant")
    rows = {}
    for name, (run,) in runs.items():
        slowdown = as_there(run.flows[run.flows["start_ps"] >= WARM_UP_PS])
        rows[name] = (len(slowdown), slowdown.mean(), np.quantile(slowdown, 0.99))
    ours = pd.DataFrame(rows, index=["n_flows", "mean", "p99"]).T
    places = np.arange(len(ours))
    for ax, column, text in zip(panels, ("mean", "p99"), ("mean", "99th percentile"), strict=True):
        for aside, (label, table, color) in zip(
            (-0.5, 0.5), (("published", published, "0.6"), ("ours", ours, "C0")), strict=True
        ):
            values = table[column].reindex(ours.index)
            bars = ax.bar(places + aside * WIDTH, values, WIDTH, color=color, label=label)
            ax.bar_label(bars, fmt="%.2f", fontsize=7, padding=1)
        ax.set_xticks(places, [found[0].label for found in runs.values()])
        ax.set_ylabel(f"slowdown, {text} [1]")
        ax.margins(y=0.12)
    figures.legend(figure, panels[:1], 2)
    both = {"published": published, "ours": ours}
    return pd.concat([part.rename_axis("variant").reset_index().assign(series=name)
                      for name, part in both.items()], ignore_index=True)  # fmt: skip


def as_there(flows):
    """Return the slowdown of each message as the simulator of ConWeave's authors has it."""
    crosses = flows["src"] // HOSTS_PER_LEAF != flows["dst"] // HOSTS_PER_LEAF
    packets = -(-flows["bytes"] // PAYLOAD_BYTES)
    alone_ps = np.where(crosses, 4, 2) * LINK_PS
    alone_ps = alone_ps + BYTE_PS * (flows["bytes"] + HEADER_BYTES * packets)
    took_ps = flows["sender_end_ps"] - flows["start_ps"]
    return np.maximum((took_ps / alone_ps).to_numpy(dtype=float), 1)
