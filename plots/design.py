# SPDX-License-Identifier: GPL-2.0-only
"""Exposed networking against the optics of the network: the networks of one data centre.

[hotnets24] sections 6 and 6.1. Each point is one choice of planes, rails and oversubscription, in
closed form; the line joins those that no other beats in both, with their oversubscription. From
left to right each kind of network has 8, 6, 4, 3, 2, 1.5 and 1:1. One plane with 72 rails and four
planes with one rail cost as much as each other, and their shares are within 0.8 points. The figure
leaves out 8 planes, which are cheaper (table on the page of design). Transceivers of
switch-to-switch cables cost 1000 USD each; the paper prints no price of a chip.
"""

import pandas as pd
from matplotlib.patheffects import withStroke

from pyorch import figures
from pyorch.theory import design, preset

NEEDS = {}
MODELS = ("dense-100t", "moe-100t")
PLANES, RAILS, RADIX = (1, 4), (1, 72), 64
OVERSUBSCRIPTIONS = (1, 1.5, 2, 3, 4, 6, 8)
UNDER = (1, 72)  # planes and rails of points that others lie on: drawn open and larger


def networks(model):
    """Return all networks for a model, and which of them nothing beats."""
    setup = preset.training(model).setup
    found = design.designs(setup, RADIX, PLANES, RAILS, OVERSUBSCRIPTIONS)
    best = design.frontier(found)
    rows = [
        {
            "model": model, "planes": d.fabric.planes, "rails": d.fabric.rails,
            "oversubscription": d.fabric.oversubscription, "tiers": d.tiers, "chips": d.chips,
            "cables": d.cables, "usd": d.usd, "exposed_share": d.share, "frontier": d in best,
        }
        for d in found
    ]  # fmt: skip
    return pd.DataFrame(rows)


def draw(figure):
    """Draw a panel for each model."""
    data = pd.concat([networks(model) for model in MODELS], ignore_index=True)
    kinds = data[["planes", "rails"]].drop_duplicates().itertuples(index=False, name=None)
    names = {kind: f"{kind[0]} plane{'s' * (kind[0] > 1)}, {kind[1]} rail{'s' * (kind[1] > 1)}"
             for kind in sorted(kinds)}  # fmt: skip
    looks = figures.styles([(f"{p}x{r}", name) for (p, r), name in names.items()])
    axes = figures.panels(figure, [2.4] * len(MODELS))
    for ax, model in zip(axes, MODELS, strict=True):
        own = data[data["model"] == model]
        for (planes, rails), name in names.items():
            look = looks[f"{planes}x{rails}"]
            points = own[(own["planes"] == planes) & (own["rails"] == rails)]
            is_open = (planes, rails) == UNDER
            ax.plot(points["usd"] / 1e9, 100 * points["exposed_share"], linestyle="none",
                    marker=look.marker, color=look.color, markersize=6 if is_open else 3.5,
                    mfc="none" if is_open else look.color, label=name)  # fmt: skip
        best = own[own["frontier"]].sort_values("usd")
        ax.step(best["usd"] / 1e9, 100 * best["exposed_share"], where="post", color="black",
                linewidth=0.8, zorder=0,
                label="no other beats these (8:1: oversubscription)")  # fmt: skip
        for point in best.itertuples():
            place = (point.usd / 1e9, 100 * point.exposed_share)
            ax.annotate(f"{point.oversubscription:g}:1", place, xytext=(3, 3),
                        textcoords="offset points", fontsize=6, zorder=4,
                        path_effects=[withStroke(linewidth=1.5, foreground="white")])  # fmt: skip
        ax.axhline(5, color="black", linestyle=":", linewidth=0.8, label="5 % exposed")
        ax.set(xlabel="optics [billion USD]", ylabel="exposed networking\n[% of the step]",
               ylim=(0, 100))  # fmt: skip
        ax.set_xscale("log")
        ax.set_xticks([0.1, 0.2, 0.5, 1, 2, 5], ["0.1", "0.2", "0.5", "1", "2", "5"])
        ax.minorticks_off()
        ax.set_title(preset.training(model).title, loc="left")
    figures.legend(figure, axes, 3)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
