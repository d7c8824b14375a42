# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking of a simulated training step, by scale-up and by scale-out rate.

[hotnets24] figures 3a and 3b. Symbols: the whole step simulated, with 64 devices in 16 racks on
four rails, and everything that is computed or sent divided by 1000 and by 250; bars reach from one
to the other. Lines: the model, of the whole step. Scale-out 800 Gb/s on the left, scale-up
14.4 Tb/s on the right.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset
from pyorch.units import RATE, parse

NEEDS = {
    "up": "training_scale_up/training_step.csv",
    "out": "training_step/training_step.csv",
}
PRESETS = {"dense": ("dense-100t", "-"), "moe": ("moe-100t", (0, (4, 1.6)))}
#: Column that is swept, name of the rate in the model, label of the axis, its unit [bit/s].
PANELS = {
    "up": ("topology.scale_up.rate", "scale_up_bps", "scale-up [Tb/s]", 1e12),
    "out": ("link.rate", "scale_out_bps", "scale-out [Gb/s]", 1e9),
}
DIVIDE = "workload.divide"


def measured(table, key):
    """Return the exposed share by case, variant and rate, of both reductions."""
    table = table.assign(rate_bps=[parse(rate, RATE) for rate in table[key]])
    rows = table.groupby(["case", "variant", "label", "rate_bps"], sort=False)["exposed_share"]
    return rows.agg(["min", "mean", "max"]).reset_index()


def modelled(case, name, rates_bps):
    """Return the exposed share of the model at some rates."""
    setup = preset.training(PRESETS[case][0]).setup
    return exposed.expose_setup(exposed.with_rates(setup, **{name: rates_bps})).share


def draw(figure, up, out):
    """Draw one panel per network; return what was measured and modelled."""
    from matplotlib.lines import Line2D

    parts = []
    axes = figures.panels(figure, [2.6] * len(PANELS), sharey=True)
    for ax, (panel, table) in zip(axes, {"up": up, "out": out}.items(), strict=True):
        key, name, label, unit = PANELS[panel]
        data = measured(table, key)
        looks = figures.styles(data[["variant", "label"]].drop_duplicates().to_numpy().tolist())
        span = np.geomspace(data["rate_bps"].min(), data["rate_bps"].max(), 200)
        for case, (_, dashes) in PRESETS.items():
            ax.plot(span / unit, 100 * modelled(case, name, span), color="black", lw=1, ls=dashes,
                    zorder=1)  # fmt: skip
            own = data[data["case"] == case]
            for place, (variant, rows) in enumerate(own.groupby("variant", sort=False)):
                look = looks[variant]
                shift = 1.035 ** (place - (len(looks) - 1) / 2)
                error = 100 * np.abs(rows[["min", "max"]].T - rows["mean"]).to_numpy()
                ax.errorbar(
                    rows["rate_bps"] / unit * shift, 100 * rows["mean"], yerr=error, ls="none",
                    color=look.color, marker=look.marker, markersize=3.5, capsize=1.5,
                    markerfacecolor=look.color if case == "dense" else "white",
                    label=look.label if case == "dense" else None, zorder=2,
                )  # fmt: skip
            model = modelled(case, name, own["rate_bps"].to_numpy(float))
            parts.append(own.assign(panel=panel, modelled=model))
        ax.set(xscale="log", xlabel=label, ylim=(0, 100))
        rates = sorted(data["rate_bps"].unique())
        ax.set_xticks([rate / unit for rate in rates], [f"{rate / unit:g}" for rate in rates])
        ax.minorticks_off()
        ax.grid(axis="y")
    axes[0].set_ylabel("exposed [% of the step]")
    kinds = {
        "dense, modelled": Line2D([], [], color="black", lw=1),
        "MoE (open), modelled": Line2D([], [], color="black", lw=1, ls=PRESETS["moe"][1]),
    }
    figures.legend(figure, axes[:1], 3, kinds)
    return pd.concat(parts, ignore_index=True)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
