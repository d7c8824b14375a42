# SPDX-License-Identifier: GPL-2.0-only
"""Mean slowdown with a failed link, by load and by who balances it.

Compare with CONGA (SIGCOMM 2014), figure 11: same network, but its senders are TCP. Slowdown is
completion over the completion of the same flow alone. Lines: mean over seeds; bars: 95 % confidence
interval of that mean (Student's t).
"""

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "failed_link/slowdown.csv"}
LOAD = "workload.load"


def draw(figure, slowdown):
    """Draw the mean slowdown of each variant; return it with its interval."""
    (ax,) = figures.panels(figure, [2.4])
    pairs = slowdown[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    points = figures.over_seeds(slowdown, ["variant", LOAD], "slowdown_mean")
    for variant, look in looks.items():
        own = points[points["variant"] == variant]
        mean = own["slowdown_mean_mean"]
        ax.errorbar(
            100 * own[LOAD], mean, yerr=(mean - own["slowdown_mean_low"]).fillna(0),
            linestyle=look.dashes, marker=look.marker, color=look.color, linewidth=1,
            markersize=4, capsize=2, label=look.label,
        )  # fmt: skip
    ax.set(
        xlabel="load [% of the hosts' links]",
        ylabel="mean slowdown [1]",
        ylim=(0, 1.05 * ax.dataLim.y1),
    )
    ax.set_xticks(sorted(100 * slowdown[LOAD].unique()))
    ax.xaxis.set_major_formatter("{x:.3g}")
    ax.grid(axis="y")
    figures.legend(figure, [ax], 3)
    return points


if __name__ == "__main__":
    figures.main(draw, NEEDS)
