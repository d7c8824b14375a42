# SPDX-License-Identifier: GPL-2.0-only
"""How much longer a training step takes that loses one of its eight rails at 30 % of it.

An MoE step of 64 devices in 8 racks, everything divided by 400, over the same step without a
failure. Where a rack shares its NICs, messages of the lost rail go over scale-up and the other
seven; without that they wait until it is back, here after 200 us, nearly half a step. Dotted: seven
rails for the rest of the step, 0.3 + 0.7 x 8/7; dashed: with the time until routes follow (4 us)
and one timeout (40 us) too. A message of one path takes one other rail, and shares it with that
rail's own.
"""

import numpy as np

from pyorch import figures

NEEDS = {"steps": "rail_lost/training_step.csv"}

CASES = {"lost": "#0072B2", "waits": "#777777"}
#: Until routes follow, and the timeout of what was lost [ps].
DELAYS_PS = 4_000_000 + 40_000_000
SEVEN = 0.3 + 0.7 * 8 / 7


def over_whole(steps):
    """Return each step with a failure over the same without [1]."""
    whole_ps = steps[steps["case"] == "whole"].set_index("variant")["step_ps"]
    cut = steps[steps["case"] != "whole"]
    before_ps = cut["variant"].map(whole_ps)
    cut = cut.assign(over_whole=cut["step_ps"] / before_ps, bound=SEVEN + DELAYS_PS / before_ps)
    return cut[["case", "case_label", "variant", "label", "step_ps", "over_whole", "bound"]]


def draw(figure, steps):
    """Draw one group of bars for each transport; return what is drawn."""
    from matplotlib.lines import Line2D

    data = over_whole(steps)
    names = data[["variant", "label"]].drop_duplicates()
    (ax,) = figures.panels(figure, [0.9 + 0.32 * len(names)])
    rows = np.arange(len(names))
    for place, (case, color) in enumerate(CASES.items()):
        own = data[data["case"] == case].set_index("variant").loc[names["variant"]]
        at = rows + 0.36 * (place - 0.5)
        label = own["case_label"].iloc[0]
        ax.barh(at, own["over_whole"], height=0.34, color=color, label=label)
        for row, value in zip(at, own["over_whole"], strict=True):
            ax.text(0.03, row, f"{value:.2f}", va="center_baseline", fontsize=6.5, color="white")
    ax.axvline(SEVEN, color="black", lw=0.8, ls=":")
    ax.axvline(data["bound"].min(), color="black", lw=0.8, ls="--")
    ax.set_yticks(rows, names["label"])
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.02 * data["over_whole"].max()), xlabel="step over that without a failure [1]")
    ax.tick_params(axis="y", length=0)
    lines = {
        "seven rails for the rest of the step": Line2D([], [], color="black", lw=0.8, ls=":"),
        "with delay and timeout": Line2D([], [], color="black", lw=0.8, ls="--"),
    }
    figures.legend(figure, [ax], 2, lines)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
