# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by the rate between data centres, without and with lost round trips.

[hotnets24] figure 3c. The paper does not state how the wide-area time is made up; two readings
that satisfy its text stand side by side (W2: bytes twice and 30 ms, W3: bytes once and 30 ms).
Modelled: everything but the slowdown of pipeline transfers in the curves of transports (W2, no
lost round trip), which is that of the slowest flow of the simulated permutation.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

#: Printed below the panels.
NOTE = "measured: slowest simulated transfer, applied to the pipeline; modelled: all else"

PRESETS = ("dense-100t", "moe-100t")
RATES_GBPS = np.geomspace(1, 100, 81)
LOST = {0: "#000000", 1: "#7a7a7a", 2: "#b5b5b5"}
DASHES = {"W2": "-", "W3": (0, (3, 1.5))}
#: Rate that the text calls enough without loss.
ENOUGH_GBPS = 20


def curves(slowdown):
    """Return the exposed share by model, reading, lost round trips, transport and rate."""
    ideal = ("Optimal", exposed.Inflation())
    cases = [(wan, lost, "optimal", *ideal) for wan in DASHES for lost in LOST]
    measured = transports.inflations(slowdown)
    cases += [("W2", 0, kind, *measured[kind]) for kind in measured]
    tables = []
    for name in PRESETS:
        setup = exposed.with_rates(preset.training(name).setup, wan_bps=RATES_GBPS * 1e9)
        for wan, lost, kind, label, inflation in cases:
            step = exposed.expose_setup(
                setup, wan_model=wan, retransmission_rtts=lost, inflation=inflation
            )
            tables.append(
                pd.DataFrame(
                    {
                        "preset": name, "wan_model": wan, "lost_rtts": lost, "transport": kind,
                        "label": label, "pipeline_slowdown": inflation.pipeline,
                        "wan_gbps": RATES_GBPS, "exposed_percent": 100 * step.share,
                    }
                )
            )  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def draw(figure, slowdown):
    """Draw one panel per model."""
    figure.set_size_inches(figures.TWO_COLUMNS_INCHES, 3.1)
    data = curves(slowdown)
    axes = figure.subplots(1, len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        shown = data[data["preset"] == name]
        for (wan, lost, kind), curve in shown.groupby(
            ["wan_model", "lost_rtts", "transport"], sort=False
        ):
            look = figures.style(kind, curve["label"].iloc[0])
            ideal = kind == "optimal"
            ax.plot(
                curve["wan_gbps"], curve["exposed_percent"], ls=DASHES[wan],
                color=LOST[lost] if ideal else look.color, lw=1.1 if ideal else 2.2,
                marker="" if ideal else look.marker, markevery=(10, 20), ms=3.5,
                zorder=2 if ideal else 1,
                label=f"{wan}, {lost} lost RTT" if ideal else look.label,
            )  # fmt: skip
        ax.axvline(ENOUGH_GBPS, color="#56B4E9", lw=0.8, zorder=0)
        ax.annotate(
            "paper: enough\nwithout loss", (ENOUGH_GBPS, 97), xytext=(3, 0), fontsize=6,
            textcoords="offset points", va="top",
        )  # fmt: skip
        ax.set_title(preset.training(name).title, loc="left")
        ax.set_xscale("log")
        ax.set_xticks([1, 2, 5, 10, 20, 50, 100], [1, 2, 5, 10, 20, 50, 100])
        ax.minorticks_off()
        ax.set(xlabel="rate between data centres per GPU [Gb/s]", ylim=(0, 100), xlim=(1, 100))
        ax.grid(True)
    axes[0].set_ylabel("exposed networking [% of the step]")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=-(-len(labels) // len(LOST)))
    figure.text(0.002, 0.004, NOTE, va="bottom", fontsize=5, color="#777")
    figure.get_layout_engine().set(rect=(0, 0.05, 1, 0.95))  # leaves the note its line
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
