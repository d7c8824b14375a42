# SPDX-License-Identifier: GPL-2.0-only
"""Share of a link of 100 Gb/s that a transfer of 10 MB gets, by the probability of a lost frame.

Mean of two seeds, each a small symbol. Go-back-N pays every loss with a whole window, selective
repeat with the packet.
"""

from pyorch import figures


def draw(ax, runs):
    """Draw one line per kind of recovery."""
    import pandas as pd

    ax.figure.set_figheight(2.3)
    looks = figures.styles((name, found[0].label) for name, found in runs.items())
    tables = []
    for name, found in runs.items():
        table = pd.DataFrame(
            {
                "variant": name, "loss": [run.spec.link.loss_ratio for run in found],
                "seed": [run.seed for run in found],
                "goodput_gbps": [
                    float((run.flows["bytes"] * 8e3 / run.fct_ps.to_numpy()).iloc[0])
                    for run in found
                ],
            }
        )  # fmt: skip
        look, places = looks[name], table["loss"].clip(lower=1e-5)
        ax.plot(places, table["goodput_gbps"], look.marker, color=look.color, ms=2.5, alpha=0.6)
        mean = table.groupby(places)["goodput_gbps"].mean()
        ax.plot(mean.index, mean, marker=look.marker, color=look.color, label=look.label)
        tables.append(table)
    ax.set(xscale="log", xlabel="probability that a frame is lost, each link", ylim=(0, 100))
    ax.set_xticks([1e-5, 1e-4, 1e-3, 1e-2], ["0", "1e-4", "1e-3", "1e-2"])
    ax.set_ylabel("goodput [Gb/s]")
    ax.minorticks_off()
    ax.grid(True)
    figures.legend(ax.figure, [ax], 2)
    return pd.concat(tables, ignore_index=True)
