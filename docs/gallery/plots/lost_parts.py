# SPDX-License-Identifier: GPL-2.0-only
"""A training step that begins without a part of its network, or with spares in its place.

A step of a model of experts on 64 devices in 8 racks, divided by 800; racks share their NICs, and
eight rails have two planes each. Numbers: over the step with everything. A message of one path
draws its way: mean of two draws, each a point.
"""

from pyorch import figures

PS_PER_US = 1e6
KINDS = {"path": ("rocev2_irn", "one path, best effort"), "sprayed": ("sprayed", "sprayed")}


def draw(ax, runs):
    """Draw two bars for each part that is lost."""
    import pandas as pd

    table = pd.DataFrame(measured(*named) for named in runs.items())
    whole = table[table["lost"] == "none"].set_index(["kind", "seed"])["step_us"]
    keys = table[["kind", "seed"]].itertuples(index=False, name=None)
    table["over_whole"] = table["step_us"] / [whole[key] for key in keys]
    labels = table.drop_duplicates("lost").set_index("lost")["label"]
    rows = {name: row for row, name in enumerate(labels.index)}
    ax.figure.set_figheight(0.7 + 0.36 * len(rows))
    for place, (kind, (style, words)) in enumerate(KINDS.items()):
        own = table[table["kind"] == kind]
        at = own["lost"].map(rows) + 0.38 * (place - 0.5)
        mean = own.assign(at=at).groupby("at")[["step_us", "over_whole"]].mean()
        color = figures.style(style).color
        ax.barh(mean.index, mean["step_us"], height=0.36, color=color, label=words)
        for row, over in mean["over_whole"].items():
            ax.text(12, row, f"{over:.2f}", va="center_baseline", fontsize=6.5, color="white")
        if own["seed"].nunique() > 1:
            ax.plot(own["step_us"], at, "o", ms=2, color="black")
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set(xlabel="step [us]", xlim=(0, None))
    ax.tick_params(axis="y", length=0)
    figures.legend(ax.figure, [ax], 2)
    return table


def measured(variant, found):
    """Return what a run lost, and how long its step took."""
    (run,), (kind, lost, *_) = found, variant.split("_")
    step = run.metric("training_step").iloc[0]
    return {
        "kind": kind, "lost": lost, "label": run.label, "seed": run.spec.seed,
        "step_us": step["step_ps"] / PS_PER_US, "tensor_share": step["tensor_share"],
        "data_share": step["data_share"],
    }  # fmt: skip
