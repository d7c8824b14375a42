# SPDX-License-Identifier: GPL-2.0-only
"""Completion times of an exchange on a ring of switches, with the share of marked packets."""

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"fct": "ring_exchange/fct.csv", "marks": "ring_exchange/marks.csv"}
PS_PER_US = 1e6


def draw(ax, fct, marks):
    """Draw the share of flows that are done, one line per variant; return what is drawn."""
    drawn = fct.merge(marks[["run", "marked_share"]], on="run")
    looks = figures.styles(drawn[["variant", "label"]].itertuples(index=False, name=None))
    for (variant, marked), run in drawn.groupby(["variant", "marked_share"]):
        look = looks[variant]
        ax.step(
            run["fct_ps"] / PS_PER_US, run["quantile_share"], where="post", color=look.color,
            label=f"{look.label} ({100 * marked:.0f} % marked)",
        )  # fmt: skip
    ax.set(xlabel="flow completion time [us]", ylabel="share of flows completed [1]")
    ax.set(xlim=(0, None), ylim=(0, 1.01))
    ax.legend()
    return drawn[["variant", "seed", "fct_ps", "quantile_share", "marked_share"]]


if __name__ == "__main__":
    figures.main(draw, NEEDS)
