# SPDX-License-Identifier: GPL-2.0-only
"""Loss-optimal model size by training time, for the compute of a site of 100e9 USD.

[hotnets24] figure 1, at full utilisation. The paper does not print the time behind its 103.8T; 48
months are inferred.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import infrastructure, preset, scaling

NEEDS = {}

MONTH_DAYS = 30
MONTHS = np.arange(1, 61)
#: Label, colour and dashes, from the largest size to the smallest.
LOOKS = {
    "kaplan": ("Kaplan et al.", "#E69F00", "-"),
    "hoffmann1": ("Hoffmann et al., approach 1", "#56B4E9", "-"),
    "hoffmann2": ("Hoffmann et al., approach 2", "#D55E00", "-"),
    "hoffmann3_table": ("Hoffmann et al., approach 3, table", "#009E73", "-"),
    "hoffmann3_closed": ("Hoffmann et al., approach 3, closed form", "#009E73", "--"),
}
#: Sizes that the paper names; approach 2 gives them at the month that is computed.
NAMED = {"103.8T": 103.8e12, "50T": 50e12}


def curves():
    """Return size by law and month."""
    site = preset.site("site-100b-usd")
    rate = infrastructure.build_site(site.budget, site.rack).dense_flop_per_s
    work_flop = scaling.training_flop(rate, MONTHS * MONTH_DAYS)
    tables = [
        pd.DataFrame(
            {
                "law": name, "months_of_30_days": MONTHS, "compute_flop": work_flop,
                "parameters": law().parameters(work_flop),
            }
        )
        for name, law in scaling.LAWS.items()
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True), rate


def draw(ax):
    """Draw one curve per scaling law."""
    data, rate = curves()
    for name, curve in data.groupby("law", sort=False):
        label, color, dashes = LOOKS[name]
        size = curve["parameters"] / 1e12
        ax.plot(curve["months_of_30_days"], size, dashes, color=color, label=label)
    law = scaling.hoffmann_fit(2)
    for (label, size), side in zip(NAMED.items(), ("right", "left"), strict=True):
        month = scaling.training_days(law.compute_flop(size), rate) / MONTH_DAYS
        ax.plot(month, size / 1e12, "o", mfc="white", color=LOOKS["hoffmann2"][1])
        ax.annotate(
            f"{label} in the paper:\n{month:.0f} months, inferred", (month, size / 1e12),
            xytext=(-4 if side == "left" else 24, 8), ha=side, va="bottom",
            textcoords="offset points", fontsize=7,
        )  # fmt: skip
    ax.set_yscale("log")
    ax.set(
        xlim=(0, 60), ylim=(3, 1e5), xticks=range(0, 61, 12),
        xlabel="training time at 16.8 ZFLOPS [month of 30 days]",
        ylabel="loss-optimal size\n[trillion parameters]",
    )  # fmt: skip
    ax.grid(True, axis="both")
    figures.legend(ax.figure, [ax], 3)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
