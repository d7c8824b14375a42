# SPDX-License-Identifier: GPL-2.0-only
"""What skipping steady states saves, and what it costs: of each transport and workload, packets
that were skipped, and by how much completion times differ from those of the run of all packets.

Circles: 99 in 100 messages differ by no more; crosses: the slowest message. Dashed and dotted: what
is promised of either. Grey band: no message differs by a picosecond, as where whole periods are
skipped; a run that skips nothing is not drawn. Messages of a ring over single paths
wait for others, so a small difference changes which of them meet on a link; after a cut it changes
which packets are lost.
"""

import numpy as np
import pandas as pd

from pyorch import figures

#: Read by the Snakefile with ast.literal_eval, so importing this file draws nothing.
NEEDS = {"messages": "skip_check/skipped.csv"}
KEYS = ["case", "case_label", "variant", "label", "seed"]
TOLERANCE = 0.01
#: Where what differs in nothing is drawn, and the upper end of its band [%].
EXACT_PERCENT, BAND_PERCENT = 4e-5, 1.3e-4
TICKS = (0.001, 0.01, 0.1, 1, 10, 100)
TOP_PERCENT = 3000
#: The largest difference of a case is written beside its symbol if it is above this [%].
NAMED_PERCENT = 2
#: Lines of what is promised: of 99 in 100 messages, of the slowest.
PROMISED = ("--", ":")


def draw(figure, messages):
    """Draw errors over skipped shares, a panel for each case; return what is drawn."""
    from matplotlib.lines import Line2D

    drawn = beside_full(messages)
    pairs = drawn[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    cases = drawn["case_label"].unique()
    columns = 2 if figures.is_column(figure) else min(len(cases), 3)
    rows = -(-len(cases) // columns)
    figure.set_figheight(1.8 * rows + 0.5)
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for ax in axes[len(cases) :]:
        ax.remove()
    axes = axes[: len(cases)]
    for ax, case in zip(axes, cases, strict=True):
        draw_case(ax, drawn[drawn["case_label"] == case], looks)
        ax.set_title(case, loc="left", fontsize=7)
        ax.set_xlabel("packets skipped [%]")
    figure.supylabel("difference of completion time [%]", fontsize=7)
    black = {"color": "black", "markersize": 4, "linewidth": 0.8}
    figures.legend(figure, axes, 4, {
        "99 in 100 messages": Line2D([], [], ls="", marker="o", **black),
        "slowest message": Line2D([], [], ls="", marker="x", **black),
        "promised of 99 in 100": Line2D([], [], ls=PROMISED[0], **black),
        "promised of the slowest": Line2D([], [], ls=PROMISED[1], **black),
    })  # fmt: skip
    return drawn


def draw_case(ax, drawn, looks):
    """Draw the runs of one case that have skipped anything."""
    ax.axhspan(EXACT_PERCENT / 3, BAND_PERCENT, color="#e8e8e8", lw=0, zorder=0)
    for promised, line in zip((TOLERANCE, TOLERANCE / 2), PROMISED, strict=True):
        ax.axhline(100 * promised, color="black", linestyle=line, linewidth=0.8, zorder=0)
    for variant, look in looks.items():
        own = drawn[(drawn["variant"] == variant) & (drawn["skipped_share"] > 0)]
        share = 100 * own["skipped_share"]
        for column, mark, label in (("error_p99", "o", look.label), ("error_slowest", "x", None)):
            percent = 100 * own[column].abs()
            at = percent.where(percent > 0, EXACT_PERCENT)
            ax.plot(share, at, mark, color=look.color, markersize=4, label=label)
    worst = drawn.loc[drawn["error_p99"].idxmax()]
    if (percent := 100 * worst["error_p99"]) > NAMED_PERCENT:
        ax.annotate(
            f"{percent:.0f} %", (100 * worst["skipped_share"], percent), xytext=(5, 0),
            textcoords="offset points", va="center", fontsize=6,
            color=looks[worst["variant"]].color,
        )  # fmt: skip
    ax.set(xlim=(0, 100), yscale="log", ylim=(EXACT_PERCENT / 3, TOP_PERCENT))
    ax.set_yticks((EXACT_PERCENT, *TICKS), ["exact", *(f"{tick:g}" for tick in TICKS)])
    ax.minorticks_off()


def beside_full(messages):
    """Return skipped share and errors of each run with skips beside the same run without."""
    is_full = messages["engine"] == "packets"
    full = messages[is_full].set_index([*KEYS, "flow"]).sort_index()
    rows = []
    for key, own in messages[~is_full].groupby(KEYS, sort=False):
        same = full.loc[key].loc[own["flow"], "fct_ps"].to_numpy()
        error = own["fct_ps"].to_numpy() / same - 1
        rows.append(
            dict(zip(KEYS, key, strict=True))
            | {
                "messages": len(own),
                "skipped_share": own["skipped_packets"].sum() / own["sent_data_packets"].sum(),
                "error_p50": np.quantile(np.abs(error), 0.5),
                "error_p99": np.quantile(np.abs(error), 0.99),
                "error_slowest": own["fct_ps"].max() / same.max() - 1,
            }
        )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
