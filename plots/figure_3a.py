# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by scale-up rate, dense and MoE, at 800 Gb/s scale-out.

[hotnets24] figure 3a. Modelled: everything but the slowdown of pipeline transfers, which is that
of the slowest flow of the simulated permutation. Open symbols: what the paper's text
says; triangles point to where an inequality leads.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

#: Printed below the panels.
NOTE = "measured: slowest simulated transfer, applied to the pipeline; modelled: all else"

PRESETS = ("dense-100t", "moe-100t")
RATES_GBPS = np.geomspace(800, 28800, 241)
#: Rate, percent and symbol of what the text says: o about, ^ more than, v less than.
TEXT = {
    "dense-100t": [(800, 40, "^"), (14400, 5, "o")],
    "moe-100t": [(800, 75, "o"), (14400, 20, "o")],
}


def curves(slowdown):
    """Return the exposed share by model, transport and rate."""
    kinds = {"optimal": ("Optimal", exposed.Inflation()), **transports.inflations(slowdown)}
    tables = []
    for name in PRESETS:
        setup = exposed.with_rates(preset.training(name).setup, scale_up_bps=RATES_GBPS * 1e9)
        for kind, (label, inflation) in kinds.items():
            share = exposed.expose_setup(setup, inflation=inflation).share
            tables.append(
                pd.DataFrame(
                    {
                        "preset": name, "transport": kind, "label": label,
                        "pipeline_slowdown": inflation.pipeline, "scale_up_gbps": RATES_GBPS,
                        "exposed_percent": 100 * share,
                    }
                )
            )  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def draw(figure, slowdown):
    """Draw one panel per model, one curve per transport."""
    figure.set_size_inches(figures.TWO_COLUMNS_INCHES, 2.4)
    data = curves(slowdown)
    axes = figure.subplots(1, len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        for kind, curve in data[data["preset"] == name].groupby("transport", sort=False):
            look = figures.style(kind, curve["label"].iloc[0])
            ideal = kind == "optimal"
            ax.plot(
                curve["scale_up_gbps"] / 1e3, curve["exposed_percent"], label=look.label,
                color="#bbbbbb" if ideal else look.color, lw=4 if ideal else 1.1,
                marker=look.marker, markevery=40, ms=3.5,
            )  # fmt: skip
        for rate, percent, symbol in TEXT[name]:
            ax.plot(rate / 1e3, percent, symbol, mfc="white", color="black", ms=4.5, zorder=5)
        ax.set_title(preset.training(name).title, loc="left")
        ax.set_xscale("log")
        ax.set_xticks(
            [0.8, 1.6, 3.2, 7.2, 14.4, 28.8], ["0.8", "1.6", "3.2", "7.2", "14.4", "28.8"]
        )
        ax.minorticks_off()
        ax.set(xlabel="scale-up rate per GPU [Tb/s]", ylim=(0, 100))
        ax.grid(True)
    axes[0].set_ylabel("exposed networking [% of the step]")
    axes[0].plot([], [], "o", mfc="white", color="black", ms=4.5, label="stated in the paper")
    axes[0].legend(loc="upper right")
    figure.text(0.002, 0.004, NOTE, va="bottom", fontsize=5, color="#777")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # leaves the note its line
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
