# SPDX-License-Identifier: GPL-2.0-only
"""One device in one simulated step, beside the step as modelled, dense and MoE.

[hotnets24] figure 2. Bars: device 0 of 32 in two datacenters, packets, everything that is computed
or sent 400 times smaller and times multiplied by that; a lane is busy while a message is on its way
to or from the device. RoCEv2 in the rack, sprayed packets on the rails, a fixed window between the
datacenters. Black lines: the model, in which every communication takes its bytes over its
rate; 20 Gb/s per device and 30 ms between the sites. Shaded: exposed, nothing is computed. Stages 1
and 2 are all-reduces in the model and scatter here, in 16 chunks that follow each other; a pass has
two all-reduces of TP, which the model puts together.
"""

import pandas as pd

from pyorch import figures
from pyorch.theory import parallelism, preset, timeline, wan
from pyorch.units import parse_rate_bps

NEEDS = {"spans": "figure_3c_step/step_timeline.csv"}

CASES = {"dense": "dense-100t", "moe": "moe-100t"}
VARIANT, RATE = "packets", "topology.long_haul.0.rate"
DEVICES_PER_SITE, WAN_BPS = 16, 20e9
#: Lane of a run, lane of the model, colour by network.
LANES = {
    "compute": ("compute", "#BBBBBB"),
    "TP": ("TP", "#0072B2"),
    "PP": ("PP", "#E69F00"),
    "DP 1 reduce-scatter": ("DP 1 all-reduce", "#0072B2"),
    "DP 2 reduce-scatter": ("DP 2 all-reduce", "#E69F00"),
    "DP 3 exchange": ("DP 3 exchange", "#009E73"),
    "DP 4 all-gather": ("DP 4 all-gather", "#E69F00"),
    "DP 5 all-gather": ("DP 5 all-gather", "#0072B2"),
}
WAITING, EXPOSED = "#F4D9D0", "exposed"
MS = 1e9


def measured(spans):
    """Return the spans of the steps at 20 Gb/s, at full size, with the lanes of the model.

    A device computes as long as in the model, over what the step is divided by.
    """
    rate = spans[RATE].map(parse_rate_bps) / DEVICES_PER_SITE
    own = spans[(spans["variant"] == VARIANT) & (rate == WAN_BPS)]
    parts = []
    for case, rows in own.groupby("case"):
        times = parallelism.stage_times(preset.training(CASES[case]).setup)
        computes = rows[rows["lane"] == "compute"]
        computed_ps = (computes["end_ps"] - computes["start_ps"]).sum()
        divide = round((times.forward_ps + times.backward_ps) / computed_ps)
        ends = {f"{end}_ms": rows[f"{end}_ps"] * divide / MS for end in ("start", "end")}
        parts.append(rows[["case", "lane"]].assign(what="measured", **ends))
    return pd.concat(parts)


def modelled():
    """Return the spans of the model."""
    rows = []
    for case, name in CASES.items():
        setup = preset.training(name).setup
        times = parallelism.stage_times(setup)
        crossing_ps = wan.wan_ps(
            times.wan_pair_bytes, WAN_BPS, setup.network.wan_rtt_ps, wan.WAN_MODELS["once-one-way"]
        )
        step = timeline.timeline(times, crossing_ps)
        spans = [(span.lane, span.start_ps, span.end_ps) for span in step.spans]
        spans += [(EXPOSED, *span) for span in step.exposed]
        rows += [(case, lane, "modelled", start / MS, end / MS) for lane, start, end in spans]
    return pd.DataFrame(rows, columns=["case", "lane", "what", "start_ms", "end_ms"])


def draw(figure, spans):
    """Draw one panel per model; return measured and modelled spans."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    data = pd.concat([measured(spans), modelled()], ignore_index=True)
    axes = figures.panels(figure, [2.4] * len(CASES))
    for ax, (case, name) in zip(axes, CASES.items(), strict=True):
        own = data[data["case"] == case]
        draw_step(ax, own)
        ax.set_yticks(range(len(LANES)))
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticklabels([short(lane) for lane in LANES] if first else [])
        ax.invert_yaxis()
        ax.set_title(f"{preset.training(name).title}: {title(own)}", loc="left", fontsize=7)
    figures.legend(figure, [], 5, {
        "scale-up": Patch(color="#0072B2"), "scale-out": Patch(color="#E69F00"),
        "wide area": Patch(color="#009E73"),
        "modelled": Line2D([], [], color="black", lw=1.2),
        "exposed: nothing is computed": Patch(color=WAITING),
    })  # fmt: skip
    return data


def short(lane):
    """Return a lane's name as it fits beside its bar."""
    return lane.replace("reduce-scatter", "scatter").replace("all-gather", "gather")


def title(own):
    """Return the exposed share, measured and modelled."""
    shares = []
    for what in ("measured", "modelled"):
        rows = own[own["what"] == what]
        waits = rows[rows["lane"] == EXPOSED]
        length = (waits["end_ms"] - waits["start_ms"]).sum()
        shares.append(100 * length / rows["end_ms"].max())
    return "{:.1f} % exposed (model {:.1f} %)".format(*shares)


def draw_step(ax, own):
    """Draw what was measured as bars and what is modelled as a line below each."""
    bars, lines = own[own["what"] == "measured"], own[own["what"] == "modelled"]
    for wait in bars[bars["lane"] == EXPOSED].itertuples():
        ax.axvspan(wait.start_ms, wait.end_ms, color=WAITING, lw=0, zorder=0)
    for row, (lane, (model, color)) in enumerate(LANES.items()):
        rows = bars[bars["lane"] == lane]
        lengths = rows["end_ms"] - rows["start_ms"]
        ax.broken_barh(list(zip(rows["start_ms"], lengths, strict=True)), (row - 0.38, 0.56),
                       facecolors=color, zorder=2)  # fmt: skip
        for span in lines[lines["lane"] == model].itertuples():
            ax.plot([span.start_ms, span.end_ms], [row + 0.32] * 2, color="black", lw=1.2)
    ax.set(xlim=(0, own["end_ms"].max()), xlabel="time in the step [ms]")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


if __name__ == "__main__":
    figures.main(draw, NEEDS)
