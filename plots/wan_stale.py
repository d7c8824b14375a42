# SPDX-License-Identifier: GPL-2.0-only
"""A demand that triples while its controller is away: what waits at its sources, and until when.

Its limit stays at what the controller last took it for, 200 Mb/s and 10 % of that, until the first
epoch with the controller back is over. Lines: 600 Mb/s less that limit, for this long.
"""

import numpy as np

from pyorch import figures

NEEDS = {"demands": "wan_stale/wan_control.csv"}

RISE_S, BEFORE_BPS, AFTER_BPS, MARGIN = 0.4, 200e6, 600e6, 0.1
AWAY_S = {"a0": 0.0, "a500": 0.5, "a1000": 1.0, "a1500": 1.5, "a2000": 2.0}
EPOCH_S = {"often": 0.1, "seldom": 0.2}


def draw(figure, demands):
    """Draw what waits and how long; return what is drawn with what was expected."""
    data = demands[demands["demand"] == "rising"].copy()
    data["away_s"] = data["case"].map(AWAY_S)
    epoch_s = data["variant"].map(EPOCH_S)
    # The first look after the rise at which the controller is there; told one epoch later.
    looks_s = (
        np.maximum(
            np.ceil((RISE_S + data["away_s"]) / epoch_s - 1e-9),
            np.floor(RISE_S / epoch_s + 1e-9) + 1,
        )
        * epoch_s
    )
    stale_bps = AFTER_BPS - BEFORE_BPS * (1 + MARGIN)
    data["expected_waiting_bytes"] = stale_bps / 8 * (looks_s + epoch_s - RISE_S)
    data["over_s"] = data["over_ps"].astype(float) / 1e12 - RISE_S
    data = data.sort_values(["variant", "away_s"])[
        ["variant", "label", "away_s", "most_waiting_bytes", "expected_waiting_bytes", "over_s",
         "missed_looks", "dropped_buffer_frames"]
    ]  # fmt: skip
    looks = figures.styles(
        list(data[["variant", "label"]].drop_duplicates().itertuples(index=False, name=None))
    )
    left, right = figures.panels(figure, [2.3, 2.3])
    for variant, look in looks.items():
        own = data[data["variant"] == variant]
        marks = {"ls": "", "marker": look.marker, "color": look.color, "markersize": 4,
                 "markerfacecolor": "none"}  # fmt: skip
        left.plot(own["away_s"], own["expected_waiting_bytes"] / 1e6, color=look.color, lw=0.8,
                  ls=":")  # fmt: skip
        left.plot(own["away_s"], own["most_waiting_bytes"] / 1e6, label=look.label, **marks)
        right.plot(own["away_s"], own["over_s"], **marks)
    left.plot([], [], color="black", lw=0.8, ls=":", label="expected")
    left.set_ylabel("largest backlog [MB]")
    right.set_ylabel("backlog drained after [s]")
    for ax in (left, right):
        ax.set(xlabel="controller outage [s]", ylim=(0, 1.05 * ax.dataLim.y1))
        ax.grid(True)
    figures.legend(figure, [left], 3)
    return data


if __name__ == "__main__":
    figures.main(draw, NEEDS)
