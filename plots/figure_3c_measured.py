# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking by the rate between data centres: measured, by transport and bit error ratio.

[hotnets24] figure 3c, MoE model. Points: the slowest of 16 crossings of 57.85 MB in packets, turned
into exposed time as stage 3 of the all-reduce; all else is modelled. Lines: three readings of the
paper without loss (docs/theory.md): bytes once and a round trip, twice and one way, once and one
way. The message crosses once, so a transport without loss is at the third, but for headers and the
5 % that admission leaves free. Dotted upright: 20 Gb/s, which the paper finds enough.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset
from pyorch.theory.parallelism import stage_times

NEEDS = {"crossings": "figure_3c_measured/slowdown.csv"}

RATIO = "link.classes.0.loss_model.attributes.Ratio"
MESSAGE = "workload.demands.0.message"
PRESETS = {"57.13 MB": "dense-100t", "57.85 MB": "moe-100t"}
SHOWN = "moe-100t"
WAN_MODELS = {"once-rtt": ":", "twice-one-way": "--", "once-one-way": "-"}
READINGS = {
    "once-rtt": "once, round trip",
    "twice-one-way": "twice, one way",
    "once-one-way": "once, one way",
}
RATES_GBPS = np.geomspace(1, 100, 81)


def measured(crossings):
    """Return the exposed share of each run."""
    rows = []
    for _, run in crossings.iterrows():
        setup = preset.training(PRESETS[run[MESSAGE]]).setup
        step = exposed.expose(stage_times(setup), crossing_ps=float(run["slowest_fct_ps"]))
        rows.append(
            {
                "preset": PRESETS[run[MESSAGE]], "variant": run["variant"], "label": run["label"],
                "bit_error_ratio": run[RATIO], "wan_gbps": float(run["case_label"].split()[0]),
                "seed": run["seed"], "slowest_fct_ps": run["slowest_fct_ps"],
                "retransmitted_packets": run["retransmitted_packets"],
                "timeouts": run["timeouts"], "exposed_percent": 100 * float(step.share),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def modelled(name):
    """Return the exposed share of the three readings without loss, by rate."""
    shares = exposed.by_wan_model(preset.training(name).setup, RATES_GBPS * 1e9)
    return {reading: 100 * share for reading, share in shares.items()}


def draw(figure, crossings):
    """Draw the MoE model, a panel for each bit error ratio; return all measured points."""
    from matplotlib.lines import Line2D

    data = measured(crossings)
    ratios = sorted(data["bit_error_ratio"].unique())
    axes = figures.panels(figure, [2.2] * len(ratios), sharey=True)
    pairs = data[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    for ax, ratio in zip(axes, ratios, strict=True):
        for model, share in modelled(SHOWN).items():
            ax.plot(RATES_GBPS, share, color="#999999", lw=1, ls=WAN_MODELS[model], zorder=0)
        here = data[(data["preset"] == SHOWN) & (data["bit_error_ratio"] == ratio)]
        for variant, look in looks.items():
            own = here[here["variant"] == variant].sort_values("wan_gbps")
            ax.plot(
                own["wan_gbps"], own["exposed_percent"], ls="", marker=look.marker,
                color=look.color, markersize=4, markerfacecolor="none", label=look.label,
            )  # fmt: skip
        ax.axvline(20, color="black", lw=0.6, ls=":", zorder=0)
        ax.set_xscale("log")
        ax.set_xticks([1, 5, 20, 100], [1, 5, 20, 100])
        ax.minorticks_off()
        ax.set_title(f"bit errors {ratio:.0e}", loc="left")
        ax.set(xlabel="rate per GPU [Gb/s]", ylim=(0, 100))
        ax.grid(True)
        if ax is axes[0] or figures.is_column(figure):
            ax.set_ylabel("exposed networking\n[% of the step]")
    lines = {
        f"no loss: {READINGS[model]}": Line2D([], [], color="#999999", lw=1, ls=dashes)
        for model, dashes in WAN_MODELS.items()
    }
    figures.legend(figure, [axes[0]], 4, lines)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
