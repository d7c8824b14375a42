# SPDX-License-Identifier: GPL-2.0-only
"""Slowest flow of a permutation over the optimum, by transport with many paths and by setting.

Ours, round [hotnets24] figure 5: each row changes one thing of its base, or two. Same seeds, so the
same permutation. Symbols: mean of the seeds, as a number where it lies beyond the axis; bars: 95 %
confidence interval (Student's t); dotted: the base of the transport. The optimum has the headers
and the acknowledgements of the row. One product is the bandwidth-delay product of the unloaded
path.
"""

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"slowdown": "many_paths/slowdown.csv"}
OVER = "over_optimal_p100"
MOST = 1.16  # right end of the axis; what lies beyond is written
ROW_INCHES = 0.155


def draw(figure, slowdown):
    """Draw one row per variant, a group for each transport; return the means."""
    rows = figures.over_seeds(slowdown, ["variant", "label"], OVER)
    rows["transport"] = rows["variant"].where(rows["label"] == "base").ffill()
    (ax,) = figures.panels(figure, [0.6 + ROW_INCHES * len(rows)])
    for transport, own in rows.groupby("transport", sort=False):
        look = figures.style(transport)
        mean, low, high = (own[f"{OVER}_{end}"] for end in ("mean", "low", "high"))
        ax.errorbar(
            mean, own.index, xerr=[mean - low, high - mean], fmt=look.marker, color=look.color,
            markersize=3.8, elinewidth=0.9, capsize=1.8, label=look.label,
        )  # fmt: skip
        ends = own.index[0] - 0.4, own.index[-1] + 0.4
        ax.vlines(mean.iloc[0], *ends, color=look.color, linestyle=":", linewidth=0.8, zorder=0)
        for row in own[mean > MOST].itertuples():
            text = f"{getattr(row, f'{OVER}_mean'):.2f} →"
            ax.annotate(text, (1, row.Index), xycoords=("axes fraction", "data"), ha="right",
                        va="center", color=look.color, fontsize=6.5)  # fmt: skip
        if own.index[0]:
            ax.axhline(own.index[0] - 0.5, color="#dddddd", linewidth=0.5, zorder=0)
    named = rows["label"].where(rows["variant"] != rows["transport"], rows["transport"].map(label))
    ax.set_yticks(rows.index, named)
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="slowest over optimal [1]", ylim=(len(rows) - 0.4, -0.6))
    ax.set_xlim(min(0.99, 0.99 * rows[f"{OVER}_mean"].min()), MOST)
    ax.grid(axis="x")
    ax.spines["left"].set_visible(False)
    figures.legend(figure, [ax], 6)
    return rows


def label(transport):
    """Return the name of a transport, which is that of its base."""
    return figures.style(transport).label


if __name__ == "__main__":
    figures.main(draw, NEEDS)
