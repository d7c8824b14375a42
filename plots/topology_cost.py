# SPDX-License-Identifier: GPL-2.0-only
"""Chips, cables and optics of a network for 800,000 GPUs, by planes and rails.

[hotnets24] section 6.1. Open circles: what the paper prints; its planes and rails are 4 x 76, which
do not divide its hosts evenly, the last bar is for 4 x 72, those of its racks.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import preset, topology_cost

NEEDS = {}

#: What the paper prints for each design [thousand chips, million cables, 1e9 USD].
PRINTED = {
    "fat tree": {"chips": 87.5e3, "cables": 2.4e6, "optics_usd": 5e9},
    "planes and rails": {"chips": 39e3, "cables": 0.8e6},
}
PANELS = {
    "chips": ("switch chips [thousand]", 1e3),
    "cables": ("switch-to-switch cables [million]", 1e6),
    "optics_usd": ("optics of these cables [billion USD]", 1e9),
}


def designs():
    """Return the four networks of one data centre."""
    site = preset.site("site-100b-usd")
    planes, rails = site.topology.planes, site.topology.rails
    networks = {
        "fat tree": site.clos(),
        f"{planes} planes": site.clos(planes=planes),
        f"{rails} rails": site.clos(rails=rails),
        f"{planes} planes x {rails} rails": site.clos(planes=planes, rails=rails),
    }
    price = site.topology.transceiver_usd
    rows = [
        {
            "design": name, "planes": clos.planes, "rails": clos.rails, "tiers": clos.tiers,
            "chips": clos.chips, "cables": clos.cables,
            "optics_usd": topology_cost.optics_usd(clos, price),
        }
        for name, clos in networks.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def draw(figure):
    """Draw one panel per quantity."""
    data = designs()
    data["label"] = [f"{row.design}\n{row.tiers} tiers" for row in data.itertuples()]
    axes = figures.panels(figure, [1.9] * len(PANELS), sharey=True)
    for ax, (quantity, (title, unit)) in zip(axes, PANELS.items(), strict=True):
        bars = ax.barh(data["label"], data[quantity] / unit, color="#56B4E9", height=0.6)
        ax.bar_label(bars, fmt="{:.3g}", label_type="center", fontsize=7)
        for row, printed in ((0, PRINTED["fat tree"]), (3, PRINTED["planes and rails"])):
            if quantity in printed:
                ax.plot(
                    printed[quantity] / unit, row, "o", mfc="white", color="black", ms=4,
                    label="printed in the paper" if row == 0 and quantity == "chips" else None,
                )  # fmt: skip
        ax.set(xlabel=title, xlim=(0, data[quantity].max() / unit * 1.15))
        ax.grid(True, axis="x")
        ax.tick_params(axis="y", length=0)
    axes[0].invert_yaxis()
    figures.legend(figure, axes, 1)
    return data.drop(columns="label")


if __name__ == "__main__":
    figures.main(draw, NEEDS)
