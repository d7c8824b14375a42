# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking of a whole simulated step by transport, and what devices wait for.

After [hotnets24] section 6: 64 devices in 16 racks on four rails, 800 Gb/s and 14.4 Tb/s. Bars:
what is computed or sent divided by 100 (laptop scale: 1000); diamonds: by four times as much. The
axes of the models differ. Dashed: the model of the whole step, bytes over rate; in packets a step
whose messages never meet exposes more, the MoE step 22.3 % (divided by 100, with one switch for
each rail: docs/results/nscc_step.csv). Shares are of the step, by what is waited for on the
critical path of each time in which a device computes nothing, mean of the devices. Numbers: the
mean of three draws of the paths, and for the bars in brackets and as a thin line the least and the
most, where they differ. At laptop scale there is one draw. The 55 % of NSCC depend on how small
this step is: with four times less bytes, or cables twice as long, it exposes 30 %.
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
#: Of the step with more bytes divided.
OTHER = {"marker": "D", "ms": 4, "mfc": "white", "mec": "black", "mew": 0.8}


def draw(figure, steps):
    """Draw one panel per model, one bar per transport; return measured and modelled shares."""
    from matplotlib.lines import Line2D

    looks = figures.styles(steps[["variant", "label"]].drop_duplicates().to_numpy().tolist())
    axes = figures.panels(figure, [1.2 + 0.2 * len(looks)] * len(CASES))
    parts = []
    for ax, (case, name) in zip(axes, CASES.items(), strict=True):
        own = over_draws(steps[steps["case"] == case])
        model = float(exposed.expose_setup(preset.training(name).setup).share)
        draw_bars(ax, own, looks, model, room=2.6 if figures.is_column(figure) else 1.75)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(range(len(looks)), [look.label if first else "" for look in looks.values()])
        ax.invert_yaxis()
        other = "" if ax is axes[0] else " (another scale)"
        ax.set_title(preset.training(name).title + other, loc="left")
        parts.append(own.assign(modelled_share=model))
    less, more = steps[DIVIDE].min(), steps[DIVIDE].max()
    keys = {
        f"bytes / {less}, least to most of the draws": Line2D([], [], color="black", lw=0.8),
        f"bytes / {more}": Line2D([], [], ls="", **OTHER),
        "closed form": Line2D([], [], color="black", ls="--", lw=0.8),
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


def draw_bars(ax, own, looks, model, room):
    """Draw the parts of the least reduced step, and the whole of the other, with their numbers."""
    least, most = (own[own[DIVIDE] == pick].set_index("variant").loc[list(looks)]
                   for pick in (own[DIVIDE].min(), own[DIVIDE].max()))  # fmt: skip
    rows, start = np.arange(len(looks)), np.zeros(len(looks))
    for part, (label, color) in PARTS.items():
        width = 100 * least[part].to_numpy()
        if width.max() > 0.05:
            ax.barh(rows, width, left=start, height=0.6, color=color, label=label)
        start = start + width
    ax.axvline(100 * model, color="black", ls="--", lw=0.8)
    ax.hlines(rows, 100 * least["least"], 100 * least["most"], color="black", lw=0.8)
    ax.plot(100 * most["exposed_share"], rows, ls="", **OTHER)
    end = max(100 * table[name].max() for table, name in
              ((least, "most"), (most, "exposed_share")))  # fmt: skip
    width = room * end
    between = "\n" if figures.is_column(ax.figure) else " "
    ax.set(xlim=(0, width), xlabel=f"exposed networking{between}[% of the step]")
    ax.set_xticks([tick for tick in ax.get_xticks() if tick <= 1.1 * end])
    write(ax, [-1, *rows], [f"bytes / {own[DIVIDE].min()}", *map(words, least.itertuples(), start)],
          1.1 * end, "left")  # fmt: skip
    wholes = [f"{100 * share:.1f}" for share in most["exposed_share"]]
    write(ax, [-1, *rows], [f"/ {own[DIVIDE].max()}", *wholes], width, "right")
    ax.tick_params(axis="y", length=0)


def words(its, share):
    """Return the mean of a bar, and the least and the most of its draws where they differ."""
    low, high = f"{100 * its.least:.1f}", f"{100 * its.most:.1f}"
    return f"{share:.1f}" + ("" if low == high else f" ({low}-{high})")


def write(ax, rows, texts, place, side):
    """Write a column of numbers; the first is its title."""
    for row, text in zip(rows, texts, strict=True):
        ax.text(place, row, text, ha=side, va="center_baseline", fontsize=6.5,
                color="#555555" if row < 0 else "black")  # fmt: skip


if __name__ == "__main__":
    figures.main(draw, NEEDS)
