# SPDX-License-Identifier: GPL-2.0-only
"""What a step of Llama 3 405B exposes on three networks: closed form, fluid rates, packets.

First two of each group: all 16,384 devices, bytes over rate, and max-min fair rates of every
message with headers and latency. The others: a smaller step with the same shares on 64 devices, 16
stages of 2 racks of 2; exposed is what messages add to it, over its length. One draw of the paths.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.theory import design, exposed, preset
from pyorch.theory.full_step import Fabric

NEEDS = {"steps": "design_packets/training_step.csv"}

MODEL = "llama3-405b"
FABRICS = {
    "one_switch": Fabric(2048, 1, 8),
    "two_tiers": Fabric(64, 4, 8, 8.0),
    "three_tiers": Fabric(32, 1, 8, upper=(7.0,)),
}
WHOLE = {"closed_form": "closed form, all devices", "step": "max-min fair rates, all devices"}


def draw(figure, steps):
    """Draw a group of bars per network; return what is exposed of a step [1]."""
    figure.set_figheight(3.2)  # fifteen bars, each with its number
    ax = figure.subplots()
    data = pd.concat([whole(steps), simulated(steps)], ignore_index=True)
    cases = data[["case", "case_label"]].drop_duplicates().set_index("case")["case_label"]
    names = data[["variant", "label"]].drop_duplicates().set_index("variant")["label"]
    looks = figures.styles(list(names.items()))
    rows, height = np.arange(len(cases)), 0.9 / len(names)
    for index, (name, label) in enumerate(names.items()):
        own = data[data["variant"] == name].set_index("case").loc[cases.index]
        place = rows + height * (index - (len(names) - 1) / 2)
        bars = ax.barh(place, 100 * own["exposed_share"], height=0.9 * height, label=label,
                       color=looks[name].color)  # fmt: skip
        ax.bar_label(bars, fmt="%.1f", padding=3, fontsize=6)
    ax.set_yticks(rows, cases)
    ax.invert_yaxis()
    ax.set(xlim=(0, 115 * data["exposed_share"].max()), xlabel="exposed [% of a step]")
    ax.tick_params(axis="y", length=0)
    figures.legend(figure, [ax], 2)
    return data


def whole(steps):
    """Return what the analytical model says of all devices."""
    setup = preset.training(MODEL).setup
    rows = []
    for case, label in steps[["case", "case_label"]].drop_duplicates().to_numpy().tolist():
        (one,) = design.solved(setup, [design.score(setup, FABRICS[case])])
        shares = {"closed_form": one.share, "step": one.fluid_share}
        rows += [
            {"case": case, "case_label": label, "variant": name, "label": WHOLE[name],
             "exposed_share": share}
            for name, share in shares.items()
        ]  # fmt: skip
    return pd.DataFrame(rows)


def simulated(steps):
    """Return what messages add to the steps that were simulated, of which a bare one is known.

    It has the arithmetic that was simulated, and the bubble that the closed form has for that.
    """
    step = exposed.expose_setup(preset.training(MODEL).setup)
    bare = float(1 + step.bubble_ps / step.compute_ps)
    share = 1 - bare * steps["compute_ps"] / steps["step_ps"]
    columns = ["case", "case_label", "variant", "label"]
    return steps[columns].assign(exposed_share=share)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
