# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking of a whole simulated step by transport, and what devices wait for.

After [hotnets24] section 6: 64 devices in 16 racks on four rails, 800 Gb/s and 14.4 Tb/s. Bars:
what is computed or sent divided by 100 (laptop scale: 1000); marks: by four times as much. Dashed:
the model of the whole step, bytes over rate. Shares are of the step, by what is waited for on the
critical path of each time in which a device computes nothing, mean of the devices. Numbers are
those of the bars: the mean of three draws of the paths, and in brackets and as a thin line the
least and the most, where they differ. At laptop scale there is one draw.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import exposed, preset

NEEDS = {"steps": "training_step/training_step.csv"}

CASES = {"dense": "dense-100t", "moe": "moe-100t"}
DIVIDE = "workload.divide"
PARTS = {
    "tensor_share": ("tensor parallel", "#0072B2"),
    "pipeline_share": ("pipeline", "#E69F00"),
    "data_share": ("data parallel", "#CC79A7"),
    "bubble_share": ("computations of others", "#999999"),
}


def draw(figure, steps):
    """Draw one panel per model, one bar per transport; return measured and modelled shares."""
    from matplotlib.lines import Line2D

    looks = figures.styles(steps[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    axes = figures.panels(figure, [1.1 + 0.2 * len(looks)] * len(CASES))
    parts = []
    for ax, (case, name) in zip(axes, CASES.items(), strict=True):
        own = over_draws(steps[steps["case"] == case])
        model = float(exposed.expose_setup(preset.training(name).setup).share)
        draw_bars(ax, own, looks, model)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(range(len(looks)), [look.label if first else "" for look in looks.values()])
        ax.invert_yaxis()
        ax.set_title(preset.training(name).title, loc="left")
        parts.append(own.assign(modelled_share=model))
    keys = {
        "bytes / 400 instead of 100": Line2D([], [], color="black", ls="", marker="|", ms=8),
        "closed form": Line2D([], [], color="black", ls="--", lw=0.8),
        "least to most of three draws": Line2D([], [], color="black", lw=0.6),
    }
    figures.legend(figure, axes[:1], 3, keys)
    return pd.concat(parts, ignore_index=True)


def over_draws(steps):
    """Return the mean of the shares over the seeds of each point, and how far apart these are."""
    by = steps.groupby(["case", "variant", "label", DIVIDE], sort=False)
    exposed_share = by["exposed_share"]
    return (
        by[["exposed_share", *PARTS]]
        .mean()
        .assign(n_seeds=by["seed"].nunique(), least=exposed_share.min(), most=exposed_share.max())
        .reset_index()
    )


def draw_bars(ax, own, looks, model):
    """Draw the parts of the least reduced step, and the whole of the other."""
    least, most = (own[own[DIVIDE] == pick].set_index("variant").loc[list(looks)]
                   for pick in (own[DIVIDE].min(), own[DIVIDE].max()))  # fmt: skip
    rows, start = np.arange(len(looks)), np.zeros(len(looks))
    for part, (label, color) in PARTS.items():
        width = 100 * least[part].to_numpy()
        if width.max() > 0.05:
            ax.barh(rows, width, left=start, height=0.6, color=color, label=label)
        start = start + width
    ax.plot(100 * most["exposed_share"], rows, ls="", marker="|", ms=9, color="black")
    ax.axvline(100 * model, color="black", ls="--", lw=0.8)
    ax.hlines(rows, 100 * least["least"], 100 * least["most"], color="black", lw=0.6)
    ends = np.maximum(100 * least["most"], 100 * most["exposed_share"]).to_numpy()
    for row, (end, share) in enumerate(zip(ends, start, strict=True)):
        its = least.iloc[row]
        low, high = (f"{100 * its[end]:.1f}" for end in ("least", "most"))
        draws = "" if low == high else f" ({low}-{high})"
        ax.annotate(f"{share:.1f}{draws}", (end, row), xytext=(4, 0), textcoords="offset points",
                    va="center_baseline", fontsize=6.5)  # fmt: skip
    ax.set(xlim=(0, 1.45 * ends.max()), xlabel="exposed networking [% of the step]")
    ax.tick_params(axis="y", length=0)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
