# SPDX-License-Identifier: GPL-2.0-only
"""A cut long haul between three sites: what it costs, by the delay of the controller.

6 Gb/s from east to west go by the middle once the controller has moved them. Lines: delay of the
news, one step, and the 32 ms of the first packet on the new path; and what is lost: what was on the
old path, 30 ms of data and 30 ms of ACKs, and all that is sent into the cut link. Recovery is
counted in samples of 10 ms, up to the end of the first with 90 % of the rate before.
"""

import numpy as np

from pyorch import figures
from pyorch.units import parse_time_ps

NEEDS = {"cuts": "wan_cut/recovery.csv"}

DELAY = "workload.control.delay"
STEP_S, OLD_PATH_S, NEW_PATH_S = 0.04, 0.03, 0.032
#: 6 Gb/s in packets of 4096 B, 4178 B with headers and framing.
FRAMES_PER_S = 6e9 / 8 / 4178


def draw(figure, cuts):
    """Draw time and losses; return what is drawn with what was expected."""
    delay_s = np.array([parse_time_ps(text) for text in cuts[DELAY]]) / 1e12
    data = cuts[["seed", "lost_frames", "before_bps", "dip_share"]].assign(
        delay_ms=1e3 * delay_s,
        recovery_ms=cuts["recovery_ps"] / 1e9,
        expected_recovery_ms=1e3 * (delay_s + STEP_S + NEW_PATH_S),
        expected_lost_frames=FRAMES_PER_S * (2 * OLD_PATH_S + delay_s + STEP_S),
    )
    data = data.sort_values("delay_ms")
    look = figures.style("wan", "measured")
    panels = {"recovery_ms": ("recovery [ms]", 1), "lost_frames": ("lost frames [1000]", 1e-3)}
    axes = figures.panels(figure, [2.3, 2.3])
    for ax, (column, (label, factor)) in zip(axes, panels.items(), strict=True):
        ax.plot(
            data["delay_ms"], factor * data[f"expected_{column}"], color="black", lw=0.8, ls=":",
            label="expected",
        )  # fmt: skip
        ax.plot(
            data["delay_ms"], factor * data[column], ls="", marker=look.marker, color=look.color,
            markersize=4, markerfacecolor="none", label=look.label,
        )  # fmt: skip
        ax.set(xlabel="delay of the controller [ms]", ylabel=label, ylim=(0, 1.05 * ax.dataLim.y1))
        ax.grid(True)
    figures.legend(figure, [axes[0]], 2)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
