# SPDX-License-Identifier: GPL-2.0-only
"""Time of three exchanges in a scale-up network, over that of the bytes at 14.4 Tb/s.

19 devices. All-to-all: 512 kB from each to each; incast: 1 MB from each of 18 to one; pairs: 9 MB
from each to the next. On planes a message of one path draws one of 18 ports: three draws. Best
effort: losses, which selective repeat sends again after 20 to 50 us.
"""

from pyorch import figures

RATE_BPS = 14.4e12
TRAFFIC = {"exchange": "all-to-all", "incast": "incast, 18 to 1", "pairs": "pairs"}
KINDS = {
    "pfc": ("rocev2", "one path, PFC"),
    "credits": ("infiniband", "one path, credits"),
    "lossy": ("rocev2_irn", "one path, best effort"),
    "sprayed": ("sprayed", "all ports, PFC"),
    "nscc": ("nscc", "all ports, UEC NSCC"),
}


def draw(figure, runs):
    """Draw a panel for what is sent, a row per topology and a symbol per transport."""
    import pandas as pd

    table = pd.DataFrame(measured(*named) for named in runs.items())
    topologies = list(table["topology"].unique())
    axes = figures.panels(figure, [1.9] * len(TRAFFIC))
    for ax, (traffic, words) in zip(axes, TRAFFIC.items(), strict=True):
        for place, (kind, (style, label)) in enumerate(KINDS.items()):
            own = table[(table["traffic"] == traffic) & (table["kind"] == kind)]
            look = figures.style(style)
            at = [topologies.index(name) + 0.16 * (place - 2) for name in own["topology"]]
            ax.plot(own["over_bytes"], at, look.marker, ms=4.5, color=look.color, label=label)
        first = ax is axes[0] or figures.is_column(figure)
        ax.set_yticks(range(len(topologies)), topologies if first else [""] * len(topologies))
        ax.set_ylim(len(topologies) - 0.5, -0.5)
        ax.set_xscale("log")
        ax.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.minorticks_off()
        ax.set_title(words, loc="left")
        ax.set(xlabel="time / bytes over rate [1]", xlim=(0.85, 40))
        ax.grid(True)
    figures.legend(figure, axes, 5)
    return table


def measured(variant, found):
    """Return how long one run takes, over the bytes of its busiest device at 14.4 Tb/s."""
    (run,), (_, kind, traffic, *_) = found, variant.split("_")
    flows = run.flows
    most = max(flows.groupby(end)["bytes"].sum().max() for end in ("src", "dst"))
    took_us = flows["receiver_end_ps"].max() / 1e6
    return {
        "topology": run.label, "kind": kind, "traffic": traffic, "seed": run.spec.seed,
        "took_us": took_us, "over_bytes": took_us / (most * 8e6 / RATE_BPS),
        "retransmitted_packets": flows["retransmitted_packets"].sum(),
        "timeouts": flows["timeouts"].sum(),
    }  # fmt: skip
