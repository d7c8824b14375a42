# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by scale-out rate, dense and MoE, at 14.4 Tb/s scale-up.

[hotnets24] figure 3b. Modelled: everything but the slowdown of pipeline transfers,
which is measured: slowest flow over optimal of the simulated permutation (figure 5), taken to hold
at every rate. Open symbols: what the paper's text says of the optimum.
"""

import numpy as np

from pyorch import figures
from pyorch.theory import preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

RATES_BPS = np.geomspace(100, 3200, 241) * 1e9
#: Rate [Gb/s], percent and symbol of what the text says: o about, ^ more than, v less than.
TEXT = {
    "dense-100t": [(100, 55, "o"), (800, 5, "o")],
    "moe-100t": [(100, 85, "o"), (800, 20, "o"), (1600, 5, "v")],
}


def draw(figure, slowdown):
    """Draw one panel per model, one curve per transport."""
    data = transports.exposed_by_rate(slowdown, list(TEXT), "scale_out", RATES_BPS)
    titles = {name: preset.training(name).title for name in TEXT}
    shown = data.assign(rate=data["scale_out_gbps"])
    ticks = [100, 200, 400, 800, 1600, 3200]
    figures.exposed_by_rate(figure, shown, titles, TEXT, ticks, "scale-out rate per GPU [Gb/s]")
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
