# SPDX-License-Identifier: GPL-2.0-only
"""Part of a step of DeepSeek-V3 in which a GPU computes nothing, by the micro-batches of the step.

128 GPUs: two of 16 pipeline stages with DualPipe, experts over 64 GPUs of eight servers, one layer
of a stage. Left: logarithmic axis of micro-batches. Right: the same of one more micro-batch, from
the steps with 8 and 16 of them: the time that it adds beyond its computation, over the time that it
adds. One draw of the paths.
"""

import pandas as pd

from pyorch import figures

MORE, FEWER = 16, 8  # micro-batches of the two steps


def draw(figure, runs):
    """Draw a line for each transport, and beside them what a further micro-batch exposes."""
    table = pd.DataFrame(row for found in runs.items() for row in steps(*found))
    lines, bars = figures.panels(figure, [2.6, 2.6])
    pairs = table[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None)
    looks = figures.styles(list(pairs))
    ends = table.set_index(["variant", "micro_batches"])[["step_us", "compute_us"]]
    for at, (variant, look) in enumerate(looks.items()):
        own = table[table["variant"] == variant]
        lines.plot(
            own["micro_batches"], own["exposed_percent"], linestyle=look.dashes, label=look.label,
            marker=look.marker, color=look.color, linewidth=1, markersize=4,
        )  # fmt: skip
        added = ends.loc[(variant, MORE)] - ends.loc[(variant, FEWER)]
        further = round(100 * (1 - added["compute_us"] / added["step_us"]), 6)
        table.loc[table["variant"] == variant, "further_percent"] = further
        bars.barh(at, further, color=look.color, height=0.6)
        bars.annotate(f"{further:.1f}", (further, at), xytext=(3, 0), textcoords="offset points",
                      va="center_baseline", fontsize=6)  # fmt: skip
    lines.set(xlabel="micro-batches of the step, logarithmic", xscale="log", ylim=(0, None),
              ylabel="exposed share of the step [%]")  # fmt: skip
    counts = sorted(table["micro_batches"].unique())
    lines.set_xticks(counts, [str(count) for count in counts])
    lines.minorticks_off()
    lines.grid(axis="y")
    bars.set_yticks(range(len(looks)), [look.label for look in looks.values()], fontsize=6.5)
    bars.tick_params(axis="y", length=0)
    bars.invert_yaxis()
    bars.set(xlabel="one more micro-batch: exposed share\nof the time that it adds [%]")
    bars.margins(x=0.15)
    figures.legend(figure, [lines], 3)
    return table


def steps(variant, found):
    """Yield the step of each run."""
    for run in found:
        step = run.metric("training_step").iloc[0]
        yield {
            "variant": variant, "label": run.label,
            "micro_batches": run.spec.workload[0].params.micro_batches,
            "step_us": step["step_ps"] / 1e6, "compute_us": step["compute_ps"] / 1e6,
            "exposed_percent": 100 * step["exposed_share"],
            "expert_percent": 100 * step["expert_share"],
        }  # fmt: skip
