# SPDX-License-Identifier: GPL-2.0-only
"""Exposed share of a simulated MoE step with NSCC, and what brings it near that of sprayed packets.

Ours: 64 devices on four rails, as in `training_step`. Every symbol is the mean of the draws of
entropies and paths, small symbols are the draws. Filled: what is computed or sent divided by 100
(laptop scale: 800); open: by four times as much. Entropies are hashed unless paths are in turn.
"""

from pyorch import figures

NEEDS = {"steps": "nscc_step/training_step.csv"}
DIVIDE = "workload.divide"
SHARE = "exposed_share"
ROW_INCHES = 0.19


def draw(figure, steps):
    """Draw one row per variant, a symbol per divisor; return means and draws."""
    from matplotlib.lines import Line2D

    steps = steps.assign(percent=100 * steps[SHARE])
    rows = list(steps["label"].unique())
    (ax,) = figures.panels(figure, [0.6 + ROW_INCHES * len(rows)])
    divisors = sorted(steps[DIVIDE].unique())
    for (variant, label, divide), runs in steps.groupby(["variant", "label", DIVIDE], sort=False):
        look = figures.style(variant.partition("_")[0])
        is_least = divide == divisors[0]
        row = rows.index(label) + (-0.15 if is_least else 0.15)
        face = look.color if is_least else "white"
        ax.plot(
            runs["percent"], [row] * len(runs), look.marker, color=look.color, markersize=2.2,
            alpha=0.5, markeredgewidth=0,
        )  # fmt: skip
        ax.plot(
            runs["percent"].mean(), row, look.marker, color=look.color, markerfacecolor=face,
            markersize=4.5, markeredgewidth=0.8,
        )  # fmt: skip
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="exposed [% of the step]", ylim=(len(rows) - 0.4, -0.6))
    ax.set_xlim(left=0)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)
    keys = {
        f"bytes / {divide}": Line2D([], [], color="black", ls="", marker="o", ms=4.5, mfc=face)
        for divide, face in zip(divisors, ("black", "white"), strict=False)
    }
    figures.legend(figure, [ax], 4, keys)
    by = ["variant", "label", DIVIDE]
    return (
        steps.groupby(by, sort=False)[SHARE]
        .agg(n_seeds="size", mean="mean", least="min", most="max")
        .reset_index()
    )


if __name__ == "__main__":
    figures.main(draw, NEEDS)
