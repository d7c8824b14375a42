# SPDX-License-Identifier: GPL-2.0-only
"""Power that balancing authorities can spare, against what the site and half of it need.

[hotnets24] table 1 and section 2. Bands: from the low to the high power usage effectiveness of the
paper. Where its own sums differ from what it prints is in the reproduction report.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import infrastructure, preset

NEEDS = {}

GW = 1e9
BANDS = {"half of the site": ("#56B4E9", 2), "the whole site": ("#E69F00", 1)}


def draw(ax):
    """Draw one bar per authority."""
    ax.figure.set_figheight(2.0)
    design = preset.site("site-100b-usd")
    site = infrastructure.build_site(design.budget, design.rack)
    for label, (color, parts) in BANDS.items():
        low, high = site.low_w / parts / GW, site.high_w / parts / GW
        words = f"{label}: {low:.2f} to {high:.2f} GW"
        ax.axvspan(low, high, color=color, alpha=0.55, lw=0, label=words)
    names = [f"{a.name} ({a.region})" for a in design.grid]
    spare = [a.spare_w / GW for a in design.grid]
    bars = ax.barh(names, spare, height=0.5, color="#666666")
    shown = ax.bar_label(bars, [f"{value:.3f}" for value in spare], padding=3, fontsize=7)
    for text in shown:  # they may lie on a band
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
    ax.invert_yaxis()
    ax.set(xlabel="power that can be spared [GW]", xlim=(0, 11))
    ax.tick_params(axis="y", length=0)
    figures.legend(ax.figure, [ax], 2)
    return pd.DataFrame(
        {
            "authority": [a.name for a in design.grid],
            "region": [a.region for a in design.grid],
            "spare_mw": [a.spare_w / 1e6 for a in design.grid],
            "hosts_whole_site_at_low_pue": [a.spare_w >= site.low_w for a in design.grid],
            "hosts_half_site_at_low_pue": [a.spare_w >= site.low_w / 2 for a in design.grid],
            "hosts_half_site_at_high_pue": [a.spare_w >= site.high_w / 2 for a in design.grid],
        }
    )


if __name__ == "__main__":
    figures.main(draw, NEEDS)
