# SPDX-License-Identifier: GPL-2.0-only
"""Packets retransmitted over a lossy long haul, by the parity of block codes of 64 packets.

Left: independent losses, the same in both directions; lines are the mean of a binomial beyond the
parity, where a packet counts as lost if its ACK is, which later ACKs sometimes make good. Right:
the same mean losses in bursts of 8 frames on average, not interleaved (open) and with 16 blocks
interleaved (filled). One message of 512 000 packets each; where nothing was retransmitted there is
no point.
"""

import numpy as np

from pyorch import figures
from pyorch.theory import fec

NEEDS = {"codes": "wan_fec/wan_fec.csv"}

LEAST = 1e-6
PARITY = np.arange(9)


def unseen(ratio):
    """Return the share of packets that are lost or whose ACKs are."""
    return 1 - (1 - ratio) ** 2


def draw(figure, codes):
    """Draw a panel for each kind of loss; return what is drawn."""
    data = codes[["variant", "case_label", "seed", "block_packets", "parity_packets"]].copy()
    data["loss_ratio"] = [float(label.split(",")[0]) for label in codes["case_label"]]
    data["in_bursts"] = [label.endswith("bursts") for label in codes["case_label"]]
    data["parity_percent"] = 100 * codes["parity_share"]
    data["resent_percent"] = 100 * codes["resent_share"]
    data["independent_percent"] = [
        100 * float(fec.resent_share(row.block_packets, row.parity_packets, unseen(row.loss_ratio)))
        for row in data.itertuples()
    ]
    data["timeouts"] = codes["timeouts"]
    axes = figures.panels(figure, [2.4, 2.4], sharey=True)
    ratios = sorted(data["loss_ratio"].unique())
    looks = figures.styles([(f"loss_{ratio:g}", f"loss {ratio:.0e}") for ratio in ratios])
    for ax, in_bursts in zip(axes, (False, True), strict=True):
        panel = data[data["in_bursts"] == in_bursts]
        for ratio, look in zip(ratios, looks.values(), strict=True):
            here = panel[panel["loss_ratio"] == ratio]
            if not in_bursts and len(here):
                k = int(here["block_packets"].iloc[0])
                law = [100 * float(fec.resent_share(k, int(m), unseen(ratio))) for m in PARITY]
                ax.plot(100 * PARITY / k, law, color=look.color, lw=0.8, zorder=0)
            for variant in here["variant"].unique():
                own = here[(here["variant"] == variant) & (here["resent_percent"] > 0)]
                ax.plot(
                    own["parity_percent"], own["resent_percent"], marker=look.marker,
                    color=look.color, markersize=4, ls="-" if in_bursts else "", lw=0.8,
                    markerfacecolor=look.color if variant == "interleaved" else "none",
                    label=look.label if variant == "plain" else None,
                )  # fmt: skip
        ax.set_yscale("log")
        ax.set_title("bursts of 8" if in_bursts else "independent losses", loc="left")
        ax.set(xlabel="parity [% of data]", xlim=(-0.6, 13.1), ylim=(100 * LEAST, 3))
        ax.grid(True)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("retransmitted packets [%]")
    for label, fill in (("one block at a time", "none"), ("16 blocks in turn", "black")):
        axes[0].plot([], [], "o", color="black", markersize=4, markerfacecolor=fill, label=label)
    axes[0].plot([], [], color="black", lw=0.8, label="mean of a binomial (left)")
    figures.legend(figure, [axes[0]], 4)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
