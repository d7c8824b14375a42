# SPDX-License-Identifier: GPL-2.0-only
"""Utilization of a link by one connection of TCP, by loss, round trip and variant.

100 Mb/s in packets of 1460 B, each lost with the same probability; what is drawn is the share of
frames that were lost. Lines: the mean windows of Reno, 1.22 / p^0.5, and of Cubic, 1.054 RTT^0.75 /
p^0.75 or Reno's if that is more, over the bandwidth-delay product. DCTCP of ns-3 answers a loss by
what marks have taught it, which is next to nothing here.
"""

import numpy as np

from pyorch import figures
from pyorch.theory import tcp

NEEDS = {"flows": "wan_tcp/throughput.csv"}

RATIOS = np.geomspace(5e-5, 2e-2, 81)
PS_PER_MS = 10**9


def draw(figure, flows):
    """Draw a panel for each round trip; return what is drawn, with both laws."""
    pipe_packets = flows["window_packets"] / flows["link_share"]
    loss, rtt_ps = flows["lost_share"].astype(float), flows["rtt_ps"]
    data = flows[["variant", "label", "seed", "rtt_ps", "lost_share", "link_share"]].assign(
        window_packets=flows["window_packets"],
        pipe_packets=pipe_packets,
        reno_packets=tcp.reno_window(loss),
        cubic_packets=tcp.cubic_window(loss, rtt_ps),
        timeouts=flows["timeouts"],
    )
    round_trips = sorted(data["rtt_ps"].unique())
    axes = figures.panels(figure, [2.3] * len(round_trips), sharey=True)
    looks = figures.styles(
        list(data[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))
    )
    for ax, rtt_ps in zip(axes, round_trips, strict=True):
        here = data[data["rtt_ps"] == rtt_ps]
        pipe = here["pipe_packets"].mean()
        laws = {"reno": tcp.reno_window(RATIOS), "cubic": tcp.cubic_window(RATIOS, rtt_ps)}
        for variant, window in laws.items():
            if variant in looks:
                ax.plot(
                    RATIOS, np.minimum(window / pipe, 1), color=looks[variant].color, lw=1,
                    ls="-" if variant == "reno" else "--", zorder=0,
                )  # fmt: skip
        for variant, look in looks.items():
            own = here[here["variant"] == variant]
            ax.plot(
                own["lost_share"], own["link_share"], ls="", marker=look.marker, color=look.color,
                markersize=4, markerfacecolor="none", label=look.label,
            )  # fmt: skip
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_title(f"round trip {round(rtt_ps / PS_PER_MS)} ms", loc="left")
        ax.set(xlabel="frame loss ratio [1]", ylim=(0.005, 1.5))
        ax.grid(True)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("link utilization [1]")
    figures.legend(figure, [axes[0]], 4, _law_lines(looks))
    return data


def _law_lines(looks):
    from matplotlib.lines import Line2D

    named = {"reno": ("Law of Reno", "-"), "cubic": ("Law of Cubic", "--")}
    return {
        name: Line2D([], [], color=looks[variant].color, lw=1, ls=dashes)
        for variant, (name, dashes) in named.items() if variant in looks
    }  # fmt: skip


if __name__ == "__main__":
    figures.main(draw, NEEDS)
