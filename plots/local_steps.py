# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking of training across two datacenters that exchange in one of many steps only.

Crosses: a step with the exchange and a step without, in packets, with 16 devices at each site and
everything divided by 400; the mean of as many steps as lie between two exchanges. Lines: the same
in closed form, bytes once and one way (docs/theory.md), of the whole job. With rarer exchanges both
go down to what a datacenter exposes by itself, the dotted line.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset
from pyorch.units import parse_rate_bps

NEEDS = {"steps": "local_steps/training_step.csv"}

CASES = {"dense": "dense-100t", "moe": "moe-100t"}
RATE, EXCHANGE = "topology.long_haul.0.rate", "workload.exchange"
DEVICES_PER_SITE = 16
EVERY = [1, 3, 10, 30, 100, 300]
LINE = np.geomspace(1, 300, 61)
COLORS = ["#0072B2", "#D55E00", "#009E73"]


def measured(steps):
    """Return the exposed share by case, rate per device and steps between exchanges [%]."""
    steps = steps.assign(
        wan_gbps=steps[RATE].map(parse_rate_bps) / 1e9 / DEVICES_PER_SITE,
        exchanges=steps[EXCHANGE].astype(str).str.lower() == "true",
        exposed_ps=steps["exposed_share"] * steps["step_ps"],
    )
    names = ["exposed_ps", "step_ps"]
    by_kind = {
        exchanges: part.set_index(["case", "wan_gbps"])[names].astype(float)
        for exchanges, part in steps.groupby("exchanges")
    }
    rows = []
    for every in EVERY:
        whole = by_kind[False] * (every - 1) + by_kind[True]
        share = 100 * whole["exposed_ps"] / whole["step_ps"]
        rows.append(share.rename("exposed_percent").reset_index().assign(exchange_every=every))
    return pd.concat(rows, ignore_index=True)


def modelled(name, wan_gbps, every):
    """Return the exposed share of the closed form [%]."""
    setup = exposed.with_rates(preset.training(name).setup, wan_bps=wan_gbps * 1e9)
    local = exposed.expose_setup(setup)
    exchanging = exposed.expose_setup(setup, wan_model="once-one-way")
    return 100 * exposed.local_steps(local, exchanging, every).share


def draw(figure, steps):
    """Draw a panel for each model; return all measured points."""
    from matplotlib.lines import Line2D

    data = measured(steps)
    axes = figures.panels(figure, [2.2] * len(CASES), sharey=True)
    rates = sorted(data["wan_gbps"].unique())
    for ax, (case, name) in zip(axes, CASES.items(), strict=True):
        for rate, color in zip(rates, COLORS, strict=False):
            own = data[(data["case"] == case) & (data["wan_gbps"] == rate)]
            ax.plot(LINE, modelled(name, rate, LINE), color=color, lw=1)
            ax.plot(
                own["exchange_every"], own["exposed_percent"], ls="", marker="x", color=color,
                markersize=5, label=f"{rate:g} Gb/s",
            )  # fmt: skip
        alone = exposed.expose_setup(preset.training(name).setup).share
        ax.axhline(100 * alone, color="black", lw=0.6, ls=":", zorder=0)
        ax.set_xscale("log")
        ax.set_xticks([1, 10, 100], [1, 10, 100])
        ax.set_title(preset.training(name).title, loc="left")
        ax.set(xlabel="steps from one exchange to the next", ylim=(0, 100))
        ax.grid(True)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("exposed networking\n[% of a step]")
    kinds = {
        "packets": Line2D([], [], color="#666666", ls="", marker="x", markersize=5),
        "closed form": Line2D([], [], color="#666666", lw=1),
    }
    figures.legend(figure, [axes[0]], 5, kinds)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
