# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by scale-up rate, dense and MoE, at 800 Gb/s scale-out.

[hotnets24] figure 3a. Modelled: everything but the slowdown of pipeline transfers,
which is measured: slowest flow over optimal of the simulated permutation (figure 5), taken to hold
at every rate. Open symbols: what the paper's text says of the optimum. Its
"75 %" (MoE) may also be read as "more than 75 %".
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset, transports

NEEDS = {"slowdown": "figure_5/slowdown.csv"}

PRESETS = ("dense-100t", "moe-100t")
#: Optimum wide and grey below; transports that coincide show as dashes on a wider line.
LINES = [
    {"lw": 5, "color": "#d5d5d5"}, {"lw": 2.4}, {"lw": 1.4, "ls": (0, (4, 2))},
    {"lw": 1.2, "ls": (0, (1, 1.2))},
]  # fmt: skip
SYMBOLS = {"o": "paper: about", "^": "paper: more than", "v": "paper: less than"}
RATES_GBPS = np.geomspace(800, 28800, 241)
TICKS_GBPS = [800, 1600, 3200, 7200, 14400, 28800]
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
    data = curves(slowdown)
    looks = figures.styles(data[["transport", "label"]].itertuples(index=False, name=None))
    axes = figures.panels(figure, [2.4] * len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        shown = data[data["preset"] == name].groupby("transport", sort=False)
        for number, (kind, curve) in enumerate(shown):
            line = {"color": looks[kind].color} | LINES[min(number, len(LINES) - 1)]
            ratio = curve["pipeline_slowdown"].iloc[0]
            label = looks[kind].label + (f" ({ratio:.2f} x optimal)" if number else "")
            ax.plot(curve["scale_up_gbps"] / 1e3, curve["exposed_percent"], label=label, **line)
        for symbol, label in SYMBOLS.items():
            stated = [(rate, percent) for rate, percent, kind in TEXT[name] if kind == symbol]
            if stated:
                rates, percents = zip(*stated, strict=True)
                ax.plot(
                    [rate / 1e3 for rate in rates], percents, symbol, mfc="white", color="black",
                    ms=4.5, zorder=5, label=label,
                )  # fmt: skip
        ax.set_title(preset.training(name).title, loc="left")
        ax.set_xscale("log")
        ax.set_xticks([tick / 1e3 for tick in TICKS_GBPS], [tick / 1e3 for tick in TICKS_GBPS])
        ax.minorticks_off()
        ax.set(xlabel="scale-up rate per GPU [Tb/s]", ylim=(0, 100))
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
        ax.grid(True)
    figures.legend(figure, axes, 3)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
