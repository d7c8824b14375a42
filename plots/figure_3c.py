# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by the rate between data centres, and by round trips that a loss costs.

[hotnets24] figure 3c. Everything is modelled, with ideal transports in the data centre. The paper
does not state how often the bytes of the all-reduce cross the wide area: the solid edge of a band
is for twice, the dashed one for once; both take 30 ms of propagation, and a lost round trip takes
60 ms more. Where a curve reaches the grey band the wide area adds nothing; what is left is
exposed inside the data centre. The paper says that 20 Gb/s are enough without loss.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset

NEEDS = {}

PRESETS = ("dense-100t", "moe-100t")
RATES_GBPS = np.geomspace(1, 100, 161)
TICKS_GBPS = [1, 2, 5, 10, 20, 50, 100]
COLORS = {0: "#0072B2", 1: "#E69F00", 2: "#882255"}
#: Wide-area model by how often it lets the bytes cross, and its line.
CROSSINGS = {"twice": ("twice-one-way", "-"), "once": ("once-one-way", (0, (3, 1.5)))}
#: Rate that the text calls enough without loss.
ENOUGH_GBPS = 20


def curves():
    """Return the exposed share by model, crossings, lost round trips and rate."""
    tables = []
    for name in PRESETS:
        setup = exposed.with_rates(preset.training(name).setup, wan_bps=RATES_GBPS * 1e9)
        for times, (model, _) in CROSSINGS.items():
            for lost in COLORS:
                step = exposed.expose_setup(setup, wan_model=model, retransmission_rtts=lost)
                tables.append(
                    pd.DataFrame(
                        {
                            "preset": name, "bytes_cross": times, "lost_round_trips": lost,
                            "wan_gbps": RATES_GBPS, "exposed_percent": 100 * step.share,
                        }
                    )
                )  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def draw_panel(ax, curves_of_model, name):
    """Draw a band per number of lost round trips; its edges are the two readings."""
    shares = curves_of_model.groupby(["bytes_cross", "lost_round_trips"])["exposed_percent"]
    for lost, color in COLORS.items():
        edges = {}
        for times, (_, dashes) in CROSSINGS.items():
            edges[times] = shares.get_group((times, lost)).to_numpy()
            ax.plot(RATES_GBPS, edges[times], ls=dashes, color=color, lw=1.2, zorder=3)
        ax.fill_between(RATES_GBPS, edges["once"], edges["twice"], color=color, alpha=0.15, lw=0)
    local = 100 * float(exposed.expose_setup(preset.training(name).setup).share)
    ax.axhline(local, color="#999999", lw=4, zorder=0)
    ax.axvline(ENOUGH_GBPS, color="black", lw=0.6, ls=":", zorder=0)
    ax.annotate(
        "paper: enough\nwithout loss", (ENOUGH_GBPS, 97), xytext=(3, 0), fontsize=6,
        textcoords="offset points", va="top",
    )  # fmt: skip
    ax.set_title(preset.training(name).title, loc="left")
    ax.set_xscale("log")
    ax.set_xticks(TICKS_GBPS, TICKS_GBPS)
    ax.minorticks_off()
    ax.set(xlabel="rate between data centres, per GPU [Gb/s]", ylim=(0, 100), xlim=(1, 100))
    ax.grid(True)


def draw(figure):
    """Draw one panel per model."""
    from matplotlib.lines import Line2D

    data = curves()
    axes = figures.panels(figure, [2.5] * len(PRESETS), sharey=True)
    for ax, name in zip(axes, PRESETS, strict=True):
        draw_panel(ax, data[data["preset"] == name], name)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
    words = ("no round trip lost", "1 round trip lost (60 ms)", "2 round trips lost (120 ms)")
    entries = {
        text: Line2D([], [], color=color, lw=4)
        for text, color in zip(words, COLORS.values(), strict=True)
    }
    for times, (_, dashes) in CROSSINGS.items():
        entries[f"bytes cross {times}"] = Line2D([], [], color="black", ls=dashes, lw=1.2)
    entries["inside the data centre"] = Line2D([], [], color="#999999", lw=4)
    figures.legend(figure, [], 3, entries)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
