# SPDX-License-Identifier: GPL-2.0-only
"""Slowest message between three sites over its completion at the fair rate, admitted and not.

By the scale of all demands (1: 550 Gb/s in all, 300 of them at smoke scale), one panel for each
rate of the direct link between east and west. Without admission each source sends what it has been
asked to; what border switches drop is retransmitted one round trip later, or after a timeout. Fair
is max-min fair over tunnels, which is what is granted.
"""

from pyorch import figures

NEEDS = {"demands": "wan_te/wan_te.csv"}

SCALE, LINK = "workload.scale", "topology.long_haul.2.rate"
KEYS = ["variant", "label", SCALE, LINK]


def summary(demands):
    """Return, per run, the slowest over ideal, the least rate over the fair one, and losses."""
    data = demands.assign(share=demands["achieved_bps"] / demands["granted_bps"])
    return data.groupby([*KEYS, "seed"], sort=False, as_index=False).agg(
        over_ideal=("over_ideal", "max"),
        least_rate_share=("share", "min"),
        retransmitted_packets=("retransmitted_packets", "sum"),
        dropped_buffer_frames=("dropped_buffer_frames", "first"),
        max_cable_share=("max_cable_share", "first"),
    )


def draw(figure, demands):
    """Draw one panel per rate of the direct link; return the summary of the runs."""
    data = summary(demands)
    rates = sorted(data[LINK].unique(), key=lambda text: float(text.split()[0]))
    axes = figures.panels(figure, [2.1] * len(rates), sharey=True)
    pairs = data[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    for ax, rate in zip(axes, rates, strict=True):
        for variant, look in looks.items():
            own = data[(data["variant"] == variant) & (data[LINK] == rate)].sort_values(SCALE)
            ax.plot(
                own[SCALE], own["over_ideal"], linestyle=look.dashes, marker=look.marker,
                color=look.color, linewidth=1, markersize=4, label=look.label,
            )  # fmt: skip
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:.3g}")
        ax.set_title(f"direct link {rate}", loc="left")
        ax.set(xlabel="scale of all demands [1]")
        ax.set_xticks(sorted(data[SCALE].unique()))
        ax.grid(axis="y")
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("completion time / that\nat the fair rate [1]")
    figures.legend(figure, [axes[0]], 3)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
