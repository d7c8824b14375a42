# SPDX-License-Identifier: GPL-2.0-only
"""One device in one step: compute, and the communication under and beside it, dense and MoE.

[hotnets24] figure 2, with the lengths that the model gives. Shaded: exposed, nothing is computed.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import parallelism, preset, timeline, wan

NEEDS = {}

PRESETS = ("dense-100t", "moe-100t")
MS = 1e9
#: Colour by what an activity uses.
COLORS = {"GPU": "#999999", "scale-up": "#0072B2", "scale-out": "#E69F00", "WAN": "#009E73"}
WAITING = "#F4D9D0"


def step_of(setup):
    """Return the timeline of a set-up with the default wide-area model."""
    times = parallelism.stage_times(setup)
    network = setup.network
    crossing_ps = wan.wan_ps(
        times.wan_pair_bytes, network.wan_bps, network.wan_rtt_ps,
        wan.WAN_MODELS[wan.DEFAULT_WAN_MODEL],
    )  # fmt: skip
    return timeline.timeline(times, float(crossing_ps))


def draw_step(ax, step):
    """Draw the lanes of one device."""
    lanes = list(timeline.LANES)
    for start, end in step.exposed:
        ax.axvspan(start / MS, end / MS, color=WAITING, lw=0, zorder=0)
    for span in step.spans:
        color = COLORS[timeline.LANES[span.lane]]
        length = (span.end_ps - span.start_ps) / MS
        row = lanes.index(span.lane)
        ax.barh(row, length, left=span.start_ps / MS, height=0.72, color=color, zorder=2)
        text = f"{span.phase} {length:.0f} ms" if span.lane == "compute" else f"{length:.3g}"
        inside = length > 0.3 * step.end_ps / MS or span.lane == "compute"
        at = (span.start_ps + span.end_ps) / 2 / MS if inside else span.end_ps / MS
        ax.annotate(
            text, (at, row), xytext=(0 if inside else 2, 0), textcoords="offset points",
            va="center_baseline", ha="center" if inside else "left", fontsize=6,
            color="white" if inside and color == COLORS["scale-up"] else "black", zorder=3,
        )  # fmt: skip
    ax.set(
        yticks=range(len(lanes)), xlim=(0, step.end_ps / MS * 1.08), xlabel="time in the step [ms]"
    )
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def draw(figure):
    """Draw one panel per model."""
    from matplotlib.patches import Patch

    figure.set_size_inches(figures.TWO_COLUMNS_INCHES, 2.5)
    axes = figure.subplots(1, len(PRESETS), sharey=True)
    rows = []
    for ax, name in zip(axes, PRESETS, strict=True):
        training = preset.training(name)
        step = step_of(training.setup)
        draw_step(ax, step)
        waiting = sum(end - start for start, end in step.exposed)
        ax.set_title(f"{training.title}: {100 * waiting / step.end_ps:.1f} % exposed", loc="left")
        rows += [
            {
                "preset": name, "lane": span.lane, "network": timeline.LANES[span.lane],
                "phase": span.phase, "start_ms": span.start_ps / MS, "end_ms": span.end_ps / MS,
            }
            for span in step.spans
        ]  # fmt: skip
    axes[0].set_yticklabels(timeline.LANES)
    axes[0].invert_yaxis()  # shared, so once
    handles = [Patch(color=color, label=name) for name, color in COLORS.items()]
    handles.append(Patch(color=WAITING, label="exposed"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return pd.DataFrame(rows)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
