# SPDX-License-Identifier: GPL-2.0-only
"""All-reduces of four jobs at once, by who hands out hosts, on three networks.

Each job has 16 of 128 devices of 800 Gb/s and reduces 16 MiB, in groups of 8 and then among them.
Symbols: the jobs of two seeds; lines: the slowest of each seed, the mean of both. Rails have a
network of 3.6 Tb/s in each rack of 8 as well; messages between two rails are relayed there.
"""

from pyorch import figures

PS_PER_US = 1e6
KINDS = {"path": ("rocev2", "one path, RoCEv2"), "sprayed": ("sprayed", "sprayed")}
PLACES = {"aligned": "whole leaves\nor racks", "fragmented": "frag-\nmented", "random": "random"}


def draw(figure, runs):
    """Draw a panel per network, a line per transport."""
    import pandas as pd

    rows = [row for variant, found in runs.items() for run in found for row in jobs(variant, run)]
    table = pd.DataFrame(rows)
    labels = table.drop_duplicates("network").set_index("network")["label"]
    axes = figures.panels(figure, [2.2] * len(labels), sharey=True)
    places = list(PLACES)
    for ax, (network, label) in zip(axes, labels.items(), strict=True):
        for shift, (kind, (style, words)) in zip((-0.06, 0.06), KINDS.items(), strict=True):
            look = figures.style(style)
            own = table[(table["network"] == network) & (table["kind"] == kind)]
            at = [places.index(name) + shift for name in own["placement"]]
            ax.plot(at, own["took_us"], look.marker, ms=2.5, color=look.color)
            slowest = own.groupby(["placement", "seed"])["took_us"].max()
            mean = slowest.groupby("placement").mean().loc[places]
            ax.plot(range(len(places)), mean, color=look.color, label=words)
        ax.set_title(label, loc="left")
        ax.set_xticks(range(len(places)), PLACES.values())
        ax.set_xlim(-0.4, len(places) - 0.6)
        ax.grid(True, axis="y")
        ax.set_yscale("log")
        ax.set_yticks([100, 200, 500, 1000, 2000], ["100", "200", "500", "1000", "2000"])
        ax.minorticks_off()
    for ax in axes if figures.is_column(figure) else axes[:1]:
        ax.set_ylabel("all-reduce of a job [us]")
    figures.legend(figure, axes, 2)
    return table


def jobs(variant, run):
    """Return a row per job of a run."""
    kind, network = variant.split("_")
    done = run.metric("jobs")
    return [
        {"kind": kind, "network": network, "label": run.label, "placement": run.spec.jobs.type,
         "seed": run.spec.seed, "job": job, "took_us": took_ps / PS_PER_US}
        for job, took_ps in zip(done["job"], done["completion_ps"], strict=True)
    ]  # fmt: skip
