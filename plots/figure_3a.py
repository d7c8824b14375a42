# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by scale-up rate, dense and MoE, at 800 Gb/s scale-out.

[hotnets24] figure 3a. Modelled: everything but the slowdown of pipeline transfers,
which is measured: slowest flow over optimal of the simulated permutation (figure 5), taken to hold
at every rate. Open symbols: what the paper's text says of the optimum. Its
"75 %" (MoE) may also be read as "more than 75 %".
"""

import numpy as np

from pyorch import figures
from pyorch.theory import preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

RATES_BPS = np.geomspace(800, 28800, 241) * 1e9
#: Rate [Tb/s], percent and symbol of what the text says: o about, ^ more than, v less than.
TEXT = {
    "dense-100t": [(0.8, 40, "^"), (14.4, 5, "o")],
    "moe-100t": [(0.8, 75, "o"), (14.4, 20, "o")],
}


def draw(figure, slowdown):
    """Draw one panel per model, one curve per transport."""
    data = transports.exposed_by_rate(slowdown, list(TEXT), "scale_up", RATES_BPS)
    titles = {name: preset.training(name).title for name in TEXT}
    shown = data.assign(rate=data["scale_up_gbps"] / 1e3)
    ticks = [0.8, 1.6, 3.2, 7.2, 14.4, 28.8]
    figures.exposed_by_rate(figure, shown, titles, TEXT, ticks, "scale-up rate per GPU [Tb/s]")
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
