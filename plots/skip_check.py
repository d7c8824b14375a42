# SPDX-License-Identifier: GPL-2.0-only
"""What skipping steady states saves, and what it costs: of each transport and workload, packets
that were skipped, and by how much completion times differ from those of the run of all packets.

Circles: 99 in 100 messages differ by no more; crosses: the slowest message. Dotted: what is
promised of either. What differs by 0.001 % or less is drawn there, also what skips whole periods
and differs in nothing; a run that skips nothing is not drawn. Messages of a ring over single paths
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
LEAST_PERCENT = 1e-3
TICKS = (0.01, 0.1, 1, 10, 100, 1000)


def draw(figure, messages):
    """Draw errors over skipped shares, a panel for each case; return what is drawn."""
    from matplotlib.lines import Line2D

    drawn = beside_full(messages)
    pairs = drawn[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    cases = drawn["case_label"].unique()
    columns = 2 if figures.is_column(figure) else min(len(cases), 3)
    rows = -(-len(cases) // columns)
    figure.set_figheight(1.6 * rows + 0.4)
    axes = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for ax in axes[len(cases) :]:
        ax.remove()
    axes = axes[: len(cases)]
    for ax, case in zip(axes, cases, strict=True):
        for variant, look in looks.items():
            own = drawn[(drawn["case_label"] == case) & (drawn["variant"] == variant)]
            own = own[own["skipped_share"] > 0]
            share = 100 * own["skipped_share"]
            for column, mark, label in (("error_p99", "o", look.label),
                                        ("error_slowest", "x", None)):  # fmt: skip
                percent = (100 * own[column].abs()).clip(lower=LEAST_PERCENT)
                ax.plot(share, percent, mark, color=look.color, markersize=4, label=label)
        for promised in (TOLERANCE, TOLERANCE / 2):
            ax.axhline(100 * promised, color="black", linestyle=":", linewidth=0.8, zorder=0)
        ax.set_title(case, loc="left", fontsize=7)
        ax.set(xlim=(0, 100), yscale="log", xlabel="packets skipped [%]")
        ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        ax.minorticks_off()
    figure.supylabel("difference of completion time [%]", fontsize=7)
    marks = {"99 in 100 messages": "o", "slowest message": "x"}
    figures.legend(figure, axes, 4, {
        name: Line2D([], [], color="black", linestyle="", marker=mark, markersize=4)
        for name, mark in marks.items()
    })  # fmt: skip
    return drawn


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
