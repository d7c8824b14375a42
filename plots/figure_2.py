# SPDX-License-Identifier: GPL-2.0-only
"""One device in one step: compute, and the communication under and beside it, dense and MoE.

[hotnets24] figure 2, with the lengths that the model gives. Shaded: exposed, nothing is computed.
Bars of one colour share a network: TP, DP 1 and DP 5 the scale-up links, PP, DP 2 and DP 4 the NIC.
Each is drawn at the full rate of its network, and the stages of DP side by side from the start of
the backward pass, because the model counts only the longest of them; so their lengths do not add up
to the exposed time. The paper prints 66.1 ms for DP 4 of MoE, where its own formula gives 56.1 ms.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import parallelism, preset, timeline, wan

NEEDS = {}

PRESETS = ("dense-100t", "moe-100t")
MS = 1e9
#: Colour by what an activity uses.
COLORS = {"GPU": "#BBBBBB", "scale-up": "#0072B2", "scale-out": "#E69F00", "WAN": "#009E73"}
USERS = {
    "scale-up": "scale-up network: TP, DP 1, DP 5",
    "scale-out": "scale-out network (NIC): PP, DP 2, DP 4", "WAN": "wide area: DP 3",
}  # fmt: skip
#: What the paper prints where it is not what its formula gives [ms].
PRINTED = {("moe-100t", "DP 4 all-gather"): 66.1}
WAITING = "#F4D9D0"
#: Room for the label right of the last bar [ms].
LABEL_MS = 45


def step_of(setup):
    """Return the timeline of a set-up with the default wide-area model."""
    times = parallelism.stage_times(setup)
    network = setup.network
    crossing_ps = wan.wan_ps(
        times.wan_pair_bytes, network.wan_bps, network.wan_rtt_ps,
        wan.WAN_MODELS[wan.DEFAULT_WAN_MODEL],
    )  # fmt: skip
    return timeline.timeline(times, float(crossing_ps))


def draw_step(ax, name, step, reach_ms):
    """Draw the lanes of one device; the axis is `reach_ms` long."""
    lanes = list(timeline.LANES)
    for start, end in step.exposed:
        ax.axvspan(start / MS, end / MS, color=WAITING, lw=0, zorder=0)
    for span in step.spans:
        color = COLORS[timeline.LANES[span.lane]]
        length = (span.end_ps - span.start_ps) / MS
        row, computes = lanes.index(span.lane), span.lane == "compute"
        ax.barh(row, length, left=span.start_ps / MS, height=0.78, color=color, zorder=2)
        text = f"{length:.0f} ms" if computes else f"{length:.3g} ms"
        if computes and length > 0.15 * reach_ms:
            text = f"{span.phase}\n{text}"
        if printed := PRINTED.get((name, span.lane)):
            text += f" (paper: {printed})"
        at = (span.start_ps + span.end_ps) / 2 / MS if computes else span.end_ps / MS
        ax.annotate(
            text, (at, row), xytext=(0 if computes else 2, 0), textcoords="offset points",
            va="center" if computes else "center_baseline", ha="center" if computes else "left",
            fontsize=6, zorder=3, linespacing=1,
        )  # fmt: skip
    ax.set(yticks=range(len(lanes)), xlim=(0, reach_ms), xlabel="time in the step [ms]")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def draw(figure):
    """Draw one panel per model, with the same length for a millisecond."""
    from matplotlib.patches import Patch

    trainings = {name: preset.training(name) for name in PRESETS}
    steps = {name: step_of(training.setup) for name, training in trainings.items()}
    reach = [steps[name].end_ps / MS + LABEL_MS for name in PRESETS]
    if figures.is_column(figure):
        reach = [max(reach)] * len(reach)
    axes = figures.panels(figure, [2.75] * len(PRESETS), ratios=reach)
    rows = []
    for ax, name, reach_ms in zip(axes, PRESETS, reach, strict=True):
        step = steps[name]
        draw_step(ax, name, step, reach_ms)
        ax.set_yticklabels(timeline.LANES if ax is axes[0] or figures.is_column(figure) else [])
        ax.invert_yaxis()
        waiting = sum(end - start for start, end in step.exposed)
        share = f"{trainings[name].title}: {100 * waiting / step.end_ps:.1f} % exposed"
        ax.set_title(share, loc="left")
        rows += [
            {
                "preset": name, "lane": span.lane, "network": timeline.LANES[span.lane],
                "phase": span.phase, "start_ms": span.start_ps / MS, "end_ms": span.end_ps / MS,
            }
            for span in step.spans
        ]  # fmt: skip
    patches = {USERS[name]: Patch(color=color) for name, color in COLORS.items() if name != "GPU"}
    figures.legend(figure, [], 2, patches | {"exposed: nothing is computed": Patch(color=WAITING)})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
