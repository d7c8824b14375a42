# SPDX-License-Identifier: GPL-2.0-only
"""All-reduces of 16 rings of 16 GPUs each, by the queue pairs of a connection.

Left: the time of each ring over that of an ideal network; a line joins the slowest. Right: bytes on
the fullest link from a leaf to a spine over the mean of these links, in the whole run. A queue pair
keeps to the path that a hash gave it. RoCEv2 with PFC; sprayed: each packet takes its own path.
"""

from pyorch import figures

WORDS = {"turns": "in turns", "split": "split"}


def draw(figure, runs):
    """Draw times and loads over the number of queue pairs, and spraying beside them."""
    import pandas as pd

    table = pd.DataFrame([row for name, (run,) in runs.items() for row in rings(name, run)])
    axes = figures.panels(figure, [2.3, 2.3])
    looks = {"turns": figures.style("rocev2"), "split": figures.style("rocev2_irn"),
             "sprayed": figures.style("sprayed")}  # fmt: skip
    for ax, column in zip(axes, ("over_ideal", "fullest_over_mean"), strict=True):
        for way, words in WORDS.items():
            own = table[(table["way"] == way) | (table["pairs"] == 1)]
            look, most = looks[way], own.groupby("pairs")[column].max()
            at = [places(pairs) for pairs in own["pairs"]]
            ax.plot(at, own[column], look.marker, ms=2, color=look.color)
            ax.plot([places(p) for p in most.index], most, color=look.color, label=words)
        own, look = table[table["way"] == "sprayed"], looks["sprayed"]
        ax.plot([3] * len(own), own[column], look.marker, ms=2, color=look.color)
        ax.set_xticks(range(4), ["1", "4", "16", "sprayed"])
        ax.set(xlabel="queue pairs of a connection", ylim=(0, None))
        ax.grid(True, axis="y")
    axes[0].set_ylabel("all-reduce / ideal [1]")
    axes[1].set_ylabel("fullest link up / mean [1]")
    figures.legend(figure, axes, 2)
    return table


def places(pairs):
    """Return where a number of queue pairs stands on the axis."""
    return {1: 0, 4: 1, 16: 2}[pairs]


def rings(name, run):
    """Return a row for each ring of a run."""
    way, _, pairs = name.partition("_")
    tier = run.nodes["tier"]
    ports = run.ports[["node", "peer", "sent_bytes"]]
    up = ports[(tier[ports["node"]].to_numpy() == 1) & (tier[ports["peer"]].to_numpy() == 2)]
    sent = up["sent_bytes"].astype(float)
    done = run.metric("collective")
    return [
        {"way": way, "pairs": int(pairs or 0), "ring": ring, "took_us": took_ps / 1e6,
         "over_ideal": over, "fullest_over_mean": sent.max() / sent.mean()}
        for ring, took_ps, over in zip(
            done["group"], done["completion_ps"], done["over_ideal"], strict=True
        )
    ]  # fmt: skip
