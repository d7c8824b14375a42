# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking of a whole step across two datacenters, by the rate between them.

After [hotnets24] figure 3c: all five stages of the all-reduce and the step around them, with 16
devices at each site, everything divided by 400. Lines: three readings of the paper without loss
(docs/theory.md): bytes once and a round trip, twice and one way, once and one way, which is how the
sites exchange here. Packets: RoCEv2 in the rack, sprayed on the rails, admitted between the sites.
Fluid: the same messages at max-min fair rates. Both are above the third line by headers, and by the
first and last of 16 chunks, which nothing hides. Dotted upright: 20 Gb/s, which the paper finds
enough.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset
from pyorch.units import parse_rate_bps

NEEDS = {"steps": "figure_3c_step/training_step.csv"}

CASES = {"dense": "dense-100t", "moe": "moe-100t"}
RATE = "topology.long_haul.0.rate"
DEVICES_PER_SITE = 16
READINGS = {
    "once-rtt": ("once, round trip", ":"),
    "twice-one-way": ("twice, one way", "--"),
    "once-one-way": ("once, one way", "-"),
}
RATES_GBPS = np.geomspace(1, 50, 81)


def measured(steps):
    """Return the exposed share of each run by the rate of a device [%]."""
    total_gbps = steps[RATE].map(parse_rate_bps) / 1e9
    return pd.DataFrame({
        "case": steps["case"], "preset": steps["case"].map(CASES), "variant": steps["variant"],
        "label": steps["label"], "wan_gbps": total_gbps / DEVICES_PER_SITE,
        "exposed_percent": 100 * steps["exposed_share"],
        "data_percent": 100 * steps["data_share"],
    })  # fmt: skip


def modelled(name):
    """Return the exposed share of each reading by rate [%]."""
    shares = exposed.by_wan_model(preset.training(name).setup, RATES_GBPS * 1e9)
    return {reading: 100 * share for reading, share in shares.items()}


def draw(figure, steps):
    """Draw a panel for each model; return all measured points."""
    from matplotlib.lines import Line2D

    data = measured(steps)
    looks = figures.styles(data[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    axes = figures.panels(figure, [2.2] * len(CASES), sharey=True)
    for ax, (case, name) in zip(axes, CASES.items(), strict=True):
        for reading, share in modelled(name).items():
            ax.plot(RATES_GBPS, share, color="#999999", lw=1, ls=READINGS[reading][1], zorder=0)
        for variant, look in looks.items():
            own = data[(data["case"] == case) & (data["variant"] == variant)]
            own = own.sort_values("wan_gbps")
            ax.plot(
                own["wan_gbps"], own["exposed_percent"], ls="", marker=look.marker,
                color=look.color, markersize=5, markerfacecolor="none", label=look.label,
            )  # fmt: skip
        ax.axvline(20, color="black", lw=0.6, ls=":", zorder=0)
        ax.set_xscale("log")
        ax.set_xticks([1, 2, 5, 10, 20, 50], [1, 2, 5, 10, 20, 50])
        ax.minorticks_off()
        ax.set_title(preset.training(name).title, loc="left")
        ax.set(xlabel="rate per GPU between the sites [Gb/s]", ylim=(0, 100))
        ax.grid(True)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
    lines = {
        f"model: {words}": Line2D([], [], color="#999999", lw=1, ls=dashes)
        for words, dashes in READINGS.values()
    }
    figures.legend(figure, [axes[0]], 5, lines)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
