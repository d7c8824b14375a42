# SPDX-License-Identifier: GPL-2.0-only
"""The slowest of 32 messages of 12 MB over eight planes, with what fails on the way.

Over the time of the payload at 800 Gb/s, the rate of a host. The last row is the victim of an
incast of seven hosts: a message of another host to the same rack.
"""

from pyorch import figures

KINDS = {
    "mrc": "MRC-like, static routes",
    "nscc": "UEC NSCC, REPS",
    "sprayed": "sprayed, fixed window",
    "rocev2": "RoCEv2, one path in one plane",
}
#: Of a host: eight ports [bit/s].
RATE_BPS = 800e9


def draw(ax, runs):
    """Draw four bars for each case."""
    import pandas as pd

    table = pd.DataFrame(measured(*named) for named in runs.items())
    labels = table.drop_duplicates("case").set_index("case")["label"]
    rows = {name: row for row, name in enumerate(labels.index)}
    ax.figure.set_figheight(0.9 + 0.5 * len(rows))
    for place, (kind, words) in enumerate(KINDS.items()):
        own = table[table["kind"] == kind]
        at = own["case"].map(rows) + 0.2 * (place - 1.5)
        ax.barh(at, own["over_least"], height=0.19, color=figures.style(kind).color, label=words)
        for row, over in zip(at, own["over_least"], strict=True):
            ax.text(over * 1.03, row, f"{over:.2f}", va="center_baseline", fontsize=6)
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.set(xlabel="time over that of the payload at 800 Gb/s [1]", xscale="log", xlim=(0.9, None))
    ax.xaxis.set_major_formatter("{x:.3g}")
    ax.xaxis.set_minor_formatter("{x:.2g}")
    ax.tick_params(axis="y", length=0)
    figures.legend(ax.figure, [ax], 2)
    return table


def measured(variant, found):
    """Return which case a run is, and how long its slowest message took, or its victim."""
    (run,), (kind, case) = found, variant.split("_")
    flows = run.metric("flow_times").set_index("flow")
    fct_ps = flows["fct_ps"][0] if case == "incast" else flows["fct_ps"].max()
    over_least = fct_ps / (flows["bytes"][0] * 8e12 / RATE_BPS)
    return {"kind": kind, "case": case, "label": run.label, "over_least": over_least}
